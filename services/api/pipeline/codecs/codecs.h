#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "services/api/pipeline/server.h"
#include "services/api/pipeline/write_request.h"

// One codec for each verb: it decodes a request into the WriteRequest that the pipeline carries out. What a codec's
// functions capture of the context and the server lives as long as the write.
namespace shiplog::api {

/// POST: a new object of the kind.
StageResult<WriteRequest> decode_create(const RequestContext& context, const std::string& body);
/// PUT, also of status, approval and finalize. Some kinds are created if they do not exist (CRU-3).
StageResult<WriteRequest> decode_update(const RequestContext& context, const std::string& body);
/// PATCH with a JSON patch, a merge patch or a strategic merge patch.
StageResult<WriteRequest> decode_patch(const RequestContext& context, const std::string& body);
/// PATCH as server-side apply.
StageResult<WriteRequest> decode_apply(const Server& server, const RequestContext& context, const std::string& body);
/// PUT and PATCH of the scale subresource.
StageResult<WriteRequest> decode_scale(const Server& server, const RequestContext& context, const std::string& body);
/// POST of a pod's eviction and binding subresources (SUB-4).
StageResult<WriteRequest> decode_eviction(const Server& server, const RequestContext& context, const std::string& body);
StageResult<WriteRequest> decode_binding(const Server& server, const RequestContext& context, const std::string& body);
/// POST of a kind that is answered and not stored (AUTHZ-7, AUTHZ-8).
StageResult<WriteRequest> decode_review(const Server& server, const RequestContext& context, const std::string& body);
/// POST .../serviceaccounts/NAME/token (AUTHN-5).
StageResult<WriteRequest> decode_token_request(const Server& server, const RequestContext& context,
                                               const std::string& body);
/// DELETE of an object, or of a collection (WriteRequest::for_object).
StageResult<WriteRequest> decode_delete(const Server& server, const RequestContext& context, const std::string& body);

/// The body of a request as an object of its kind. `duplicates`: see read_body(). Errors: kBadRequest,
/// kUnsupportedMediaType.
Result<Value> read_object(const RequestContext& context, const std::string& body, std::vector<std::string>* duplicates);

/// kUnsupportedMediaType: objects of the kind have no such patches.
Error unknown_patch_type(const Kind& kind, const std::string& type);

/// 422: an apply patch must name its manager (SSA-1).
Error field_manager_required();

/// Kinds whose deletion answers with the object, not with a Status (DEL-8).
bool answers_object(const Kind& kind);

/// A Scale of the object, in the words of autoscaling/v1. `kind.scale` is set.
Value scale_of(const Kind& kind, const Value& object);
/// Whether the object has replicas to scale: a custom resource without the field has none (SUB-3).
bool has_scale(const Kind& kind, const Value& object);

/// What is posted to a pod: its kind, and the versions in which it may be written, the usual one first.
struct PodAction {
  const char* kind;
  std::span<const char* const> versions;
};
extern const PodAction kEvictionAction;
extern const PodAction kBindingAction;
/// The body of an action on the pod `name`, in any form of the bodies of built-in kinds. Kind and version, which it may
/// leave out, are there. Errors: kBadRequest, kUnsupportedMediaType.
Result<Value> read_pod_body(const Kinds& kinds, const HttpRequest& request, const std::string& body,
                            const std::string& name, const PodAction& action);
/// DEL-9: the seconds that a pod is given, by the request and by its spec. Whether it gets them is the fold's decision:
/// a pod that runs nowhere does not.
int64_t grace_of_pod(const Value& pod, std::optional<int64_t> asked);

/// The revision that a client names in an object that it writes must be that of the object it replaces. Errors:
/// kInvalid, it is no number; kConflict.
StageResult<void> check_stated_revision(const RequestContext& context, const Value& old, const Value& object);

}  // namespace shiplog::api
