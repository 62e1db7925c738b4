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
  std::string_view subresource =
      {};  ///< of a status write: "status" or "approval"; else "finalize", "ephemeralcontainers", "resize" or none
  const Value* user = nullptr;   ///< the requester, as a UserInfo; nullptr: no particular user
  std::string_view author = {};  ///< see Admission
  bool allows_no_execute_policies = true;
};

/// The object before the write; null on a create.
const Value& old_of(const Write& write);

/// The same with the defaults of the schema: what an older build stored may lack a newer default.
Value defaulted_old(const Write& write);

/// What schemas cannot express about a kind. All of these run on objects whose fields have the types of the schema,
/// and after the schema's defaults.
struct Rules {
  std::string_view type;          ///< "deployments.apps"
  std::string_view webhook = "";  ///< upstream checks the kind in this admission webhook: refusals are its denials
  bool owns_status = false;       ///< fill() writes the status
  bool takes_status = false;      ///< a create may state the status
  void (*fill)(Value& object, const Write& write) = nullptr;
  void (*check)(const Value& object, const Write& write, Causes& causes) = nullptr;
  /// Upstream's warnings about a valid object, one line each.
  void (*warn)(const Value& object, const Write& write, std::vector<std::string>& warnings) = nullptr;
  /// As fill and check, for a write to the status.
  void (*fill_status)(Value& object, const Write& write) = nullptr;
  void (*check_status)(const Value& object, const Write& write, Causes& causes) = nullptr;
};

/// nullptr: the kind has none.
const Rules* rules_of(const Kind& kind);

// What kinds of several families share.
/// A field of the spec that keeps its value.
void check_immutable(const Value& object, const Write& write, const char* name, Causes& causes);

void check_webhook_client(const Value& client, const std::string& field, Causes& causes);  ///< a clientConfig
/// Those of AdmissionReviews or ConversionReviews that a webhook takes.
void check_review_versions(const Value& versions, const std::string& field, Causes& causes);
/// The path of a request to a service: begins with a slash, and each segment is a name.
void check_service_path(const Value& path, const std::string& field, Causes& causes);
/// spec.conversion of a CustomResourceDefinition, but for its caBundle.
void check_conversion(const Value& conversion, Causes& causes);

/// Conditions in CEL; those that `old` has too are not compiled. `params`: they may use `params`.
void check_match_conditions(const Value& conditions, const Value& old, const std::string& field, bool params,
                            Causes& causes);
/// The spec of a PersistentVolumeClaim that a controller makes.
void check_claim_template(const Value& spec, const std::string& field, Causes& causes);

void check_hook_rule(const Value& rule, const std::string& field, Causes& causes);  ///< a RuleWithOperations

// One table per family of kinds.
const std::vector<Rules>& workload_rules();
const std::vector<Rules>& job_rules();
const std::vector<Rules>& whole_pod_rules();
const std::vector<Rules>& core_rules();
const std::vector<Rules>& definition_rules();
const std::vector<Rules>& policy_rules();
const std::vector<Rules>& cluster_rules();
const std::vector<Rules>& quota_rules();
const std::vector<Rules>& extension_rules();
const std::vector<Rules>& binding_rules();
const std::vector<Rules>& endpoint_rules();
const std::vector<Rules>& network_rules();
const std::vector<Rules>& device_rules();
const std::vector<Rules>& storage_rules();
const std::vector<Rules>& certificate_rules();
const std::vector<Rules>& server_rules();
const std::vector<Rules>& service_rules();
const std::vector<Rules>& audit_rules();
const std::vector<Rules>& ingress_rules();
const std::vector<Rules>& volume_rules();
const std::vector<Rules>& limit_rules();
const std::vector<Rules>& rbac_rules();
const std::vector<Rules>& event_rules();
const std::vector<Rules>& node_rules();
const std::vector<Rules>& runtime_class_rules();
const std::vector<Rules>& autoscaler_rules();
const std::vector<Rules>& admission_policy_rules();

}  // namespace shiplog::api
