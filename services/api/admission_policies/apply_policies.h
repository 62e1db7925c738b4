#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "services/api/admission_policies/admission_policies.h"
#include "services/api/auth/access.h"
#include "services/api/webhooks/call.h"

namespace shiplog::api {

/// What the admission policies say about a request.
struct PolicyAdmission {
  std::optional<Denial> denial;
  bool may_quote = false;  ///< the denial may quote parameters with data of Secrets
  std::vector<std::string> warnings;
  std::vector<std::pair<std::string, std::string>> annotations;  ///< of its audit events
};

/// Whether some policy in force may be about the request: looks at rules only. Cheap.
bool has_policies(const AdmissionPoliciesInForce& policies, const AdmissionRequest& request);

/// Evaluates the policies in force that the request matches, in the order of their names. Reads their parameters from
/// the projection, and takes as long as the expressions may cost: not on the fold thread.
PolicyAdmission apply_policies(const WebhookCalls& calls, const AdmissionPoliciesInForce& policies,
                               const AdmissionRequest& request);

/// The author of a policy or binding with parameters must be permitted to read them: users whose requests the policy
/// denies may be shown their content. Of a policy that is not stored yet, or has no parameters, the author of a binding
/// must be permitted to read objects of all kinds. nullopt: it is another object, or permitted. Errors: kInvalid; the
/// policy cannot be read.
std::optional<Error> refuse_params(const Access* access, const User& user, const Kinds& kinds,
                                   const StoredObjects& objects, const ObjectKey& key, const Value& old,
                                   const Value& object);

}  // namespace shiplog::api
