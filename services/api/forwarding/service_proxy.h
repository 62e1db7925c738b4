#pragma once

#include "services/api/aggregation/aggregated_versions.h"
#include "services/api/pipeline/server.h"

namespace shiplog::api {

/// Passes a request on to the server that answers for its group and version, and the response back as it arrives, at
/// the pace of the client. The server learns who sends it from X-Remote headers; credentials of the client are not
/// passed on. Connections are upgraded to SPDY and WebSocket. A server that is known not to answer is not asked: 503
/// with the cause. Threads: any.
void forward_request(const ServerPtr& server, RequestContext draft, const AggregatedVersion& version);

}  // namespace shiplog::api
