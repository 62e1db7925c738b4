#include "services/api/admission/rules.h"

namespace shiplog::api {

const Value& old_of(const Write& write) {
  static const Value kNothing;
  return write.old == nullptr ? kNothing : *write.old;
}

const Rules* rules_of(const Kind& kind) {
  const std::string type = kind.type();
  for (const auto* table :
       {&workload_rules(), &core_rules(), &definition_rules(), &policy_rules(), &cluster_rules(), &quota_rules(),
        &extension_rules(), &endpoint_rules(), &network_rules(), &storage_rules(), &binding_rules(),
        &certificate_rules(), &server_rules(), &service_rules(), &audit_rules(), &admission_policy_rules()}) {
    for (const Rules& rules : *table) {
      if (rules.type == type) return &rules;
    }
  }
  return nullptr;
}

}  // namespace shiplog::api
