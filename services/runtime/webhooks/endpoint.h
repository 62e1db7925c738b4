#pragma once

#include <string>

#include "events/base/result.h"
#include "events/state/state.h"
#include "services/runtime/http/client_target.h"

namespace shiplog {

/// Where an interpreter webhook is called.
struct WebhookEndpoint {
  ClientTarget target;
  std::string path;   ///< of the request
  std::string shown;  ///< the URL as users know it
};

/// A clientConfig ({url} or {service}, caBundle) of a ResourceInterpreterWebhookConfiguration (L-22): a service
/// reference wins over a URL; a Service of the control plane is called at its cluster IP or external name, another one
/// under the name it has inside of a cluster. Pure. Errors: kUnavailable, the Service cannot be called; kBadRequest,
/// the caBundle cannot be read.
Result<WebhookEndpoint> webhook_endpoint(const State& state, const Value& client);

}  // namespace shiplog
