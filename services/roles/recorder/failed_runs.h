#pragma once

#include <vector>

#include "events/fold/fold.h"
#include "services/roles/recorder/event_drafts.h"

namespace shiplog::recorder {

inline constexpr const char* kCronFederatedHpa = "cronfederatedhpas.autoscaling.karmada.io";

/// The Events of a CronFederatedHPA whose status has another failed run than before (5.9.5): ScaleFailed, or
/// StartRuleFailed of a rule that has no next run.
void add_failed_runs(const Change& change, std::vector<EventDraft>& drafts);

}  // namespace shiplog::recorder
