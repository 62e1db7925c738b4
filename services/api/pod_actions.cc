#include "services/api/pod_actions.h"

#include "services/api/auth/authorization.h"
#include "services/api/pipeline/responses.h"
#include "services/api/pipeline/stages.h"

namespace shiplog::api {
namespace {

/// Since 1.35 kube-apiserver requires the same.
bool may_create(const Server& server, const RequestContext& context) {
  if (context.path.subresource == "log" || context.request.method == "POST") return true;
  if (in_group(context.user, kMastersGroup)) return true;
  Attributes wanted = attributes_of("POST", context.request.path, context.request.query);
  const auto decision = decide(server.options.access, context.user, wanted);
  if (decision.allowed) return true;
  Rejection rejection{forbidden(context.user, wanted, decision.reason)};
  rejection.subject = context.subject();
  rejection.denied = DeniedAction{wanted.verb, context.key()};
  reject(server, context, rejection);
  return false;
}

}  // namespace

void serve_pod_action(const ServerPtr& server, const RequestContextPtr& context) {
  if (context->past) return fail(*context, Error{ErrorCode::kNotFound, "nothing runs in a pod of the past"});
  if (!may_create(*server, *context)) return;
  when_current(server, context, [server, context] {
    const auto pod = server->current(*context, context->key());
    if (!pod) return fail(*context, pod.error());
    server->options.pod_actions(context, pod.value(), server->objects);
  });
}

}  // namespace shiplog::api
