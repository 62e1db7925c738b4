#pragma once

#include "services/api/pipeline/server.h"

namespace shiplog::api {

/// The first revision that the request may read objects of: that at which its namespace was made, as those of an
/// earlier namespace of the same name belonged to other users. 0: any, of a user with the permission for all
/// namespaces, of what has no namespace, and below /at/. It is one of the journal of the request's kind. Blocks on the
/// projection.
Result<Revision> oldest_readable(const Server& server, const RequestContext& context);
/// The same for a list; 0 at once where the options can mean nothing but the newest revision.
Result<Revision> oldest_readable(const Server& server, const RequestContext& context, const ReadOptions& options);

}  // namespace shiplog::api
