#pragma once

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/kinds/kinds.h"
#include "services/http/http.h"
#include "services/requests/contract.h"

namespace shiplog::requests {

struct MappedRequest {
  HttpRequest http;
  ObjectKey object;  ///< without a name if that is generated
};

/// The request to the Kubernetes API that a produced request means: method, path, query, body and bearer token.
/// Pure. Errors: kNotFound, the kind is not served; kInvalid, what only its kind shows (a namespace is missing).
Result<MappedRequest> http_request_of(const ProducedRequest& request, const Kinds& kinds);

}  // namespace shiplog::requests
