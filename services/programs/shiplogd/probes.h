#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "services/programs/shiplogd/options.h"
#include "services/runtime/health.h"
#include "services/runtime/probe_server.h"

namespace shiplog {

class JournalOutage;
class Replica;
class ThreadLoop;

/// Fails when one thing has kept the fold thread busy for 5 s, or, for "/livez", for a minute: restoring a large state
/// is one thing.
HealthCheck fold_thread_check(const ThreadLoop& loop, std::string_view path);
/// Fails until everything that was in the journal at the start is folded, and while the journal has not been readable
/// for half a minute.
HealthCheck journal_check(const char* name, const Replica& replica, const JournalOutage& outage);

/// Fails once the journal is damaged, so that nothing is appended to it.
HealthCheck appends_check(const char* name, const Replica& replica);

/// The servers of --health-probe-bind-address and --metrics-bind-address: one if both are the same address.
/// Errors: kInvalid, no HOST:PORT; kIo, cannot listen.
Result<std::vector<std::unique_ptr<ProbeServer>>> start_probes(const ProbeOptions& options, const HealthChecks& checks);

}  // namespace shiplog
