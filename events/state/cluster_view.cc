#include "events/state/cluster_view.h"

#include <algorithm>
#include <utility>

namespace shiplog {

void ClusterView::update(const ObjectKey& key, const Value&, const Value& after) {
  if (after.is_null()) {
    clusters_.erase(key.name.str());
    return;
  }
  Cluster cluster = cluster_from(after);
  const auto alike = std::ranges::find_if(
      clusters_, [&](const auto& other) { return other.second.api_enablements == cluster.api_enablements; });
  if (alike != clusters_.end()) cluster.api_enablements = alike->second.api_enablements;
  clusters_[key.name.str()] = std::move(cluster);
}

}  // namespace shiplog
