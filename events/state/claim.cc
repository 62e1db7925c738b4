#include "events/state/claim.h"

namespace shiplog {

void erase_from_metadata(Value& object, const char* map, const char* key) {
  if (!object["metadata"][map].contains(key)) return;
  Value& metadata = object.edit("metadata");
  Value& members = metadata.edit(map);
  members.erase(key);
  if (members.size() == 0) metadata.erase(map);
}

void strip_policy_claim(Value& object) {
  erase_from_metadata(object, "labels", label::kPolicyId);
  erase_from_metadata(object, "annotations", annotation::kPolicyNamespace);
  erase_from_metadata(object, "annotations", annotation::kPolicyName);
}

void strip_cluster_policy_claim(Value& object) {
  erase_from_metadata(object, "labels", label::kClusterPolicyId);
  erase_from_metadata(object, "annotations", annotation::kClusterPolicyName);
}

void strip_claim(Value& object) {
  strip_policy_claim(object);
  strip_cluster_policy_claim(object);
}

}  // namespace shiplog
