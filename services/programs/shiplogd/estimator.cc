#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "events/base/system.h"
#include "services/http/client.h"
#include "services/http/environment_proxy.h"
#include "services/http/io_threads.h"
#include "services/http/kubeconfig.h"
#include "services/http/private_file.h"
#include "services/programs/estimator/member_client.h"
#include "services/programs/estimator/member_view.h"
#include "services/programs/estimator/server.h"
#include "services/programs/shiplogd/options.h"
#include "services/programs/shiplogd/probes.h"
#include "services/programs/shiplogd/process.h"
#include "services/programs/shiplogd/process_metrics.h"
#include "services/runtime/log.h"

namespace shiplog {
namespace {

/// The file's text; of no file, none.
Result<std::string> contents(const std::string& path) {
  if (path.empty()) return std::string{};
  std::ifstream file{path, std::ios::binary};
  if (!file) return Error{ErrorCode::kIo, "cannot read " + path};
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Result<ClientTarget> member_target(const EstimatorServerOptions& options) {
  SHIPLOG_TRY(const Kubeconfig kubeconfig, read_kubeconfig({options.kubeconfig}));
  SHIPLOG_TRY(KubeconfigContext context, context_of(kubeconfig, options.context));
  if (!options.master.empty()) context.target.url = options.master;
  return context.target;
}

Result<void> run_server(const EstimatorServerOptions& options) {
  SHIPLOG_TRY(const HostPort listen, parse_host_port(options.listen));
  const SystemClock clock;
  SystemRandom random;
  const auto io = std::make_shared<IoThreads>(1);
  const auto connect = [&io](const ClientTarget& target) -> Result<std::shared_ptr<HttpClient>> {
    HttpClient::Options http;
    http.user_agent = "shiplogd-estimator/" SHIPLOG_VERSION;
    SHIPLOG_TRY(std::shared_ptr<HttpClient> client,
                HttpClient::create(io, through_environment_proxy(target, std::getenv), http));
    return client;
  };
  SHIPLOG_TRY(auto client,
              estimator::MemberClient::open([&options] { return member_target(options); }, connect, clock));
  estimator::MemberView member{options.cluster, std::move(client), random, options.with_quotas};
  // Before `member` ends, on which callbacks of the network threads depend.
  const std::shared_ptr<void> ends_reading{nullptr, [&](void*) {
                                             member.stop();
                                             io->stop();
                                           }};
  estimator::EstimatorServer::Options server;
  server.cluster = options.cluster;
  server.listen = (listen.host.find(':') == std::string::npos ? listen.host : "[" + listen.host + "]") + ":" +
                  std::to_string(listen.port);
  SHIPLOG_TRY(server.certificate_pem, contents(options.certificate_file));
  SHIPLOG_TRY(server.key_pem, contents(options.key_file));
  SHIPLOG_TRY(server.client_ca_pem, contents(options.client_ca_file));
  server.requires_client_certificate = !server.client_ca_pem.empty() && !options.skip_client_verify;
  if (server.certificate_pem.empty() != server.key_pem.empty()) {
    return Error{ErrorCode::kBadRequest, "--grpc-auth-cert-file and --grpc-auth-key-file belong together"};
  }
  if (server.certificate_pem.empty() && !server.client_ca_pem.empty()) {
    return Error{ErrorCode::kBadRequest,
                 "--grpc-client-ca-file needs --grpc-auth-cert-file: without TLS no client presents a certificate"};
  }
  server.member = &member;
  server.clock = &clock;
  SHIPLOG_TRY(const auto running, estimator::EstimatorServer::start(server));
  const std::string address = listen.host + ":" + std::to_string(running->port());
  const auto process_metrics = export_process_metrics();
  // A member that cannot be read is an error of each question: there is nothing else that it could be unready for.
  SHIPLOG_TRY(const auto probes, start_probes(options.probes, {}));
  log::info("estimator.listening", {log::kv("cluster", options.cluster), log::kv("address", address)});
  if (!options.address_out.empty()) {
    SHIPLOG_TRY(write_private_file(options.address_out, address));
  }
  wait_for_stop();
  log::info("process.stopping", {});
  return ok();
}

}  // namespace

int estimator_server(const EstimatorServerOptions& options) {
  if (const auto ran = run_server(options); !ran) {
    std::fprintf(stderr, "shiplogd: %s\n", ran.error().message.c_str());
    return 1;
  }
  return stopped_by_failure() ? 1 : 0;
}

}  // namespace shiplog
