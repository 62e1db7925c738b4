#pragma once

#include <functional>
#include <vector>

#include "services/api/pipeline/async.h"
#include "services/api/pipeline/write_request.h"

// Objects of kinds whose versions are converted by a webhook, as requests read and write them.
namespace shiplog::api {

/// Whether objects of the kind have to be converted to be shown to this client: not if it wants metadata only.
bool shows_converted(const RequestContext& context);

/// Stored objects in the version of the request, with its defaults. Continues on the lane. Errors: those of Converter.
awaitable<Result<std::vector<Value>>> in_requested_version(const Server& server, const RequestContext& context,
                                                           Lane& lane, std::vector<Value> stored);
/// One stored object; null as it is.
awaitable<Result<Value>> in_requested_version(const Server& server, const RequestContext& context, Lane& lane,
                                              Value stored);
/// An object of the version of the request in the one that is stored. Continues on the lane. Errors: those of
/// Converter; kTooLarge, the webhook made it larger than a request may be.
awaitable<Result<Value>> in_stored_version(const Server& server, const RequestContext& context, Lane& lane,
                                           Value object);

/// What was stored of a request in another version, in that version. A webhook that fails now makes no error of a write
/// that is stored: then it is the object as it was requested, with the metadata that the commit gave it. Continues on
/// the lane.
awaitable<Value> as_committed(const Server& server, const RequestContext& context, Lane& lane, Value requested,
                              const Committed& committed);

/// Calls `then` on a worker with the stored objects in the version of the request.
void convert_stored(const ServerPtr& server, const RequestContextPtr& context, std::vector<Value> stored,
                    std::function<void(Result<std::vector<Value>>)> then);

}  // namespace shiplog::api
