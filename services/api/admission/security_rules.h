#pragma once

#include <string>

#include "events/base/value.h"
#include "services/api/admission/causes.h"

namespace shiplog::api {

/// The securityContext of a PodSpec; `field`: where the PodSpec stands.
void check_pod_security(const Value& spec, const std::string& field, Causes& causes);
/// The securityContext of a container; `field`: "spec.containers[0].securityContext".
void check_container_security(const Value& security, bool host_users, const std::string& field, Causes& causes);

}  // namespace shiplog::api
