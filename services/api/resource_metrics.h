#pragma once

#include "services/api/pipeline/server.h"

namespace shiplog::api {

/// Answers a get or list of metrics.k8s.io with what ServerOptions::metrics computes.
void serve_metrics(const ServerPtr& server, const RequestContextPtr& context);

}  // namespace shiplog::api
