#include "services/api/admission_policies/policy_params.h"

#include <utility>

#include "events/base/api_version.h"
#include "events/base/json.h"
#include "projections/objects/object_query.h"
#include "services/api/auth/authorization.h"
#include "services/api/status.h"
#include "services/api/versions/versions.h"

// Wording: kube-apiserver's, which users search for.
// Source: k8s.io/apiserver/pkg/admission/plugin/policy/generic/policy_dispatcher.go.

namespace shiplog::api {
namespace {

// Users who may write parameters decide how many there are.
constexpr size_t kMostParams = 1000;
constexpr size_t kMostParamBytes = 32U << 20U;  // that are read for one binding, to find those that it selects

Error wrong(const std::string& why) { return {ErrorCode::kInvalid, why}; }

/// A parameter as it is stored in the version that the policy names.
Result<Value> param_of(const Kind& kind, Value stored) {
  if (needs_conversion(kind, stored)) {
    return wrong("failed to convert object version: " + kind.type() + " \"" + stored["metadata"]["name"].str() +
                 "\" is stored in version " + stored["apiVersion"].str() +
                 ", and this server does not call conversion webhooks for parameters");
  }
  Value param = pruned_in_version(kind, std::move(stored));
  param.set("apiVersion", kind.api_version());
  param.set("kind", kind.kind);
  return param;
}

/// Error: also kTooLarge, the parameters are too many.
Result<std::vector<Value>> selected_params(const WebhookCalls& calls, const Kind& kind, const std::string& ns,
                                           const Value& selector) {
  const LabelSelector wanted = label_selector_from(selector);
  return calls.objects->store(kind).read([&](const View& view) -> Result<std::vector<Value>> {
    std::vector<Value> params;
    size_t bytes = 0;
    const auto take = [&](std::string_view json) -> Result<void> {
      bytes += json.size();
      if (bytes > kMostParamBytes) {
        return Error{ErrorCode::kTooLarge, "paramRef.selector: the objects that it selects from have more than " +
                                               std::to_string(kMostParamBytes) + " bytes"};
      }
      SHIPLOG_TRY(Value stored, parse_stored_json(json));
      if (!wanted.matches(stored["metadata"]["labels"])) return ok();
      if (params.size() == kMostParams) {
        return Error{ErrorCode::kTooLarge,
                     "paramRef.selector selects more than " + std::to_string(kMostParams) + " objects"};
      }
      auto opened = calls.objects->load(json);
      if (!opened) return opened.error().code == ErrorCode::kGone ? Result<void>{ok()} : opened.error();
      SHIPLOG_TRY(Value param, param_of(kind, std::move(opened).value()));
      params.push_back(std::move(param));
      return ok();
    };
    Result<void> taken = ok();
    ObjectList which{.type = kind.type()};
    if (!ns.empty()) which.ns = ns;
    SHIPLOG_TRY(ObjectQuery{view}.visit(which, [&](const ObjectRowView& row) {
      taken = take(row.json);
      return taken.has_value();
    }));
    if (!taken) return taken.error();
    return params;
  });
}

Result<std::vector<Value>> named_param(const WebhookCalls& calls, const Kind& kind, const ObjectKey& key) {
  std::vector<Value> params;
  SHIPLOG_TRY(const auto json, calls.objects->find_json(kind, key));
  if (!json) return params;
  auto opened = calls.objects->load(*json);
  if (!opened) return opened.error().code == ErrorCode::kGone ? Result<std::vector<Value>>{params} : opened.error();
  SHIPLOG_TRY(Value param, param_of(kind, std::move(opened).value()));
  params.push_back(std::move(param));
  return params;
}

/// To get objects of a paramKind; null: of any kind. Of one that is not served, which may be defined later, those of
/// its whole group.
Attributes get_of(const Kinds& kinds, const Value& param_kind) {
  Attributes wanted;
  wanted.verb = "get";
  wanted.group = wanted.resource = "*";
  if (param_kind.is_null()) return wanted;
  const Kind* kind = kinds.find_kind(param_kind["apiVersion"].as_string(), param_kind["kind"].as_string());
  wanted.group = kind == nullptr ? split_api_version(param_kind["apiVersion"].as_string()).group : kind->group;
  if (kind != nullptr) wanted.resource = kind->plural;
  return wanted;
}

Error refused_params(const Kinds& kinds, const ObjectKey& key, const char* field, const std::string& why) {
  const Kind& kind = *kinds.find_type(key.type);
  return invalid({kind.group, kind.kind, kind.plural, key.name.str()},
                 {{field, "FieldValueForbidden", "Forbidden: " + why}});
}

std::optional<Error> refuse_param_kind(const Access* access, const User& user, const Kinds& kinds, const ObjectKey& key,
                                       const Value& old, const Value& object) {
  const Value& param_kind = object["spec"]["paramKind"];
  if (param_kind.is_null() || old["spec"]["paramKind"] == param_kind) return std::nullopt;
  if (decide(access, user, get_of(kinds, param_kind)).allowed) return std::nullopt;
  return refused_params(kinds, key, "spec.paramKind",
                        "user " + user.name +
                            " must have \"get\" permission on all objects of the referenced paramKind (kind=" +
                            param_kind["kind"].str() + ", apiVersion=" + param_kind["apiVersion"].str() + ")");
}

std::optional<Error> refuse_param_ref(const Access* access, const User& user, const Kinds& kinds,
                                      const StoredObjects& objects, const ObjectKey& key, const Value& old,
                                      const Value& object) {
  const Value& spec = object["spec"];
  const Value& before = old["spec"];
  const Value& reference = spec["paramRef"];
  if (reference.is_null()) return std::nullopt;
  if (before["paramRef"] == reference && before["policyName"] == spec["policyName"]) return std::nullopt;
  const char* policies = key.type == kMutatingPolicyBindings ? kMutatingPolicies : kAdmissionPolicies;
  const auto policy = objects.find({policies, "", spec["policyName"].str()});
  if (!policy && policy.error().code != ErrorCode::kNotFound) return policy.error();
  Attributes wanted = get_of(kinds, policy ? policy.value()["spec"]["paramKind"] : Value{});
  wanted.ns = reference["namespace"].str();
  wanted.name = reference["name"].str();
  if (decide(access, user, wanted).allowed) return std::nullopt;
  return refused_params(kinds, key, "spec.paramRef",
                        "user " + user.name + " does not have \"get\" permission on the object referenced by paramRef");
}

}  // namespace

std::string unresolved_params(const AdmissionPolicy& policy, const Kinds& kinds) {
  if (!policy.has_params() || kinds.find_kind(policy.param_version, policy.param_kind) != nullptr) return {};
  const std::string core = policy.param_version.find('/') == std::string::npos ? "/" : "";
  return "failed to configure policy: failed to find resource referenced by paramKind: '" + core +
         policy.param_version + ", Kind=" + policy.param_kind + "'";
}

Result<std::vector<Value>> params_of(const WebhookCalls& calls, const AdmissionPolicy& policy,
                                     const AdmissionPolicyBinding& binding, const AdmissionRequest& request) {
  if (!policy.has_params() || binding.param_ref.is_null()) return std::vector<Value>{Value{}};
  const Kind* kind = request.kinds->find_kind(policy.param_version, policy.param_kind);  // see unresolved_params()
  const Value& reference = binding.param_ref;
  std::string ns = reference["namespace"].str();
  if (!kind->namespaced && !ns.empty()) {
    return wrong("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  }
  if (kind->namespaced && ns.empty()) {
    const bool in_namespace = request.kind->namespaced || request.kind->type() == type::kNamespace;
    ns = in_namespace ? request.ns : "";
    if (ns.empty()) {
      return wrong("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
    }
  }
  const std::string name = reference["name"].str();
  SHIPLOG_TRY(std::vector<Value> params, name.empty() ? selected_params(calls, *kind, ns, reference["selector"])
                                                      : named_param(calls, *kind, {kind->type(), ns, name}));
  if (params.empty() && reference["parameterNotFoundAction"].as_string() != "Allow") {
    return wrong("no params found for policy binding with `Deny` parameterNotFoundAction");
  }
  return params;
}

bool reads_secrets(const AdmissionPolicy& policy, const Kinds& kinds) {
  const Kind* kind = kinds.find_kind(policy.param_version, policy.param_kind);
  return kind != nullptr && may_quote_secrets(kind->type());
}

std::optional<Error> refuse_params(const Access* access, const User& user, const Kinds& kinds,
                                   const StoredObjects& objects, const ObjectKey& key, const Value& old,
                                   const Value& object) {
  if (key.type == kAdmissionPolicies || key.type == kMutatingPolicies) {
    return refuse_param_kind(access, user, kinds, key, old, object);
  }
  if (key.type == kAdmissionPolicyBindings || key.type == kMutatingPolicyBindings) {
    return refuse_param_ref(access, user, kinds, objects, key, old, object);
  }
  return std::nullopt;
}

}  // namespace shiplog::api
