#include "services/requests/mapping.h"

#include <utility>

#include "events/base/json.h"

namespace shiplog::requests {
namespace {

Result<const Kind*> kind_of(const RequestAddress& object, const Kinds& kinds) {
  const size_t slash = object.api_version.find('/');
  const std::string group = slash == std::string::npos ? "" : object.api_version.substr(0, slash);
  const std::string version = object.api_version.substr(slash == std::string::npos ? 0 : slash + 1);
  const Kind* kind = object.resource.empty() ? kinds.find_kind(object.api_version, object.kind)
                                             : kinds.find(group, version, object.resource);
  if (kind != nullptr) return kind;
  return Error{ErrorCode::kNotFound, "no kind \"" + (object.resource.empty() ? object.kind : object.resource) +
                                         "\" of " + object.api_version + " is served"};
}

Result<std::string> path_of(const ProducedRequest& request, const Kind& kind) {
  const RequestAddress& object = request.object;
  if (kind.namespaced && object.ns.empty()) {
    return Error{ErrorCode::kInvalid, "object.namespace: required, as " + kind.plural + " are namespaced"};
  }
  if (!kind.namespaced && !object.ns.empty()) {
    return Error{ErrorCode::kInvalid, "object.namespace: not used, as " + kind.plural + " are cluster-scoped"};
  }
  std::string path = (kind.group.empty() ? "/api/" : "/apis/") + kind.api_version();
  if (kind.namespaced) path += "/namespaces/" + object.ns;
  path += "/" + kind.plural;
  if (request.verb != RequestVerb::kCreate) path += "/" + object.name;
  if (request.verb == RequestVerb::kScale) return path + "/scale";
  if (!object.subresource.empty()) path += "/" + object.subresource;
  return path;
}

/// Members of metadata by which the server compares what it has with what is expected.
void add_preconditions(const ProducedRequest& request, Value& object) {
  if (!request.expected_version.empty()) object.edit("metadata").set("resourceVersion", request.expected_version);
  if (!request.expected_uid.empty()) object.edit("metadata").set("uid", request.expected_uid);
}

/// The manifest, with the preconditions in it.
Result<std::string> object_body(const ProducedRequest& request) {
  if (request.expected_version.empty() && request.expected_uid.empty()) return request.manifest;
  SHIPLOG_TRY(Value object, parse_json(request.manifest));
  if (!object.is_object()) return Error{ErrorCode::kInvalid, "manifest: a JSON object is expected"};
  add_preconditions(request, object);
  return to_json(object);
}

/// The operations of a JSON patch, behind those that test the preconditions.
Result<std::string> json_patch_body(const ProducedRequest& request) {
  SHIPLOG_TRY(const Value patch, parse_json(request.manifest));
  if (!patch.is_array()) return Error{ErrorCode::kInvalid, "manifest: a JSON array is expected with patchType json"};
  Value operations = Value::array();
  const auto test = [&](const char* path, const std::string& value) {
    if (value.empty()) return;
    operations.push_back(Value::object({{"op", "test"}, {"path", path}, {"value", value}}));
  };
  test("/metadata/resourceVersion", request.expected_version);
  test("/metadata/uid", request.expected_uid);
  for (const Value& operation : patch.items()) operations.push_back(operation);
  return to_json(operations);
}

std::string delete_body(const ProducedRequest& request) {
  Value options = Value::object({{"apiVersion", "v1"}, {"kind", "DeleteOptions"}});
  if (!request.propagation_policy.empty()) options.set("propagationPolicy", request.propagation_policy);
  if (!request.expected_version.empty()) {
    options.edit("preconditions").set("resourceVersion", request.expected_version);
  }
  if (!request.expected_uid.empty()) options.edit("preconditions").set("uid", request.expected_uid);
  return to_json(options);
}

std::string scale_body(const ProducedRequest& request) {
  Value patch = Value::object({{"spec", Value::object({{"replicas", *request.replicas}})}});
  add_preconditions(request, patch);
  return to_json(patch);
}

/// Method, body and its type.
Result<void> fill(const ProducedRequest& request, HttpRequest& http) {
  std::string type = request.content_type;
  http.method = "PATCH";
  switch (request.verb) {
    case RequestVerb::kCreate:
      http.method = "POST";
      http.body = request.manifest;
      break;
    case RequestVerb::kApply: {
      type = "application/apply-patch+yaml";
      SHIPLOG_TRY(http.body, object_body(request));
      break;
    }
    case RequestVerb::kPatch: {
      const bool operations = request.patch_type == "json";
      type = operations                          ? "application/json-patch+json"
             : request.patch_type == "strategic" ? "application/strategic-merge-patch+json"
                                                 : "application/merge-patch+json";
      SHIPLOG_TRY(http.body, operations ? json_patch_body(request) : object_body(request));
      break;
    }
    case RequestVerb::kDelete:
      http.method = "DELETE";
      http.body = delete_body(request);
      break;
    case RequestVerb::kScale:
      type = "application/merge-patch+json";
      http.body = scale_body(request);
      break;
  }
  http.headers.set("Content-Type", std::move(type));
  return ok();
}

}  // namespace

Result<MappedRequest> http_request_of(const ProducedRequest& request, const Kinds& kinds) {
  SHIPLOG_TRY(const Kind* kind, kind_of(request.object, kinds));
  HttpRequest http;
  SHIPLOG_TRY(http.path, path_of(request, *kind));
  SHIPLOG_TRY(fill(request, http));
  if (request.verb != RequestVerb::kDelete) {
    const bool named = !request.field_manager.empty();
    // An apply needs one.
    if (named || request.verb == RequestVerb::kApply) {
      http.query.emplace_back("fieldManager", named ? request.field_manager : "shiplog-requests");
    }
  }
  if (request.force) http.query.emplace_back("force", "true");
  if (request.dry_run) http.query.emplace_back("dryRun", "All");
  http.headers.set("Accept", "application/json");
  if (!request.token.empty()) http.headers.set("Authorization", "Bearer " + request.token);
  http.target = encode_target(http.path, http.query);
  return MappedRequest{std::move(http), {kind->type(), request.object.ns, request.object.name}};
}

}  // namespace shiplog::requests
