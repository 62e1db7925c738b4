#include "services/runtime/role_triggers.h"

#include "events/state/feature_gates.h"
#include "events/state/fleet_options.h"
#include "events/state/object.h"

namespace shiplog {

Urgency urgency_of(const Change& change, const ObjectKey& key) {
  const SharedText& type = change.object.type;
  const bool concerns_many = is_propagation_policy(type) || type == kFleetOptionsType || type == kFeatureGatesType;
  return concerns_many && key != change.object ? Urgency::kRoutine : Urgency::kChange;
}

bool is_measurement(const Change& change) {
  const auto same = [&](const char* part, const char* field) {
    return change.before[part][field] == change.after[part][field];
  };
  return change.object.type == type::kCluster && !change.created() && !change.removed() &&
         change.before["spec"] == change.after["spec"] && same("status", "conditions") &&
         same("metadata", "annotations") && same("metadata", "deletionTimestamp");
}

}  // namespace shiplog
