#pragma once

#include "events/base/value.h"
#include "services/api/admission/causes.h"

namespace shiplog::api {

/// Of a write to `resize`: what is not about resources stays as in `old`. A list with other containers stays as it is,
/// for check_resize() to refuse.
void keep_beside_resources(Value& pod, const Value& old);

/// What `pod` changes beside the cpu and memory of its containers, or takes away of them.
void check_resize(const Value& pod, const Value& old, Causes& causes);

}  // namespace shiplog::api
