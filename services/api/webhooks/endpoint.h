#pragma once

#include <functional>
#include <string>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/value.h"
#include "services/runtime/http/client_target.h"

namespace shiplog::api {

/// Where something that an object refers to by URL or by Service is called.
struct Endpoint {
  ClientTarget target;
  std::string path;   ///< of the request
  std::string shown;  ///< the URL as users know it: of a Service, by its name
};

/// Finds an object. Error: kNotFound.
using FindObject = std::function<Result<Value>(const ObjectKey&)>;

/// A Service by its address: the externalName, or the cluster IP. This process is in no member's network: what cannot
/// be called from here is refused with a sentence. `port`: of the Service. Error: kNotFound, kUnavailable.
Result<Endpoint> service_endpoint(const std::string& ns, const std::string& name, int64_t port, const std::string& path,
                                  const FindObject& find);

/// A clientConfig ({url} or {service}, caBundle). Errors: kNotFound, kUnavailable, kBadRequest.
Result<Endpoint> endpoint_of(const Value& client, const FindObject& find);

}  // namespace shiplog::api
