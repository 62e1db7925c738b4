#pragma once

#include "services/api/pipeline/server.h"
#include "services/api/pipeline/write_request.h"

namespace shiplog::api {

/// Puts what a new pod uses of the ResourceQuotas of its namespace into the entry that creates it, bound to the
/// revisions at which there was room (ServerOptions::admit_pod). Blocks. Error: kForbidden, a quota is exceeded.
StageResult<void> charge_quotas(const Server& server, const RequestContext& context, const ObjectKey& pod,
                                WriteChanges& changes);

}  // namespace shiplog::api
