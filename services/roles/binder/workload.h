#pragma once

#include "events/base/time.h"
#include "events/base/value.h"
#include "events/explanation.h"
#include "events/state/policy.h"
#include "events/state/state.h"
#include "services/interpreter/interpreted.h"

namespace shiplog::binder {

/// Sets a field of a binding's spec; erases it where the value is null.
void set_or_erase(Value& spec, const char* field, const Value& value);

/// spec.components where the gate MultiplePodTemplatesScheduling is on and the interpreter knows those of the kind
/// (D-28), else spec.replicas and spec.replicaRequirements (D-27). Errors: kInvalid, they are unknown.
interpreter::Interpreted<void> set_workload(const State& state, const Value& object, UtcMillis now, Value& spec,
                                            Explanation& why);

/// spec.workloadAffinityGroups (D-29): the policy names labels, the template's values of them are the groups.
void set_affinity_groups(const Policy& policy, const Value& object, Value& spec, Explanation& why);

}  // namespace shiplog::binder
