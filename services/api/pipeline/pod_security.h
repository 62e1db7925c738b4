#pragma once

#include <optional>

#include "services/api/pipeline/server.h"
#include "services/api/pipeline/write_request.h"

namespace shiplog::api {

/// Judges a pod, or the template of a workload, by the labels of its namespace (ADM-5): warns, adds annotations to the
/// audit event, and refuses a pod. Error: kForbidden.
std::optional<Error> judge_by_pod_security(const Server& server, const RequestContext& context,
                                           const WriteRequest& write, Proposal& proposal);

/// Whether the write makes a namespace stricter, so that its pods have to be looked at.
bool makes_namespace_stricter(const RequestContext& context, const Proposal& proposal);
/// Warns about the pods of the namespace that violate what it enforces from now on. Blocks.
void warn_of_existing_pods(const Server& server, Proposal& proposal);

}  // namespace shiplog::api
