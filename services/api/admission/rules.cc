#include "services/api/admission/rules.h"

#include "events/kinds/schema.h"

namespace shiplog::api {

const Value& old_of(const Write& write) {
  static const Value kNothing;
  return write.old == nullptr ? kNothing : *write.old;
}

Value defaulted_old(const Write& write) {
  if (write.old == nullptr || write.kind.schema == nullptr) return old_of(write);
  return with_defaults(*write.kind.schema, *write.old);
}

void check_immutable(const Value& object, const Write& write, const char* name, Causes& causes) {
  const Value& now = object["spec"][name];
  if (write.old == nullptr || (*write.old)["spec"][name] == now) return;
  if (defaulted_old(write)["spec"][name] == now) return;
  causes.invalid(std::string{"spec."} + name, now, "field is immutable");
}

const Rules* rules_of(const Kind& kind) {
  const std::string type = kind.type();
  for (const auto* table :
       {&workload_rules(),    &job_rules(),     &whole_pod_rules(),     &core_rules(),      &definition_rules(),
        &policy_rules(),      &cluster_rules(), &quota_rules(),         &extension_rules(), &endpoint_rules(),
        &network_rules(),     &node_rules(),    &runtime_class_rules(), &storage_rules(),   &binding_rules(),
        &certificate_rules(), &server_rules(),  &service_rules(),       &audit_rules(),     &admission_policy_rules(),
        &ingress_rules(),     &volume_rules(),  &limit_rules(),         &rbac_rules(),      &event_rules(),
        &autoscaler_rules(),  &device_rules()}) {
    for (const Rules& rules : *table) {
      if (rules.type == type) return &rules;
    }
  }
  return nullptr;
}

}  // namespace shiplog::api
