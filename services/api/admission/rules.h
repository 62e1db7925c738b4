#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "events/base/time.h"
#include "events/base/value.h"
#include "events/kinds/kinds.h"
#include "services/api/admission/causes.h"

namespace shiplog::api {

/// What a kind's own rules see of a write besides the object.
struct Write {
  const Kinds& kinds;
  const Kind& kind;
  const Value* old = nullptr;  ///< nullptr: a create
  UtcMillis now;
  std::string_view subresource = {};  ///< of a status write: "status" or "approval"; else "finalize" or none
  const Value* user = nullptr;        ///< the requester, as a UserInfo; nullptr: no particular user
  std::string_view author = {};       ///< see Admission
  bool allows_no_execute_policies = true;
};

/// The object before the write; null on a create.
const Value& old_of(const Write& write);

/// What schemas cannot express about a kind. All of these run on objects whose fields have the types of the schema,
/// and after the schema's defaults.
struct Rules {
  std::string_view type;          ///< "deployments.apps"
  std::string_view webhook = "";  ///< upstream checks the kind in this admission webhook: refusals are its denials
  bool owns_status = false;       ///< fill() writes the status
  void (*fill)(Value& object, const Write& write) = nullptr;
  void (*check)(const Value& object, const Write& write, Causes& causes) = nullptr;
  /// The same two for a write to the status.
  void (*fill_status)(Value& object, const Write& write) = nullptr;
  void (*check_status)(const Value& object, const Write& write, Causes& causes) = nullptr;
};

/// nullptr: the kind has none.
const Rules* rules_of(const Kind& kind);

// What kinds of several families share.
void check_ingress(const Value& object, const Write& write, Causes& causes);  ///< spec is an IngressSpec

void check_webhook_client(const Value& client, const std::string& field, Causes& causes);  ///< a clientConfig
void check_conversion(const Value& conversion, Causes& causes);  ///< of a CustomResourceDefinition

/// Conditions in CEL; those that `old` has too are not compiled. `params`: they may use `params`.
void check_match_conditions(const Value& conditions, const Value& old, const std::string& field, bool params,
                            Causes& causes);
void check_hook_rule(const Value& rule, const std::string& field, Causes& causes);  ///< a RuleWithOperations

// One table per family of kinds.
const std::vector<Rules>& workload_rules();
const std::vector<Rules>& core_rules();
const std::vector<Rules>& definition_rules();
const std::vector<Rules>& policy_rules();
const std::vector<Rules>& cluster_rules();
const std::vector<Rules>& quota_rules();
const std::vector<Rules>& extension_rules();
const std::vector<Rules>& binding_rules();
const std::vector<Rules>& endpoint_rules();
const std::vector<Rules>& network_rules();
const std::vector<Rules>& storage_rules();
const std::vector<Rules>& certificate_rules();
const std::vector<Rules>& server_rules();
const std::vector<Rules>& service_rules();
const std::vector<Rules>& audit_rules();
const std::vector<Rules>& admission_policy_rules();

}  // namespace shiplog::api
