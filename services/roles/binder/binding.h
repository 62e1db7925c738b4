#pragma once

#include <string>

#include "events/base/ids.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "events/explanation.h"
#include "events/state/policy.h"
#include "events/state/state.h"
#include "services/interpreter/interpreted.h"

namespace shiplog::binder {

/// The whole binding as template and policy want it: the existing one (null: none yet) with their parts replaced
/// (D-16, D-20 to D-29). Equal to `existing` when there is nothing to do.
/// Errors: kInvalid, replicas or priority are unknown; kNotFound, a named PriorityClass is missing.
interpreter::Interpreted<Value> make_binding(const State& state, const ObjectKey& binding, const Value& existing,
                                             const Value& object, const Policy& policy, UtcMillis now,
                                             Explanation& why);

}  // namespace shiplog::binder
