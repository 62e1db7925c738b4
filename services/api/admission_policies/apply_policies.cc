#include "services/api/admission_policies/apply_policies.h"

#include <algorithm>
#include <map>
#include <set>

#include "events/base/json.h"
#include "services/api/admission_policies/policy_params.h"
#include "services/runtime/log.h"

// Wording: kube-apiserver's, which users search for.
// Source: k8s.io/apiserver/pkg/admission/plugin/policy/validating/dispatcher.go, policy/generic/policy_dispatcher.go.

namespace shiplog::api {
namespace {

constexpr size_t kMostAuditedFailures = 50;
constexpr const char* kFailureAnnotation = "validation.policy.admission.k8s.io/validation_failure";

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
    admission_.may_quote = reads_secrets(policy, *request_.kinds);
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
    const Kind* wanted = policy_kind_for(each.policy->match, request);
    if (wanted == nullptr) continue;
    if (const std::string why = unresolved_params(*each.policy, *request.kinds); !why.empty()) {
      outcomes.misconfigured(*each.policy, why);
      continue;
    }
    const bool unseen = needs_conversion(request, *wanted);
    ExpressionInput input = expression_input(request, *wanted, calls.authorizer);
    input.ns = request.in_namespace;
    for (const auto& binding : each.bindings) {
      if (binding->match && policy_kind_for(*binding->match, request) == nullptr) continue;
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

}  // namespace shiplog::api
