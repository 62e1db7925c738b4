#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "events/state/served_kind.h"
#include "events/state/state.h"

namespace shiplog::federated_hpa {

/// How messages of the reason FailedGetScale begin.
inline constexpr const char* kNoScale = "the HPA controller was unable to get the target's current scale: ";

/// What a FederatedHPA scales, as the control plane has it.
struct ScalableTarget {
  ObjectKey key;
  std::string kind = {};
  Served served;
  int64_t replicas = 0;                    ///< of the template's scale
  std::string selector = {};               ///< of its pods, as the template has it; empty: only members know it
  std::vector<std::string> clusters = {};  ///< of its binding, those that are Ready, sorted
};

/// Why it cannot be scaled: reason and message of the condition AbleToScale.
struct Unscalable {
  std::string reason;
  std::string message;
};

/// The target of spec.scaleTargetRef, and where it runs (5.8.2). The binding is that of this object, by its name and
/// its uid: Karmada takes any with the same policy, kind and name, of whatever namespace.
std::variant<ScalableTarget, Unscalable> find_target(const State& state, const Value& autoscaler);

/// The most replicas that each cluster may have: those of the binding or, with overrides, of the Work's manifest, but
/// at least `lately`, the most that the template had in the last minutes: members take over less later. Empty: members
/// choose their replicas themselves.
std::map<std::string, int64_t> most_replicas(const State& state, const ScalableTarget& target, int64_t lately);

}  // namespace shiplog::federated_hpa
