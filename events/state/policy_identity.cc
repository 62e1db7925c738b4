#include "events/state/policy_identity.h"

#include "events/base/ids.h"
#include "events/state/object.h"

namespace shiplog {

const char* policy_id_label(bool cluster_scoped) { return cluster_scoped ? label::kClusterPolicyId : label::kPolicyId; }

const char* policy_finalizer(bool cluster_scoped) {
  return cluster_scoped ? kClusterPolicyFinalizer : kPolicyFinalizer;
}

void identify_policy(Value& policy, bool cluster_scoped, std::string_view id) {
  const char* label = policy_id_label(cluster_scoped);
  if (label_of(policy, label).empty()) policy.edit("metadata").edit("labels").set(label, id);
  const char* finalizer = policy_finalizer(cluster_scoped);
  if (!has_finalizer(policy, finalizer)) policy.edit("metadata").edit("finalizers").push_back(finalizer);
}

}  // namespace shiplog
