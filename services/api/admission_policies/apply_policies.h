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

}  // namespace shiplog::api
