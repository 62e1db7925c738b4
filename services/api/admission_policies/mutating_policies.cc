#include "services/api/admission_policies/mutating_policies.h"

#include "services/api/admission_policies/policy_params.h"
#include "services/api/versions/versions.h"
#include "services/runtime/log.h"

// Wording: kube-apiserver's, which users search for.

namespace shiplog::api {
namespace {

std::string denied_by(const AdmissionPolicy& policy, const AdmissionPolicyBinding& binding, const std::string& why) {
  return "policy '" + policy.name + "' with binding '" + binding.name + "' denied request: " + why;
}

/// The kind of request.object.
const Kind* own_kind(const AdmissionRequest& request) {
  return request.kinds->find_kind(request.object["apiVersion"].as_string(), request.object["kind"].as_string());
}

}  // namespace

MutatingPolicies::MutatingPolicies(const WebhookCalls& calls, const AdmissionPoliciesInForce& policies,
                                   const AdmissionRequest& request)
    : authorizer_{calls.authorizer} {
  const auto in_force = policies.in_force();
  for (const BoundPolicy& bound : *in_force) {
    const AdmissionPolicy& policy = *bound.policy;
    const Kind* wanted = policy_kind_for(policy.match, request);
    if (wanted == nullptr) continue;
    if (const std::string why = unresolved_params(policy, *request.kinds); !why.empty()) {
      misconfigured(policy, "policy \"" + policy.name + "\" denied request: " + why, why);
      continue;
    }
    for (const auto& binding : bound.bindings) {
      if (binding->match && policy_kind_for(*binding->match, request) == nullptr) continue;
      add(calls, bound, binding, *wanted, request);
    }
  }
}

void MutatingPolicies::add(const WebhookCalls& calls, const BoundPolicy& bound,
                           const std::shared_ptr<const AdmissionPolicyBinding>& binding, const Kind& wanted,
                           const AdmissionRequest& request) {
  const AdmissionPolicy& policy = *bound.policy;
  if (needs_conversion(request, wanted)) {
    const std::string why = "failed to configure binding: " + unconverted(request, wanted, "admission policies");
    return misconfigured(policy, denied_by(policy, *binding, why), why);
  }
  auto params = params_of(calls, policy, *binding, request);
  if (!params) {
    const std::string why = "failed to configure binding: " + params.error().message;
    misconfigured(policy, denied_by(policy, *binding, why), why);
    // Users who may add parameters must not put a policy out of force by that.
    const bool too_many = params.error().code == ErrorCode::kTooLarge;
    if (too_many && !policy.fails_closed) fail(policy, *request.kinds, {denied_by(policy, *binding, why), "Forbidden"});
    return;
  }
  for (Value& param : params.value()) {
    invocations_.push_back({bound.policy, binding, &wanted, std::move(param), budgets_[0].size()});
  }
  for (auto& budgets : budgets_) budgets.emplace_back();
}

void MutatingPolicies::misconfigured(const AdmissionPolicy& policy, const std::string& message,
                                     const std::string& why) {
  log::warn("admission_policy.misconfigured",
            {log::kv("policy", policy.name), log::kv("ignored", !policy.fails_closed), log::kv("reason", why)});
  if (policy.fails_closed) failures_.push_back({message, "Forbidden"});
}

void MutatingPolicies::fail(const AdmissionPolicy& policy, const Kinds& kinds, Failure failure) {
  may_quote_ = may_quote_ || reads_secrets(policy, kinds);
  failures_.push_back(std::move(failure));
}

bool MutatingPolicies::apply(size_t index, bool again, AdmissionRequest& request, const CompleteObject& complete) {
  const Invocation& each = invocations_[index];
  const AdmissionPolicy& policy = *each.policy;
  const AdmissionPolicyBinding& binding = *each.binding;
  if (again && (policy_kind_for(policy.match, request) == nullptr ||
                (binding.match && policy_kind_for(*binding.match, request) == nullptr))) {
    return false;
  }
  ExpressionInput input = expression_input(request, *each.wanted, authorizer_);
  input.ns = request.in_namespace;
  input.params = each.param;
  const Kind* own = own_kind(request);
  // The body of a subresource has one version.
  const Kind* shown = request.form.is_null() ? each.wanted : own;
  const auto in_form_of = [](const Kind* kind, Value object) {
    return kind == nullptr ? object : in_version(*kind, std::move(object));
  };
  const auto complete_shown = [&](Value object) -> Result<Value> {
    SHIPLOG_TRY(Value completed, complete(in_form_of(own, std::move(object))));
    return in_form_of(shown, std::move(completed));
  };
  MutatedObject result = mutate_object(policy, input, shown, budgets_[again ? 1 : 0][each.budget], complete_shown);
  for (const std::string& why : result.failures) {
    fail(policy, *request.kinds, {denied_by(policy, binding, why), "Invalid"});
  }
  if (result.ignored > 0) {
    // Without the message, which may quote the object or a parameter.
    log::warn("admission_policy.mutation_ignored",
              {log::kv("policy", policy.name), log::kv("binding", binding.name), log::kv("mutations", result.ignored)});
  }
  if (request.object.is_null() || result.object == input.object) return false;
  request.object = in_form_of(own, std::move(result.object));
  return true;
}

std::optional<Denial> MutatingPolicies::denial(const AdmissionRequest& request) const {
  if (failures_.empty()) return std::nullopt;
  constexpr size_t kMostCauses = 100;
  Denial denial = failed_conditions(request, failures_.front().message);
  denial.status.set("message", failures_.front().message);
  denial.status.set("reason", failures_.front().reason);
  Value::Array causes;
  for (const Failure& failure : failures_) {
    if (causes.size() < kMostCauses) causes.push_back(Value::object({{"message", failure.message}}));
  }
  denial.status.edit("details").set("causes", Value::array(std::move(causes)));
  return denial;
}

}  // namespace shiplog::api
