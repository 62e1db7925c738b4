#pragma once

#include <string_view>
#include <vector>

#include "events/base/error.h"
#include "events/base/ids.h"
#include "events/base/time.h"
#include "events/state/state.h"

namespace shiplog {

class Recorder;

/// Kubernetes Events of failures of this process, which are not in the journal.

/// A step of a role has failed.
void report_failure(Recorder& recorder, const State& state, std::string_view role, const ObjectKey& key,
                    const Error& error, UtcMillis now);

/// Objects whose keys are missing in the vault.
void report_lost_keys(Recorder& recorder, const State& state, const std::vector<ObjectKey>& lost, UtcMillis now);

}  // namespace shiplog
