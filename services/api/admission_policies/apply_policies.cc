#include "services/api/admission_policies/apply_policies.h"

#include <algorithm>
#include <map>

#include "events/base/api_version.h"
#include "events/base/json.h"
#include "services/api/auth/authorization.h"
#include "services/api/listing.h"
#include "services/api/status.h"
#include "services/runtime/log.h"

// Wording: kube-apiserver's, which users search for.
// Source: k8s.io/apiserver/pkg/admission/plugin/policy/validating/dispatcher.go, policy/generic/policy_dispatcher.go.

namespace shiplog::api {
namespace {

constexpr size_t kMostParams = 1000;
constexpr size_t kMostAuditedFailures = 50;
constexpr const char* kFailureAnnotation = "validation.policy.admission.k8s.io/validation_failure";

/// The kind in whose version a policy sees the request; nullptr: it is not about it.
const Kind* kind_for(const WebhookCalls& calls, const AdmissionPolicyMatch& match, const AdmissionRequest& request,
                     NamespaceLabels& labels) {
  if (!match.excluded.rules.empty() && matched_kind(match.excluded, request) != nullptr) return nullptr;
  const bool selected = is_selected(calls, match.included, request, labels);
  return selected ? matched_kind(match.included, request) : nullptr;
}

Error wrong(const std::string& why) { return {ErrorCode::kInvalid, why}; }

Result<std::vector<Value>> selected_params(const WebhookCalls& calls, const Kind& kind, const std::string& ns,
                                           const Value& selector) {
  SHIPLOG_TRY(auto listed, list_collection(*calls.objects, kind, ns, ReadOptions{}));
  const LabelSelector wanted = label_selector_from(selector);
  std::vector<Value> params;
  for (Value& item : listed.items) {
    if (!wanted.matches(item["metadata"]["labels"])) continue;
    if (params.size() == kMostParams) {
      return wrong("paramRef.selector selects more than " + std::to_string(kMostParams) + " objects");
    }
    item.set("apiVersion", kind.api_version());
    item.set("kind", kind.kind);
    params.push_back(std::move(item));
  }
  return params;
}

Result<std::vector<Value>> named_param(const WebhookCalls& calls, const Kind& kind, const ObjectKey& key) {
  SHIPLOG_TRY(const auto json, calls.objects->find_json(kind, key));
  if (!json) return std::vector<Value>{};
  auto object = calls.objects->load_as(kind, key, *json);
  if (!object) {
    if (object.error().code == ErrorCode::kNotFound) return std::vector<Value>{};
    return object.error();
  }
  Value param = std::move(object).value();
  param.set("apiVersion", kind.api_version());
  param.set("kind", kind.kind);
  return std::vector<Value>{std::move(param)};
}

/// What the policy is evaluated with, once for each; null: it has no parameters. Error: the binding cannot be used.
Result<std::vector<Value>> params_of(const WebhookCalls& calls, const AdmissionPolicy& policy,
                                     const AdmissionPolicyBinding& binding, const AdmissionRequest& request) {
  if (!policy.has_params() || binding.param_ref.is_null()) return std::vector<Value>{Value{}};
  const Kind* kind = request.kinds->find_kind(policy.param_version, policy.param_kind);
  if (kind == nullptr) {
    return wrong("paramKind kind `" + policy.param_version + ", Kind=" + policy.param_kind + "` not known");
  }
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

/// Failures of several bindings, as they come together.
class PolicyOutcomes {
 public:
  explicit PolicyOutcomes(const AdmissionRequest& request) : request_{request} {}

  void deny(const std::string& policy, const std::string& binding, const std::string& why,
            const std::string& reason = {}) {
    if (admission_.denial) return;
    const std::string by = binding.empty() ? "" : " with binding '" + binding + "'";
    const std::string message = "ValidatingAdmissionPolicy '" + policy + "'" + by + " denied request: " + why;
    admission_.denial = denial_of(message, reason.empty() ? "Invalid" : reason);
  }

  void take(const AdmissionPolicy& policy, const AdmissionPolicyBinding& binding, const PolicyVerdict& verdict) {
    for (const PolicyVerdict::Failure& failure : verdict.failures) {
      if (binding.denies) deny(policy.name, binding.name, failure.message, failure.reason);
      if (binding.audits) audit(policy, binding, failure);
      if (binding.warns) {
        admission_.warnings.push_back("Validation failed for ValidatingAdmissionPolicy '" + policy.name +
                                      "' with binding '" + binding.name + "': " + failure.message);
      }
    }
    for (const std::string& error : verdict.annotation_errors) deny(policy.name, binding.name, error);
    for (const auto& [key, value] : verdict.annotations) {
      std::string& joined = annotations_[policy.name + "/" + key];
      // What several bindings say alike is said once.
      if (std::ranges::find(said_[policy.name + "/" + key], value) != said_[policy.name + "/" + key].end()) continue;
      said_[policy.name + "/" + key].push_back(value);
      joined += (joined.empty() ? "" : ", ") + value;
    }
  }

  PolicyAdmission finish() {
    if (audited_.size() > 0) annotations_.emplace(kFailureAnnotation, to_json(audited_));
    admission_.annotations.assign(annotations_.begin(), annotations_.end());
    return std::move(admission_);
  }

 private:
  void audit(const AdmissionPolicy& policy, const AdmissionPolicyBinding& binding,
             const PolicyVerdict::Failure& failure) {
    log::warn("admission_policy.failed", {log::kv("policy", policy.name), log::kv("binding", binding.name),
                                          log::kv("expression", failure.index), log::kv("reason", failure.message)});
    if (audited_.size() >= kMostAuditedFailures) return;
    audited_.push_back(Value::object({{"message", failure.message},
                                      {"policy", policy.name},
                                      {"binding", binding.name},
                                      {"expressionIndex", failure.index},
                                      {"validationActions", binding.actions}}));
  }

  Denial denial_of(const std::string& why, const std::string& reason) const {
    const int code = reason == "Forbidden"               ? 403
                     : reason == "Unauthorized"          ? 401
                     : reason == "RequestEntityTooLarge" ? 413
                                                         : 422;
    Denial denial = failed_conditions(request_, why);
    denial.http_status = code;
    denial.status.set("code", code);
    denial.status.set("reason", reason);
    denial.status.edit("details").set("causes", Value::array({Value::object({{"message", why}})}));
    return denial;
  }

  const AdmissionRequest& request_;
  PolicyAdmission admission_;
  Value audited_ = Value::array();
  std::map<std::string, std::string> annotations_;
  std::map<std::string, std::vector<std::string>> said_;
};

/// The Namespace that the request is in; null: none.
Value namespace_of(const WebhookCalls& calls, const AdmissionRequest& request) {
  if (!request.kind->namespaced || request.ns.empty()) return {};
  const auto ns = calls.objects->find({type::kNamespace, "", request.ns});
  return ns ? ns.value() : Value{};
}

void apply_binding(const WebhookCalls& calls, const AdmissionPolicy& policy, const AdmissionPolicyBinding& binding,
                   const AdmissionRequest& request, ExpressionInput& input, PolicyOutcomes& outcomes) {
  auto params = params_of(calls, policy, binding, request);
  if (!params) {
    log::warn("admission_policy.misconfigured",
              {log::kv("policy", policy.name), log::kv("binding", binding.name),
               log::kv("ignored", !policy.fails_closed), log::kv("reason", params.error().message)});
    if (policy.fails_closed) {
      outcomes.deny(policy.name, binding.name, "failed to configure binding: " + params.error().message);
    }
    return;
  }
  PolicyBudget budget;
  for (Value& param : params.value()) {
    input.params = std::move(param);
    const PolicyVerdict verdict = evaluate_policy(policy, input, budget);
    outcomes.take(policy, binding, verdict);
    // The others would fail in the same way.
    if (budget.exceeded() && !verdict.failures.empty()) break;
  }
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
  const auto policy = objects.find({kAdmissionPolicies, "", spec["policyName"].str()});
  if (!policy && policy.error().code != ErrorCode::kNotFound) return policy.error();
  Attributes wanted = get_of(kinds, policy ? policy.value()["spec"]["paramKind"] : Value{});
  wanted.ns = reference["namespace"].str();
  wanted.name = reference["name"].str();
  if (decide(access, user, wanted).allowed) return std::nullopt;
  return refused_params(kinds, key, "spec.paramRef",
                        "user " + user.name + " does not have \"get\" permission on the object referenced by paramRef");
}

}  // namespace

bool has_policies(const AdmissionPoliciesInForce& policies, const AdmissionRequest& request) {
  if (policies.none() || is_beyond_webhooks(*request.kind)) return false;
  const auto bound = policies.in_force();
  return std::ranges::any_of(
      *bound, [&](const BoundPolicy& each) { return matched_kind(each.policy->match.outline, request) != nullptr; });
}

PolicyAdmission apply_policies(const WebhookCalls& calls, const AdmissionPoliciesInForce& policies,
                               const AdmissionRequest& request) {
  PolicyOutcomes outcomes{request};
  NamespaceLabels labels;
  std::optional<Value> ns;
  const auto bound = policies.in_force();
  for (const BoundPolicy& each : *bound) {
    const Kind* wanted = kind_for(calls, each.policy->match, request, labels);
    if (wanted == nullptr) continue;
    ExpressionInput input = expression_input(request, *wanted, calls.authorizer);
    if (!ns) ns = namespace_of(calls, request);
    input.ns = *ns;
    for (const auto& binding : each.bindings) {
      if (binding->match && kind_for(calls, *binding->match, request, labels) == nullptr) continue;
      apply_binding(calls, *each.policy, *binding, request, input, outcomes);
    }
  }
  return outcomes.finish();
}

std::optional<Error> refuse_params(const Access* access, const User& user, const Kinds& kinds,
                                   const StoredObjects& objects, const ObjectKey& key, const Value& old,
                                   const Value& object) {
  if (key.type == kAdmissionPolicies) return refuse_param_kind(access, user, kinds, key, old, object);
  if (key.type == kAdmissionPolicyBindings) return refuse_param_ref(access, user, kinds, objects, key, old, object);
  return std::nullopt;
}

}  // namespace shiplog::api
