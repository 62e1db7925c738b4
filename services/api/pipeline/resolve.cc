#include <algorithm>
#include <iterator>
#include <utility>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "services/api/auth/certificate_requests.h"
#include "services/api/computed_kinds.h"
#include "services/api/kind_registry.h"
#include "services/api/pipeline/codecs/codecs.h"
#include "services/api/pipeline/stages.h"
#include "services/api/pod_subresources.h"

namespace shiplog::api {
namespace {

Error no_resource() { return Error{ErrorCode::kNotFound, "the server could not find the requested resource"}; }

/// "get", "list", "watch", "create", ... or empty for a method that a resource does not have.
std::string verb_of(const HttpRequest& request, const ResourcePath& path) {
  const bool named = !path.name.empty();
  if (request.method == "GET" || request.method == "HEAD") {
    return flag(request, "watch") ? "watch" : named ? "get" : "list";
  }
  if (request.method == "POST") return named && path.subresource.empty() ? "" : "create";
  if (request.method == "PUT") return named ? "update" : "";
  if (request.method == "PATCH") return named ? "patch" : "";
  if (request.method == "DELETE") return named ? "delete" : "deletecollection";
  return "";
}

/// POST .../bindings is the older form of pods/NAME/binding; the body names the pod.
StageResult<void> resolve_bindings(RequestTarget& target, const HttpRequest& request, const std::string& body) {
  ResourcePath& path = target.path;
  if (!path.group.empty() || path.resource != "bindings" || path.ns.empty() || !path.name.empty()) return ok();
  const StatusDetails bindings{"", "Binding", "bindings", ""};
  if (request.method != "POST") {
    Rejection rejection{method_not_allowed(bindings, request.method)};
    return rejection;
  }
  SHIPLOG_TRY(const Value binding, read_pod_body(*target.kinds, request, body, "", kBindingAction));
  path.name = binding["metadata"]["name"].str();
  if (path.name.empty()) {
    return invalid(bindings, {{"metadata.name", "FieldValueRequired", "Required value: the name of the pod"}});
  }
  target.kind = target.kinds->find("", "v1", "pods");
  path.resource = "pods";
  path.subresource = "binding";
  return ok();
}

/// What is answered to these is no object of the kind, so that there are no columns for it.
bool has_tables(const RequestTarget& target) {
  static constexpr std::string_view kWithout[] = {"token", "eviction", "binding"};
  return !is_review(*target.kind) && std::ranges::find(kWithout, target.path.subresource) == std::end(kWithout);
}

StageResult<void> resolve_accept(RequestTarget& target, const HttpRequest& request) {
  const bool list = target.verb == "list" || target.verb == "deletecollection";
  SHIPLOG_TRY(target.accept, negotiate(request.headers.get("Accept"), list, has_tables(target)));
  target.accept.pretty = wants_pretty(request);
  if (target.accept.form != Accept::Form::kTable) return ok();
  const std::string include = text(request, "includeObject");  // TBL-2
  if (include.empty() || include == "None" || include == "Metadata" || include == "Object") return ok();
  return Error{ErrorCode::kBadRequest, "includeObject: Unsupported value: " + quoted(printable(include)) +
                                           ": supported values: \"None\", \"Metadata\", \"Object\""};
}

/// SUB-5. The response for what only a node can do states where the nodes are. `pod_actions`: they are here.
Error no_subresource(const std::string& type, const std::string& subresource, bool pod_actions) {
  std::string message = "the server could not find the requested resource (" + type + "/" + subresource + ")";
  if (type == "pods" && !pod_actions) {
    message += ": pods run in member clusters, and this server has no nodes; ask the member cluster that runs the pod";
  }
  return {ErrorCode::kNotFound, std::move(message)};
}

/// kube-apiserver's methods: logs are read, the others are begun by WebSocket's GET or SPDY's POST.
StageResult<void> check_pod_action(const RequestTarget& target, const std::string& method) {
  if (method == "GET" || (method == "POST" && target.path.subresource != "log")) return ok();
  return method_not_allowed(target.subject(), method);
}

StageResult<void> check_subresource(const RequestTarget& target, const std::string& method, bool pod_actions) {
  const Kind& kind = *target.kind;
  const std::string& subresource = target.path.subresource;
  const bool token = subresource == "token" && kind.type() == "serviceaccounts";
  const bool pod_action = kind.type() == "pods" && (subresource == "eviction" || subresource == "binding");
  if (token || pod_action) {
    if (method == "POST") return ok();
    return method_not_allowed(target.subject(), method);
  }
  if (subresource == "scale") {
    if (!kind.scale) return no_subresource(kind.type(), subresource, pod_actions);
    if (method == "GET" || method == "PUT" || method == "PATCH") return ok();
    return method_not_allowed(target.subject(), method);
  }
  const bool status = subresource == "status" && kind.has_status;
  const bool finalize = subresource == "finalize" && kind.type() == type::kNamespace && target.verb == "update";
  const bool approval = subresource == "approval" && kind.type() == kCertificateRequests;
  if (pod_actions && is_pod_action(kind.type(), subresource)) return check_pod_action(target, method);
  const bool of_pods = kind.type() == "pods" && (subresource == kEphemeralContainers || subresource == kPodResize);
  if (!status && !finalize && !approval && !of_pods) return no_subresource(kind.type(), subresource, pod_actions);
  if (target.verb == "create" || target.verb == "delete" || target.verb == "watch") {
    return method_not_allowed(target.subject(), method);
  }
  return ok();
}

/// PATH-4: the collection across namespaces is listed and watched only.
StageResult<void> check_collection(const RequestTarget& target, const std::string& method) {
  const Kind& kind = *target.kind;
  const bool deletes = target.verb == "deletecollection";
  if (deletes && !can_delete_collection(kind)) return method_not_allowed(target.subject(), method);
  if (!kind.namespaced || !target.path.ns.empty() || (target.verb != "create" && !deletes)) return ok();
  return kind.builtin ? method_not_allowed(target.subject(), method) : no_resource();
}

}  // namespace

StageResult<RequestTarget> resolve(const Server& server, std::shared_ptr<const Kinds> kinds, const HttpRequest& request,
                                   const std::string& body) {
  RequestTarget target;
  const auto path = parse_resource_path(request.path);
  if (!path) return no_resource();
  target.path = *path;
  target.kinds = std::move(kinds);
  target.kind = target.kinds->find(path->group, path->version, path->resource);
  if (target.kind == nullptr) {
    SHIPLOG_TRY(resolve_bindings(target, request, body));
    if (target.kind == nullptr) return target;
  }
  const Kind& kind = *target.kind;
  const auto rejected = [&](Rejection rejection) {
    rejection.subject = target.subject();
    return rejection;
  };
  // A cluster-scoped resource below a namespace, or an object of a namespaced one without, does not exist.
  if ((!kind.namespaced && !target.path.ns.empty()) ||
      (kind.namespaced && target.path.ns.empty() && !target.path.name.empty())) {
    return rejected(no_resource());
  }
  target.verb = verb_of(request, target.path);
  // What these answer with is no object.
  if (!is_pod_action(kind.type(), target.path.subresource)) {
    if (auto accepted = resolve_accept(target, request); !accepted) return rejected(accepted.error());
  }
  if (target.verb.empty()) return rejected(method_not_allowed(target.subject(), request.method));
  const bool computed = is_component_status(kind) || (is_metrics(kind) && server.options.metrics != nullptr);
  if (computed && ((target.verb != "get" && target.verb != "list") || !target.path.subresource.empty())) {
    return rejected(method_not_allowed(target.subject(), request.method));
  }
  if (is_review(kind)) {
    const bool proper =
        request.method == "POST" && target.path.name.empty() && (!kind.namespaced || !target.path.ns.empty());
    if (!proper) return rejected(method_not_allowed(target.subject(), request.method));
    target.accept.form = Accept::Form::kObject;  // it is an answer, not an object
    return target;
  }
  if (!target.path.subresource.empty()) {
    if (auto known = check_subresource(target, request.method, server.options.pod_actions != nullptr); !known)
      return rejected(known.error());
    if (target.path.subresource == "token") target.accept.form = Accept::Form::kObject;  // no object of the kind
  } else if (auto has_verb = check_collection(target, request.method); !has_verb) {
    return rejected(has_verb.error());
  }
  return target;
}

}  // namespace shiplog::api
