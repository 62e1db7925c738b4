#pragma once

#include <map>
#include <string>
#include <string_view>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/state/cluster.h"
#include "events/state/object.h"

namespace shiplog {

/// The Clusters, read once per change instead of once per decision.
class ClusterView {
 public:
  static bool wants(std::string_view type) { return type == type::kCluster; }
  void update(const ObjectKey& key, const Value& before, const Value& after);
  bool operator==(const ClusterView&) const = default;

  /// By name.
  const std::map<std::string, Cluster>& all() const { return clusters_; }

 private:
  std::map<std::string, Cluster> clusters_;
};

}  // namespace shiplog
