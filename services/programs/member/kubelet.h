#pragma once

#include <optional>

#include "events/decision.h"

namespace shiplog::member {

/// Simulated delays of pods.
struct PodTimes {
  Millis ready{500};       ///< from the placement on a node to ready
  Millis completion{500};  ///< of a Job's pod, from ready to completed
};

/// The simulated kubelet: containers are created, run and become ready, or, with an image under "fail/" or "fake/",
/// never start; a pod of a Job completes. A pod whose node was removed is deleted. Pure.
Result<Decided> decide_pod(const State& state, const ObjectKey& key, UtcMillis now, const PodTimes& times);
/// When the pod's next stage begins; 0: never.
Millis look_again_pod(const State& state, const ObjectKey& key, UtcMillis now, const PodTimes& times);

}  // namespace shiplog::member
