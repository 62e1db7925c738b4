#pragma once

#include <memory>
#include <string>

#include "events/base/random.h"
#include "events/journal/journal.h"
#include "services/runtime/election.h"
#include "services/runtime/executor.h"

namespace shiplog {

/// How processes of a fleet agree on who leads: by heartbeats in a topic or, if that is nullptr, by files in the folder
/// `leases`. The identity of this process has its host, its PID and a random part. `executor` outlives it.
std::unique_ptr<Election> make_election(const std::string& leases, std::shared_ptr<Journal> heartbeats, Random& random,
                                        Executor& executor);

}  // namespace shiplog
