#pragma once

#include "services/api/pipeline/server.h"

namespace shiplog::api {

/// Answers a get or list of ComponentStatuses.
void serve_component_statuses(const ServerPtr& server, const RequestContextPtr& context);

}  // namespace shiplog::api
