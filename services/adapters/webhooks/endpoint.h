#pragma once

#include <functional>
#include <string>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/value.h"
#include "services/http/client_target.h"

namespace shiplog {

/// Where a webhook is called.
struct WebhookEndpoint {
  ClientTarget target;
  std::string path;   ///< of the request
  std::string shown;  ///< the URL as users know it: of a Service, by its name
};

/// Finds an object. Error: kNotFound.
using FindObject = std::function<Result<Value>(const ObjectKey&)>;

/// What is called when the control plane does not have the Service.
enum class UnknownService {
  kRefused,
  kByName,  ///< the name it has inside of a cluster (L-22)
};

/// A clientConfig ({url} or {service}, caBundle); a Service wins over a URL. A Service of the control plane is called
/// at its externalName or cluster IP: this process is in no member's network, and what cannot be called from here is
/// refused with a sentence. Pure. Errors: kNotFound, kUnavailable, kBadRequest.
Result<WebhookEndpoint> webhook_endpoint(const Value& client, const FindObject& find, UnknownService unknown);

}  // namespace shiplog
