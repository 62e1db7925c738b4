#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "events/state/served_kind.h"
#include "events/state/state.h"

namespace shiplog::federated_hpa {

/// What a FederatedHPA scales, as the control plane has it.
struct ScalableTarget {
  ObjectKey key;
  Served served;
  int64_t replicas = 0;               ///< of the template's scale
  std::vector<std::string> clusters;  ///< of its binding, those that are Ready, sorted
};

/// Why it cannot be scaled: reason and message of the condition AbleToScale.
struct Unscalable {
  std::string reason;
  std::string message;
};

/// The target of spec.scaleTargetRef, and where it runs (5.8.2). The binding is that of this object, by its name and
/// its uid: Karmada takes any with the same policy, kind and name, of whatever namespace.
std::variant<ScalableTarget, Unscalable> find_target(const State& state, const Value& autoscaler);

/// The template with that many replicas.
Value with_replicas(const Value& object, const Served& served, int64_t replicas);

}  // namespace shiplog::federated_hpa
