#include "services/programs/member/many/many_members.h"

#include <cstdio>
#include <filesystem>

#include "events/base/system.h"
#include "services/http/kubeconfig.h"
#include "services/programs/shiplogd/process.h"
#include "services/runtime/log.h"
#include "services/runtime/thread_loop.h"

namespace shiplog {
namespace {

constexpr int kDays = 365;

Result<std::unique_ptr<member::ManyMembers>> start_many(const TrialMemberOptions& options,
                                                        const ManyMembersOptions& many, Executor& loop) {
  SHIPLOG_TRY(const HostPort listen, parse_host_port(options.common.listen));
  SystemRandom random;
  const Validity validity = valid_for_days(SystemClock{}.now(), kDays);
  SHIPLOG_TRY(const KeyPair authority, make_authority("authority of " + options.member.name, validity));
  SHIPLOG_TRY(const KeyPair server,
              issue_server_certificate(authority, options.member.name, {{"localhost"}, {listen.host}}, validity));
  member::ManyOptions made{.name = options.member.name,
                           .members = many.members,
                           .nodes = static_cast<uint32_t>(options.member.nodes),
                           .pods = many.pods,
                           .churn = many.churn,
                           .hanging = many.hanging,
                           .ready_delay = options.member.ready_delay,
                           .server = {},
                           .ca_pem = authority.certificate_pem,
                           .token = std::to_string(random.next()) + "-" + std::to_string(random.next())};
  made.server.host = listen.host;
  made.server.port = listen.port;
  made.server.certificate_pem = server.certificate_pem;
  made.server.key_pem = server.key_pem;
  made.server.max_connections = made.server.max_connections_per_address = 100'000;
  made.server.max_in_flight = 100'000;
  return member::ManyMembers::start(made, loop);
}

}  // namespace

int many_members(const TrialMemberOptions& options, const ManyMembersOptions& many) {
  ThreadLoop loop;
  auto started = start_many(options, many, loop);
  Result<void> written = ok();
  if (started) {
    written = make_folder(many.kubeconfig_dir);
    for (const auto& [name, target] : started.value()->targets()) {
      if (written) written = write_kubeconfig(many.kubeconfig_dir + "/" + name + ".kubeconfig", name, target);
    }
  }
  if (!started || !written) {
    std::fprintf(stderr, "shiplogd: %s\n", (started ? written.error() : started.error()).message.c_str());
    loop.stop();
    return 1;
  }
  log::info("member.listening", {log::kv("members", static_cast<int64_t>(many.members))});
  wait_for_stop();
  const StopDeadline deadline{Millis{10'000}};
  started.value()->stop(Millis{2'000});
  loop.stop();
  return stopped_by_failure() ? 1 : 0;
}

}  // namespace shiplog
