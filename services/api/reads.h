#pragma once

#include "services/api/pipeline/server.h"

namespace shiplog::api {

/// Answers a get, list or watch.
void serve_read(const ServerPtr& server, const RequestContextPtr& context);

}  // namespace shiplog::api
