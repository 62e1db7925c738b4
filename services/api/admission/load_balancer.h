#pragma once

#include "events/base/value.h"
#include "services/api/admission/causes.h"

namespace shiplog::api {

/// status.loadBalancer.ingress of a Service or an Ingress: where its traffic comes in.
void check_load_balancer_ingress(const Value& ingress, Causes& causes);

}  // namespace shiplog::api
