#include <string>
#include <utility>

#include "events/base/merge_patch.h"
#include "events/fold/apply.h"

namespace shiplog {

Applied apply(Staged& staged, const ClusterJoined& event) {
  return edit(staged, event.cluster, [&](Value& cluster) {
    if (!event.cluster_id.empty()) cluster.edit("spec").set("id", event.cluster_id);
  });
}

Applied apply(Staged& staged, const ClusterObserved& event) {
  if (event.patch && staged.state().fold_version() < kClusterPatchFoldVersion) {
    return Refusal{ErrorCode::kConflict, "patches of a Cluster's status are folded from fold version " +
                                             std::to_string(kClusterPatchFoldVersion) + " on"};
  }
  return edit(staged, event.cluster, [&](Value& cluster) {
    Value status = event.patch ? merge_patched(cluster["status"], event.status) : event.status;
    if (const Value* conditions = cluster["status"].find("conditions")) status.set("conditions", *conditions);
    cluster.set("status", std::move(status));
  });
}

Applied apply(Staged& staged, const ClusterConditionChanged& event) {
  return edit(staged, event.cluster, [&](Value& cluster) {
    set_condition(cluster, event.type, event.status, event.reason, event.message, staged.time());
  });
}

Applied apply(Staged& staged, const ClusterLeft& event) { return staged.remove(event.cluster); }

}  // namespace shiplog
