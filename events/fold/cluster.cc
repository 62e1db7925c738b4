#include "events/fold/apply.h"

namespace shiplog {

Applied apply(Staged& staged, const ClusterJoined& event) {
  return edit(staged, event.cluster, [&](Value& cluster) {
    if (!event.cluster_id.empty()) cluster.edit("spec").set("id", event.cluster_id);
  });
}

Applied apply(Staged& staged, const ClusterObserved& event) {
  return edit(staged, event.cluster, [&](Value& cluster) {
    Value status = event.status;
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
