#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "events/base/time.h"
#include "events/base/value.h"
#include "events/state/state.h"
#include "services/interpreter/interpreted.h"

/// The resource interpreter: how many replicas a workload has, which fields of a member's object are kept, when an
/// object is healthy, what it depends on. All roles decide through these functions.
///
/// For each operation and kind the first level that offers it applies, and its error is final (L-2):
///   1. Lua of the ResourceInterpreterCustomizations in the state;
///   2. a webhook of the ResourceInterpreterWebhookConfigurations in the state;
///   3. Lua for third-party kinds that is compiled in;
///   4. native code.
/// A webhook's answer about a template is read from the state; until it is recorded the question is returned
/// (events/state/answers.h). Answers about a member's object are not recorded: the question is always returned, and the
/// answer is used as the result. nullopt: no level offers the operation for this kind.
/// Pure: the same state, object and `now` give the same result. `now` is the time of the decision: it dates conditions,
/// and is the time that os.time() returns to a script. Errors: kInvalid, naming kind, object and cause; for a script
/// also the customization, the function and the line. Source: docs/reference/interpreter.md, and E-21, T-17, T-18 for
/// the native kinds.
namespace shiplog::interpreter {

/// The replicas of a workload, and the requirements of each.
struct Replicas {
  int64_t count = 0;
  Value requirements;  ///< ResourceBinding.spec.replicaRequirements; null: no requirements
  bool operator==(const Replicas&) const = default;
};

/// One pod template of a workload that has several.
struct WorkloadComponent {
  std::string name;
  int64_t replicas = 0;
  Value requirements;  ///< null: no requirements
  bool operator==(const WorkloadComponent&) const = default;
};

/// An object that a template depends on, given by name or by a label selector.
struct Dependency {
  std::string api_version, kind, ns, name;
  Value label_selector;  ///< metav1.LabelSelector; null if `name` is given
  bool operator==(const Dependency&) const = default;
};

/// The value of the annotation resourcebinding.karmada.io/dependencies: a list of {apiVersion, kind, namespace, name or
/// labelSelector}.
Value to_value(const std::vector<Dependency>& dependencies);

/// InterpretReplica (L-5, L-6).
Interpreted<std::optional<Replicas>> replicas(const State& state, const Value& object, UtcMillis now);

/// InterpretComponent (L-8). Native code offers it for no kind (L-3).
Interpreted<std::optional<std::vector<WorkloadComponent>>> components(const State& state, const Value& object,
                                                                      UtcMillis now);

/// ReviseReplica: the object with `count` replicas.
Interpreted<std::optional<Value>> revise_replica(const State& state, const Value& object, int64_t count, UtcMillis now);

/// Retain: `desired` with the fields that the member's object `observed` keeps (E-21). `answer`: the webhook's answer
/// to the question that an earlier call returned.
Interpreted<std::optional<Value>> retain(const State& state, const Value& desired, const Value& observed, UtcMillis now,
                                         const Value* answer = nullptr);

/// AggregateStatus: the complete new status of a template, from the binding's aggregatedStatus items (T-11 to T-15).
Interpreted<std::optional<Value>> aggregate_status(const State& state, const Value& object, const Value& items,
                                                   UtcMillis now);

/// InterpretStatus: what is kept of a member's object's status; null: nothing. All kinds support it (L-3, T-3, T-5). A
/// webhook's answer is the result.
Interpreted<Value> reflect_status(const State& state, const Value& object, UtcMillis now);

/// InterpretHealth (T-4). A webhook's answer, a bool, is the result.
Interpreted<std::optional<bool>> health(const State& state, const Value& object, UtcMillis now);

/// InterpretDependency (B-30), checked (B-31).
Interpreted<std::optional<std::vector<Dependency>>> dependencies(const State& state, const Value& object,
                                                                 UtcMillis now);

}  // namespace shiplog::interpreter
