#pragma once

#include <optional>
#include <vector>

#include "services/interpreter/interpreter.h"

/// The built-in kinds of Kubernetes: table L-4, one function per column. nullopt: the kind has no such rule.
namespace shiplog::interpreter::native {

/// Whether requirements name the pods' priority class: with gate ResourceQuotaEstimate.
enum class PriorityClass { kLeftOut, kNamed };
Result<std::optional<Replicas>> replicas(const Value& object, PriorityClass priority_class = PriorityClass::kLeftOut);
std::optional<Value> revise_replica(const Value& object, int64_t count);
Result<std::optional<Value>> retain(const Value& desired, const Value& observed);
/// The parts of a template's status in addition to the sums that upstream computes.
enum class Conditions {
  kNone,       ///< none: a fleet before fold version 4
  kOfMembers,  ///< conditions of Deployments, Pods and HorizontalPodAutoscalers; a StatefulSet's generation, revisions
};
/// Error: kInvalid or kTooLarge, what a member reports could not be the kind's status; the message names cluster and
/// field.
Result<std::optional<Value>> aggregate_status(const Value& object, const Value& items, UtcMillis now,
                                              Conditions conditions);
/// Error: the same of one member, or an annotation that T-5 needs is wrong.
Result<Value> reflect_status(const Value& object);
std::optional<bool> health(const Value& object);
std::optional<std::vector<Dependency>> dependencies(const Value& object);

/// "apps/v1/Deployment", "v1/Pod".
std::string kind_of(const Value& object);

/// L-6: the requirements of one pod of this spec; null if it has none, also if it has a priority class alone. Error:
/// kInvalid, an amount that does not parse (the message names container and resource).
Result<Value> pod_requirements(const Value& pod_spec, PriorityClass priority_class = PriorityClass::kLeftOut);

/// B-30: the objects that a pod of this spec refers to: ConfigMaps, Secrets, the ServiceAccount and
/// PersistentVolumeClaims, each sorted by name.
std::vector<Dependency> pod_dependencies(const Value& pod_spec, const std::string& ns);

}  // namespace shiplog::interpreter::native
