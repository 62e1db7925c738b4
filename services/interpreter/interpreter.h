#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "events/base/time.h"
#include "events/base/value.h"
#include "events/state/state.h"
#include "services/interpreter/interpreted.h"

/// What the control plane knows of a kind: how many replicas it has, what of a member's object is kept, when it is
/// healthy, what it depends on. The services decide through these functions and nothing else.
///
/// For each operation and kind the first level that offers it decides, and its error is final (L-2):
///   1. Lua of the ResourceInterpreterCustomizations in the state;
///   2. a webhook of the ResourceInterpreterWebhookConfigurations in the state;
///   3. Lua for third-party kinds that is compiled in;
///   4. native code.
/// A webhook's answer about a template is read from the state; while it is not there the question is returned
/// (events/state/answers.h). What is asked about a member's object is not kept: there the question is always returned,
/// and the answer takes the place of the result. nullopt: no level offers the operation for this kind.
/// Pure: the same state, object and `now` give the same answer. `now` is the time of the decision: it dates conditions,
/// and is what os.time() tells a script. Errors: kInvalid, naming kind, object and cause; of a script also the
/// customization, the function and the line. Source: docs/reference/interpreter.md, and E-21, T-17, T-18 for the native
/// kinds.
namespace shiplog::interpreter {

/// How many replicas a workload wants, and what one of them needs.
struct Replicas {
  int64_t count = 0;
  Value requirements;  ///< ResourceBinding.spec.replicaRequirements; null: nothing is asked for
  bool operator==(const Replicas&) const = default;
};

/// One of the pod templates of a workload that has several.
struct Component {
  std::string name;
  int64_t replicas = 0;
  Value requirements;  ///< null: nothing is asked for
  bool operator==(const Component&) const = default;
};

/// Something that a template needs beside it. It is named, or selected by labels.
struct Dependency {
  std::string api_version, kind, ns, name;
  Value label_selector;  ///< metav1.LabelSelector; null when `name` says which
  bool operator==(const Dependency&) const = default;
};

/// As the annotation resourcebinding.karmada.io/dependencies holds them: a list of {apiVersion, kind, namespace, name
/// or labelSelector}.
Value to_value(const std::vector<Dependency>& dependencies);

/// InterpretReplica (L-5, L-6).
Interpreted<std::optional<Replicas>> replicas(const State& state, const Value& object, UtcMillis now);

/// InterpretComponent (L-8). Native code offers it for no kind (L-3).
Interpreted<std::optional<std::vector<Component>>> components(const State& state, const Value& object, UtcMillis now);

/// ReviseReplica: the object with so many replicas.
Interpreted<std::optional<Value>> revise_replica(const State& state, const Value& object, int64_t count, UtcMillis now);

/// Retain: `desired` with what belongs to the member's object `observed` (E-21). `answer`: what the webhook said to the
/// question that came without it.
Interpreted<std::optional<Value>> retain(const State& state, const Value& desired, const Value& observed, UtcMillis now,
                                         const Value* answer = nullptr);

/// AggregateStatus: the whole new status of a template, from the binding's aggregatedStatus items (T-11 to T-15).
Interpreted<std::optional<Value>> aggregate_status(const State& state, const Value& object, const Value& items,
                                                   UtcMillis now);

/// InterpretStatus: what is kept of a member's object's status; null: nothing. Every kind has it (L-3, T-3, T-5). A
/// webhook's answer is the result.
Interpreted<Value> reflect_status(const State& state, const Value& object, UtcMillis now);

/// InterpretHealth (T-4). A webhook's answer, a bool, is the result.
Interpreted<std::optional<bool>> health(const State& state, const Value& object, UtcMillis now);

/// InterpretDependency (B-30), checked (B-31).
Interpreted<std::optional<std::vector<Dependency>>> dependencies(const State& state, const Value& object,
                                                                 UtcMillis now);

}  // namespace shiplog::interpreter
