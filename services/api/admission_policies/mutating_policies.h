#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "services/api/admission_policies/admission_policies.h"
#include "services/api/admission_policies/mutate_object.h"
#include "services/api/webhooks/call.h"

namespace shiplog::api {

/// The MutatingAdmissionPolicies in force that are about one request, once for each of their parameters, in the order
/// of the names of policies and bindings. What they are about is decided before any is applied.
class MutatingPolicies {
 public:
  /// Blocks: reads the parameters.
  MutatingPolicies(const WebhookCalls& calls, const AdmissionPoliciesInForce& policies,
                   const AdmissionRequest& request);

  size_t size() const { return invocations_.size(); }
  /// Whether it is applied once more when the object is changed after it (reinvocationPolicy IfNeeded).
  bool reinvoked(size_t index) const { return invocations_[index].policy->reinvoked; }

  /// Applies one of them to request.object; true: it has changed it. `again`: once more, if it still matches.
  /// `complete` is given the object in the version that is stored. Takes as long as the expressions may cost: not on
  /// the fold thread.
  bool apply(size_t index, bool again, AdmissionRequest& request, const CompleteObject& complete);

  /// The denial, if any of them failed. Source:
  /// k8s.io/apiserver/pkg/admission/plugin/policy/generic/policy_dispatcher.go.
  std::optional<Denial> denial(const AdmissionRequest& request) const;
  bool may_quote() const { return may_quote_; }  ///< the denial may quote parameters with data of Secrets

 private:
  struct Invocation {
    std::shared_ptr<const AdmissionPolicy> policy;
    std::shared_ptr<const AdmissionPolicyBinding> binding;
    const Kind* wanted;  ///< in whose version it sees the request
    Value param;
    size_t budget;  ///< of the binding
  };
  struct Failure {
    std::string message;
    const char* reason;  ///< of the Status
  };

  void add(const WebhookCalls& calls, const BoundPolicy& bound,
           const std::shared_ptr<const AdmissionPolicyBinding>& binding, const Kind& wanted,
           const AdmissionRequest& request);
  void misconfigured(const AdmissionPolicy& policy, const std::string& message, const std::string& why);
  void fail(const AdmissionPolicy& policy, const Kinds& kinds, Failure failure);

  std::shared_ptr<const cel::CelAuthorizer> authorizer_;
  std::vector<Invocation> invocations_;
  std::array<std::vector<PolicyBudget>, 2> budgets_;  ///< of the first round, and of the second one
  std::vector<Failure> failures_;
  bool may_quote_ = false;
};

}  // namespace shiplog::api
