#pragma once

#include <functional>
#include <string>

#include "services/api/pipeline/server.h"
#include "services/api/proxied_request.h"

namespace shiplog::api {

/// Appends the entry of a request to a member that changes something, or may have, without its body and its query:
/// `status` is what the member answered, or this server in its place. A request that the member did not permit is
/// recorded as a denied one, of which only the first ones of a client are recorded in full (Denials). `then`, on any
/// thread: ok, the entry is in the journal. Error: it is not; the change may have happened.
void record_proxied(const Server& server, const RequestContext& context, const ProxiedRequest& proxied, int status,
                    std::function<void(Result<void>)> then);

/// Records a request to a member that was refused, here or there, as a denied one. `status` and `message`: its answer.
void record_refused_proxied(const Server& server, const RequestContext& context, int status,
                            const std::string& message);

}  // namespace shiplog::api
