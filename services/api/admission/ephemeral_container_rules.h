#pragma once

#include "events/base/value.h"
#include "services/api/admission/causes.h"

namespace shiplog::api {

/// A write to a pod's ephemeralcontainers changes nothing else: the rest of `pod` becomes that of `old`.
void keep_beside_ephemeral_containers(Value& pod, const Value& old);

/// spec.ephemeralContainers of `pod`, written through their subresource: new ones are checked, none is changed or taken
/// away. The rest of the pod is as it was admitted.
void check_ephemeral_containers(const Value& pod, const Value& old, Causes& causes);

}  // namespace shiplog::api
