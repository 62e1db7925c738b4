#pragma once

#include <string>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "events/explanation.h"
#include "events/state/policy.h"
#include "events/state/state.h"

namespace shiplog::binder {

/// Annotation of a binding: digest of the template it was last made from, without status and bookkeeping. It tells a
/// template that has really changed, and must give the binding a new generation (D-22), from one whose status moved.
inline constexpr const char* kTemplateDigestAnnotation = "binding.shiplog.io/template-digest";

/// Digest of a template without status, resourceVersion and managedFields (D-5).
std::string digest_of(const Value& object);

/// The whole binding as template and policy want it: the existing one (null: none yet) with their parts replaced
/// (D-16, D-20 to D-29). Equal to `existing` when there is nothing to do.
/// Errors: kInvalid, replicas or priority cannot be told; kNotFound, a named PriorityClass is missing.
Result<Value> make_binding(const State& state, const ObjectKey& binding, const Value& existing, const Value& object,
                           const Policy& policy, UtcMillis now, Explanation& why);

}  // namespace shiplog::binder
