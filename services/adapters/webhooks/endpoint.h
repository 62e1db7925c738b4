#pragma once

#include <functional>
#include <string>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/value.h"
#include "services/http/client_target.h"

namespace shiplog {

/// The address of a webhook.
struct WebhookEndpoint {
  ClientTarget target;
  std::string path;   ///< of the request
  std::string shown;  ///< the URL shown to users; for a Service, with its name
};

/// Finds an object. Error: kNotFound.
using FindObject = std::function<Result<Value>(const ObjectKey&)>;

/// The address used if the control plane does not have the Service.
enum class UnknownService {
  kRefused,
  kByName,  ///< the Service's DNS name within a cluster (L-22)
};

/// Resolves a clientConfig ({url} or {service}, caBundle); a Service takes precedence over a URL. A Service of the
/// control plane is called at its externalName or cluster IP: this process is not part of a member's network, and
/// addresses that cannot be called from here are refused with a message. Pure. Errors: kNotFound, kUnavailable,
/// kBadRequest.
Result<WebhookEndpoint> webhook_endpoint(const Value& client, const FindObject& find, UnknownService unknown);

}  // namespace shiplog
