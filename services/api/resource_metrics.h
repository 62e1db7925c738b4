#pragma once

#include <vector>

#include "services/api/pipeline/server.h"
#include "services/api/request.h"

namespace shiplog::api {

/// Those of the computed objects of a kind that are selected.
Result<std::vector<Value>> matching(const ReadOptions& options, const Kind& kind, std::vector<Value> items);

/// Answers a get or list of metrics.k8s.io with what ServerOptions::metrics computes.
void serve_metrics(const ServerPtr& server, const RequestContextPtr& context);

}  // namespace shiplog::api
