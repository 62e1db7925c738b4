#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "events/base/result.h"
#include "events/base/value.h"
#include "events/taint.h"

namespace shiplog {

class State;

// State of a workload that a failover carries over from its old copy to labels of the new one (gate
// StatefulFailoverInjection). Deterministic. Source: behaviour of Karmada, rules 3.4.1 to 3.4.7.

/// The labels that a rule list (`behavior`: spec.failover.application or spec.failover.cluster of the binding) takes
/// from the status that `cluster` last reported; null: none are asked for, or the gate is off (3.4.1, 3.4.4).
/// A copy that was itself moved with preserved labels and has not become healthy has no state of its own worth keeping:
/// its labels are kept as they are (upstream issue 6232).
/// Errors: kUnavailable, the status has not been collected; kInvalid, with the rule and what is wrong (3.4.2, 3.4.3,
/// 3.4.7).
Result<Value> preserved_labels(bool gate, const Value& binding, const std::string& cluster, const Value& behavior);

/// Gives an eviction the labels that the binding's spec.failover.APPLICATION-OR-CLUSTER asks for. False: it must wait
/// (3.4.3), and `failed` has the reason, unless it has one already.
bool preserve_state(const State& state, const Value& binding, std::string_view kind_of_failover, EvictionStarted& event,
                    std::optional<Error>& failed);

/// The preserved labels that the manifest of the binding for `cluster` gets; null: none (3.4.5).
Value labels_to_inject(bool gate, const Value& binding_spec, std::string_view cluster);

/// Labels by which a control plane identifies what it manages. No preserved label replaces one.
bool is_control_plane_label(std::string_view name);

/// What is wrong with the value of a label, in Kubernetes' words; nullopt: nothing.
std::optional<std::string> wrong_label_value(std::string_view value);

}  // namespace shiplog
