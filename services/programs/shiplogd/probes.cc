#include "services/programs/shiplogd/probes.h"

#include <chrono>
#include <string>
#include <utility>

#include "services/programs/shiplogd/process.h"
#include "services/runtime/journal_outage.h"
#include "services/runtime/log.h"
#include "services/runtime/replica.h"

namespace shiplog {
namespace {

constexpr Millis kStuck{5'000};
constexpr Millis kStuckForGood{60'000};

bool is_off(const std::string& address) { return address.empty() || address == "0"; }

}  // namespace

HealthCheck fold_thread_check(const ThreadLoop& loop, std::string_view path) {
  return {"fold-thread", stuck(loop, path == "/livez" ? kStuckForGood : kStuck)};
}

HealthCheck journal_check(const char* name, const Replica& replica, const JournalOutage& outage) {
  std::string unreadable = outage.describe(std::chrono::steady_clock::now());
  if (!unreadable.empty()) return {name, std::move(unreadable)};
  return {name, replica.caught_up() ? "" : "catching up with the journal"};
}

HealthCheck appends_check(const char* name, const Replica& replica) { return {name, replica.appends_refused()}; }

Result<std::vector<std::unique_ptr<ProbeServer>>> start_probes(const ProbeOptions& options,
                                                               const HealthChecks& checks) {
  std::vector<std::unique_ptr<ProbeServer>> servers;
  const auto start = [&](const std::string& address, bool health, bool metrics) -> Result<void> {
    const char* option = health ? "--health-probe-bind-address" : "--metrics-bind-address";
    const auto listen = parse_host_port(address);
    if (!listen) return listen.error().context(option);
    auto started = ProbeServer::start({listen.value().host, listen.value().port, health, metrics, checks});
    if (!started) return started.error().context(option);
    auto server = std::move(started).value();
    log::info("probes.listening",
              {log::kv("url", server->url()), log::kv("health", health), log::kv("metrics", metrics)});
    servers.push_back(std::move(server));
    return ok();
  };
  const bool together = options.health == options.metrics;
  if (!is_off(options.health)) {
    SHIPLOG_TRY(start(options.health, true, together));
  }
  if (!is_off(options.metrics) && !together) {
    SHIPLOG_TRY(start(options.metrics, false, true));
  }
  return servers;
}

}  // namespace shiplog
