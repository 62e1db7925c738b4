#include "services/api/admission_policies/apply_policies.h"

#include <algorithm>
#include <map>
#include <set>

#include "events/base/api_version.h"
#include "events/base/json.h"
#include "projections/objects/object_query.h"
#include "services/api/auth/authorization.h"
#include "services/api/status.h"
#include "services/api/versions/versions.h"
#include "services/runtime/log.h"

// Wording: kube-apiserver's, which users search for.
// Source: k8s.io/apiserver/pkg/admission/plugin/policy/validating/dispatcher.go, policy/generic/policy_dispatcher.go.

namespace shiplog::api {
namespace {

// Users who may write parameters decide how many there are.
constexpr size_t kMostParams = 1000;
constexpr size_t kMostParamBytes = 32U << 20U;  // that are read for one binding, to find those that it selects
constexpr size_t kMostAuditedFailures = 50;
constexpr const char* kFailureAnnotation = "validation.policy.admission.k8s.io/validation_failure";

/// The kind in whose version a policy sees the request; nullptr: it is not about it.
const Kind* kind_for(const AdmissionPolicyMatch& match, const AdmissionRequest& request) {
  if (!match.excluded.rules.empty() && matched_kind(match.excluded, request) != nullptr) return nullptr;
  return is_selected(match.included, request) ? matched_kind(match.included, request) : nullptr;
}

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

/// Why a policy cannot be applied that has a kind of parameters which is not served; "": it can.
std::string unresolved_params(const AdmissionPolicy& policy, const Kinds& kinds) {
  if (!policy.has_params() || kinds.find_kind(policy.param_version, policy.param_kind) != nullptr) return {};
  const std::string core = policy.param_version.find('/') == std::string::npos ? "/" : "";
  return "failed to configure policy: failed to find resource referenced by paramKind: '" + core +
         policy.param_version + ", Kind=" + policy.param_kind + "'";
}

/// What the policy is evaluated with, once for each; null: it has no parameters. Errors: the binding cannot be used;
/// kTooLarge, as it has too many.
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

/// Failures of several bindings, as they come together.
class PolicyOutcomes {
 public:
  explicit PolicyOutcomes(const AdmissionRequest& request) : request_{request} {}

  void deny(const AdmissionPolicy& policy, const AdmissionPolicyBinding& binding, const std::string& why,
            const std::string& reason = {}) {
    deny(policy, policy_text(policy) + " with binding '" + binding.name + "' denied request: " + why, reason);
  }

  /// `message`: the whole one.
  void deny(const AdmissionPolicy& policy, const std::string& message, const std::string& reason) {
    if (admission_.denial) return;
    admission_.denial = denial_of(message, reason.empty() ? "Invalid" : reason);
    admission_.may_quote = reads_secrets(policy);
  }

  /// The policy cannot be applied to any request.
  void misconfigured(const AdmissionPolicy& policy, const std::string& why) {
    log::warn("admission_policy.misconfigured",
              {log::kv("policy", policy.name), log::kv("ignored", !policy.fails_closed), log::kv("reason", why)});
    if (policy.fails_closed) deny(policy, policy_text(policy) + " denied request: " + why, "");
  }

  /// The binding cannot be applied to the request.
  void misconfigured(const AdmissionPolicy& policy, const AdmissionPolicyBinding& binding, const std::string& why) {
    log::warn("admission_policy.misconfigured", {log::kv("policy", policy.name), log::kv("binding", binding.name),
                                                 log::kv("ignored", !policy.fails_closed), log::kv("reason", why)});
    if (policy.fails_closed) deny(policy, binding, why);
  }

  void take(const AdmissionPolicy& policy, const AdmissionPolicyBinding& binding, const PolicyVerdict& verdict) {
    for (const PolicyVerdict::Failure& failure : verdict.failures) {
      if (binding.denies) deny(policy, binding, failure.message, failure.reason);
      if (binding.audits) audit(policy, binding, failure);
      if (binding.warns) {
        admission_.warnings.push_back("Validation failed for " + policy_text(policy) + " with binding '" +
                                      binding.name + "': " + failure.message);
      }
    }
    for (const std::string& error : verdict.annotation_errors) deny(policy, binding, error);
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
  static std::string policy_text(const AdmissionPolicy& policy) {
    return "ValidatingAdmissionPolicy '" + policy.name + "'";
  }

  void audit(const AdmissionPolicy& policy, const AdmissionPolicyBinding& binding,
             const PolicyVerdict::Failure& failure) {
    // Without the message, which may quote the object or a parameter; once, however many parameters there are.
    if (logged_.emplace(policy.name, binding.name).second) {
      log::warn("admission_policy.failed", {log::kv("policy", policy.name), log::kv("binding", binding.name),
                                            log::kv("expression", failure.index)});
    }
    if (audited_.size() >= kMostAuditedFailures) return;
    audited_.push_back(Value::object({{"message", failure.message},
                                      {"policy", policy.name},
                                      {"binding", binding.name},
                                      {"expressionIndex", failure.index},
                                      {"validationActions", binding.actions}}));
  }

  bool reads_secrets(const AdmissionPolicy& policy) const {
    const Kind* kind = request_.kinds->find_kind(policy.param_version, policy.param_kind);
    return kind != nullptr && may_quote_secrets(kind->type());
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
  std::set<std::pair<std::string, std::string>> logged_;  // policies and bindings
};

void apply_binding(const WebhookCalls& calls, const AdmissionPolicy& policy, const AdmissionPolicyBinding& binding,
                   const AdmissionRequest& request, ExpressionInput& input, PolicyOutcomes& outcomes) {
  auto params = params_of(calls, policy, binding, request);
  if (!params) {
    const std::string why = "failed to configure binding: " + params.error().message;
    outcomes.misconfigured(policy, binding, why);
    // Users who may add parameters must not put a policy out of force by that.
    const bool too_many = params.error().code == ErrorCode::kTooLarge;
    if (too_many && !policy.fails_closed) outcomes.take(policy, binding, PolicyVerdict{{{0, why, ""}}, {}, {}});
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
  const auto bound = policies.in_force();
  for (const BoundPolicy& each : *bound) {
    const Kind* wanted = kind_for(each.policy->match, request);
    if (wanted == nullptr) continue;
    if (const std::string why = unresolved_params(*each.policy, *request.kinds); !why.empty()) {
      outcomes.misconfigured(*each.policy, why);
      continue;
    }
    const bool unseen = needs_conversion(request, *wanted);
    ExpressionInput input = expression_input(request, *wanted, calls.authorizer);
    input.ns = request.in_namespace;
    for (const auto& binding : each.bindings) {
      if (binding->match && kind_for(*binding->match, request) == nullptr) continue;
      if (unseen) {
        const std::string why = unconverted(request, *wanted, "admission policies");
        outcomes.misconfigured(*each.policy, *binding, "failed to convert object version: " + why);
      } else {
        apply_binding(calls, *each.policy, *binding, request, input, outcomes);
      }
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
