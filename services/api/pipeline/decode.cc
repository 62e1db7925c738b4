#include "services/api/kind_registry.h"
#include "services/api/pipeline/codecs/codecs.h"
#include "services/api/pipeline/stages.h"

namespace shiplog::api {

StageResult<WriteRequest> decode(const Server& server, const RequestContext& context, const std::string& body) {
  const std::string& subresource = context.path.subresource;
  if (is_review(*context.kind)) return decode_review(server, context, body);
  if (subresource == "token") return decode_token_request(server, context, body);
  if (subresource == "scale") return decode_scale(server, context, body);
  if (subresource == "eviction") return decode_eviction(server, context, body);
  if (subresource == "binding") return decode_binding(server, context, body);
  if (context.verb == "create") return decode_create(context, body);
  if (context.verb == "update") return decode_update(context, body);
  if (context.verb == "delete" || context.verb == "deletecollection") return decode_delete(server, context, body);
  const bool applies = media_type(context.request.headers.get("Content-Type")) == "application/apply-patch+yaml";
  return applies ? decode_apply(server, context, body) : decode_patch(context, body);
}

}  // namespace shiplog::api
