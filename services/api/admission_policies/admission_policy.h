#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "services/api/expressions/admission_expression.h"
#include "services/api/webhooks/admission_webhook.h"

namespace shiplog::api {

inline constexpr const char* kAdmissionPolicies = "validatingadmissionpolicies.admissionregistration.k8s.io";
inline constexpr const char* kAdmissionPolicyBindings =
    "validatingadmissionpolicybindings.admissionregistration.k8s.io";
inline constexpr const char* kMutatingPolicies = "mutatingadmissionpolicies.admissionregistration.k8s.io";
inline constexpr const char* kMutatingPolicyBindings = "mutatingadmissionpolicybindings.admissionregistration.k8s.io";

/// Which requests a policy or a binding is about: MatchResources, with the rules and selectors of webhooks.
struct AdmissionPolicyMatch {
  AdmissionWebhook included, excluded;
  AdmissionWebhook outline;  ///< what is included, whatever the names of the objects
};
AdmissionPolicyMatch policy_match_of(const Value& match_resources);

/// The kind in whose version a policy sees the request; nullptr: it is not about it.
const Kind* policy_kind_for(const AdmissionPolicyMatch& match, const AdmissionRequest& request);

/// The expressions of a policy. Compiled when they are first needed, as the types of its variables are needed for the
/// rest.
struct PolicyExpressions {
  struct Variable {
    std::string name;
    LazyExpression expression;
    std::string refusal = {};  ///< why it is not to be evaluated; empty: it is
  };
  struct Validation {
    LazyExpression expression;
    std::optional<LazyExpression> message_expression;
    std::string message, reason;
  };
  struct Mutation {
    bool json_patch = false;  ///< else an apply configuration
    LazyExpression expression;
  };
  ExpressionScope scope;          ///< of validations and variables
  ExpressionScope message_scope;  ///< of message expressions and audit annotations: without the authorizer
  std::vector<Variable> variables;
  std::vector<Validation> validations;
  std::vector<std::pair<std::string, LazyExpression>> annotations;  ///< by key
  std::vector<Mutation> mutations;
};

/// A stored ValidatingAdmissionPolicy or MutatingAdmissionPolicy.
class AdmissionPolicy {
 public:
  explicit AdmissionPolicy(const Value& object);

  std::string name;
  bool fails_closed = true;  ///< failurePolicy Fail
  bool reinvoked = false;    ///< reinvocationPolicy IfNeeded
  AdmissionPolicyMatch match;
  std::string param_version, param_kind;  ///< empty: it has no parameters
  std::vector<MatchCondition> conditions;

  bool has_params() const { return !param_kind.empty(); }
  /// Threads: any.
  const PolicyExpressions& expressions() const;

 private:
  Value spec_;
  mutable std::once_flag once_;
  mutable PolicyExpressions expressions_;
};

/// A stored ValidatingAdmissionPolicyBinding or MutatingAdmissionPolicyBinding; this one has no actions.
struct AdmissionPolicyBinding {
  std::string name, policy;
  std::optional<AdmissionPolicyMatch> match;  ///< nullopt: all that the policy matches
  Value param_ref;                            ///< null: none
  bool denies = false, warns = false, audits = false;
  Value actions;  ///< the three, as they are written
};
AdmissionPolicyBinding policy_binding_of(const Value& object);

/// What a policy says about one request.
struct PolicyVerdict {
  struct Failure {
    size_t index = 0;     ///< of the validation
    std::string message;  ///< why the request does not fulfil it, or why it could not be evaluated
    std::string reason;   ///< of the Status; empty: Invalid
  };
  std::vector<Failure> failures;
  std::vector<std::string> annotation_errors;  ///< of a policy that fails closed: they deny the request
  std::vector<std::pair<std::string, std::string>> annotations;
};

/// What the evaluations of one binding may cost together, however many parameters it selects: users who may write
/// parameters could otherwise make every request take minutes.
struct PolicyBudget {
  CostBudget conditions{kMatchConditionsCost};
  CostBudget validations{kBindingCost};
  CostBudget annotations{kBindingCost};
  CostBudget mutations{kBindingCost};
  size_t params = 0;  ///< that were evaluated within it

  bool exceeded() const {
    return conditions.exceeded || validations.exceeded || annotations.exceeded || mutations.exceeded;
  }
};

/// Evaluates a ValidatingAdmissionPolicy that the request matches. `input`: with ns and params. What the cost of other
/// parameters leaves no budget for is a failure whatever failurePolicy states: users who may add parameters could
/// otherwise put a policy out of force. Pure.
PolicyVerdict evaluate_policy(const AdmissionPolicy& policy, const ExpressionInput& input, PolicyBudget& budget);

}  // namespace shiplog::api
