#pragma once

#include <string>

#include "events/base/value.h"
#include "services/api/admission/causes.h"

namespace shiplog::api {

/// An ObjectFieldSelector of a volume; null is fine.
void check_volume_field(const Value& reference, const std::string& field, Causes& causes);

/// A user's or group's number; null is fine.
void check_user_number(const Value& number, const std::string& field, Causes& causes);

/// The values of a container's fields: names of ports, resources and variables, mounts, probes, handlers, users.
/// `spec`: the pod's; `init`: the container runs before the others.
void check_container_values(const Value& container, const Value& spec, bool init, const std::string& field,
                            Causes& causes);

}  // namespace shiplog::api
