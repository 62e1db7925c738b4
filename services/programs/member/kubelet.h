#pragma once

#include <optional>

#include "events/decision.h"

namespace shiplog::member {

/// How long pods take.
struct PodTimes {
  Millis ready{500};       ///< from a node to ready
  Millis completion{500};  ///< of a Job's pod, from ready to done
};

/// What becomes of a pod on its node: containers are created, run and are ready, or, with an image under "fail/", never
/// come up; a pod of a Job completes. A pod whose node is gone goes too. Pure.
Result<Decided> decide_pod(const State& state, const ObjectKey& key, UtcMillis now, const PodTimes& times);
/// When the pod's next stage begins; 0: never.
Millis look_again_pod(const State& state, const ObjectKey& key, UtcMillis now, const PodTimes& times);

}  // namespace shiplog::member
