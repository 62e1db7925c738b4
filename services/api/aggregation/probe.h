#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "events/base/result.h"
#include "events/base/value.h"
#include "services/api/aggregation/aggregated_api.h"
#include "services/api/aggregation/remote_openapi.h"
#include "services/http/client.h"

namespace shiplog::api {

struct ProbeQuestion {
  AggregatedApi api;
  std::shared_ptr<HttpClient> client;
  std::string openapi_path;  ///< where the OpenAPI document that is known was read; not read again from there
};

/// What a probe has found out so far: first the resources, then maybe the OpenAPI document.
struct ProbeResult {
  std::optional<Result<Value>> resources;                       ///< nullopt: they were reported before
  std::optional<std::shared_ptr<const RemoteOpenApi>> openapi;  ///< nullopt: as before
  std::string openapi_path;
  bool last = false;  ///< the probe has ended
};

/// Asks a server for its resources and, if it has some, for the description of them. Each request takes 5 s and a few
/// megabytes at most; redirects are not followed. `read` runs what reads an answer, and may drop it. `report` is called
/// from there, once or twice.
void probe_server(const ProbeQuestion& question, const std::function<void(std::function<void()>)>& read,
                  std::function<void(ProbeResult)> report);

}  // namespace shiplog::api
