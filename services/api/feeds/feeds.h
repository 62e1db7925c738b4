#pragma once

#include <memory>

#include "services/api/store.h"
#include "services/http/server.h"

namespace shiplog::api {

/// Answers GETs below /feeds/: accepted events of the record as CloudEvents, from the history on and then live, without
/// gap or repeat.
///   /feeds/FAMILY               of one family of events, or of `all`
///   /feeds/schemas/KIND.json    the JSON Schema of one kind of event
/// Parameters: `from`, a revision: from the change that made it on, 0 or absent: everything; or `after`, the sequence
/// of the last event the client has (a Last-Event-ID header is the same, and wins); `follow=false` ends the feed with
/// what there is now; `timeoutSeconds` ends it then. JSON lines or, if the Accept header requests them, server-sent
/// events. Errors before the first event are answered as metav1.Status: 410 when the start is not held any more, 429
/// when too many feeds are read. A later one is the last line (the last event, `error`). Nothing is read for a client
/// that does not take what was written; one that takes nothing for 30 s is disconnected by the server.
///
/// False: the path is not below /feeds/, and nothing was answered. Blocks on the projection; a feed goes on in a thread
/// of its own, and no longer uses `store` once the writer is closed. Threads: any.
bool serve_feeds(Store& store, const HttpRequest& request, std::shared_ptr<ResponseWriter> writer);

}  // namespace shiplog::api
