#include "services/bin/remedies.h"

#include "services/scheduler/remedy.h"
#include "services/scheduler/trigger.h"

namespace shiplog {

Result<std::map<std::string, api::Remedy>> placement_remedies(const ObjectKey& key, const Value& binding,
                                                              const std::vector<Value>& fleet,
                                                              const std::vector<std::string>& asked, UtcMillis now) {
  const Binding wanted = binding_from(key, binding);
  SHIPLOG_TRY(const Placement placement, placement_from(wanted.placement));
  scheduler::Clusters clusters;
  for (const Value& one : fleet) {
    Cluster cluster = cluster_from(one);
    std::string name = cluster.name;
    clusters.emplace(std::move(name), std::move(cluster));
  }
  const bool fresh = scheduler::asked_for(wanted, now);
  std::map<std::string, api::Remedy> remedies;
  for (const std::string& cluster : asked) {
    auto found = scheduler::remedy_for(wanted, placement, clusters, cluster, fresh);
    if (found) remedies[cluster] = {std::move(found->changes), found->chosen};
  }
  return remedies;
}

}  // namespace shiplog
