#pragma once

#include <functional>
#include <string>
#include <vector>

#include "services/api/admission_policies/admission_policy.h"

namespace shiplog::api {

/// Decodes an object that a mutation has made, and fills in defaults. Error: it cannot be decoded.
using CompleteObject = std::function<Result<Value>(Value object)>;

/// What a MutatingAdmissionPolicy makes of an object.
struct MutatedObject {
  Value object;
  std::vector<std::string> failures;  ///< why mutations were left out, which denies the request
  size_t ignored = 0;                 ///< mutations that were left out, as the policy ignores failures
};

/// Carries out the mutations of a policy that the request matches, each on what the one before has left, unless the
/// match conditions exclude the request. Those that fail are left out; they are failures unless the policy ignores
/// them. What the cost of other parameters leaves no budget for is a failure always, as of evaluate_policy(). `kind`:
/// that of the object, in the version of input.object; nullptr: nothing is known about its fields. Pure, if `complete`
/// is. Source: k8s.io/apiserver/pkg/admission/plugin/policy/mutating/dispatcher.go, patch.
MutatedObject mutate_object(const AdmissionPolicy& policy, ExpressionInput input, const Kind* kind,
                            PolicyBudget& budget, const CompleteObject& complete);

}  // namespace shiplog::api
