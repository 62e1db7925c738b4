#pragma once

#include "services/api/pipeline/stages.h"

namespace shiplog::api {

/// Whether an object of the request's kind may be created now (CRD-13). The fold does not check it, and the definition
/// may have been deleted while a webhook was called. Errors: kForbidden, kNotFound.
StageResult<void> check_definition_serves(const Server& server, const RequestContext& context,
                                          const Proposal& proposal);

}  // namespace shiplog::api
