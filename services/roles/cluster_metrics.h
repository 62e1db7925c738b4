#pragma once

#include <map>
#include <mutex>
#include <string>

#include "services/runtime/metrics.h"
#include "services/runtime/replica.h"

namespace shiplog {

/// The metrics of each member cluster, with the names that Karmada gives them (OBS-4). Series with the label
/// `member_cluster` or `host` of a Cluster that was deleted are removed on the next scrape, whichever code made them.
/// Threads: the fold thread; the removal, the thread that scrapes.
class ClusterMetrics final : public Observer {
 public:
  /// `collects`: this process probes the clusters, so it is the one that exports their status.
  explicit ClusterMetrics(bool collects);

  /// From a restored state.
  void load(const State& state);
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;
  /// A probe of the cluster has ended.
  void probed(const std::string& cluster, double seconds) const;

 private:
  void update(const std::string& name, const Value& cluster);
  void remove_series_of_deleted_clusters();

  const bool collects_;
  std::mutex mutex_;
  std::map<std::string, std::string> hosts_;  ///< of the APIs, by cluster; guarded by mutex_
  const metrics::ScrapeHook hook_;
};

}  // namespace shiplog
