#pragma once

#include <vector>

#include "events/fold/fold.h"
#include "services/roles/recorder/event_drafts.h"

namespace shiplog::recorder {

inline constexpr const char* kFederatedHpa = "federatedhpas.autoscaling.karmada.io";

/// The Events of a FederatedHPA whose status has changed (5.8.7): SuccessfulRescale, and a warning for each condition
/// that has become False for another reason.
void add_scaling_events(const Change& change, std::vector<EventDraft>& drafts);

}  // namespace shiplog::recorder
