#pragma once

#include <optional>
#include <string>
#include <vector>

#include "services/api/admission_policies/admission_policy.h"
#include "services/api/auth/access.h"
#include "services/api/webhooks/call.h"

// The parameters of admission policies, and who may name them.
namespace shiplog::api {

/// Why a policy cannot be applied that has a kind of parameters which is not served; "": it can.
std::string unresolved_params(const AdmissionPolicy& policy, const Kinds& kinds);

/// Whether the parameters of the policy may hold data of Secrets, which its messages may quote.
bool reads_secrets(const AdmissionPolicy& policy, const Kinds& kinds);

/// What the policy is evaluated with, once for each; null: it has no parameters. Blocks. Errors: the binding cannot be
/// used; kTooLarge, as it has too many.
Result<std::vector<Value>> params_of(const WebhookCalls& calls, const AdmissionPolicy& policy,
                                     const AdmissionPolicyBinding& binding, const AdmissionRequest& request);

/// The author of a policy or binding with parameters must be permitted to read them: users whose requests the policy
/// denies may be shown their content. Of a policy that is not stored yet, or has no parameters, the author of a binding
/// must be permitted to read objects of all kinds. nullopt: it is another object, or permitted. Errors: kInvalid; the
/// policy cannot be read.
std::optional<Error> refuse_params(const Access* access, const User& user, const Kinds& kinds,
                                   const StoredObjects& objects, const ObjectKey& key, const Value& old,
                                   const Value& object);

}  // namespace shiplog::api
