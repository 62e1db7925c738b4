#include "services/roles/cluster_metrics.h"

#include <algorithm>
#include <string_view>

#include "events/base/quantity.h"
#include "events/state/condition.h"
#include "events/state/eviction.h"
#include "services/adapters/members/api_host.h"

namespace shiplog {
namespace {

using metrics::GaugeFamily;

void set_state(const std::string& cluster, const Value& object) {
  static const GaugeFamily ready_state{"cluster_ready_state", "1 if the cluster is ready, else 0.", {"member_cluster"}};
  static const GaugeFamily nodes{"cluster_node_number", "Nodes of the cluster.", {"member_cluster"}};
  static const GaugeFamily ready_nodes{
      "cluster_ready_node_number", "Nodes of the cluster that are ready.", {"member_cluster"}};
  static const GaugeFamily paused{
      "cluster_evictions_paused", "1 if evictions from the cluster wait for their budget, else 0.", {"member_cluster"}};
  paused.with({cluster}).set(condition_holds(object, kEvictionsPausedCondition) ? 1 : 0);
  const bool ready = condition_of(object, "Ready")["status"].as_string() == "True";
  ready_state.with({cluster}).set(ready ? 1 : 0);
  const Value& summary = object["status"]["nodeSummary"];
  if (!ready || summary.is_null()) return;
  nodes.with({cluster}).set(static_cast<double>(summary["totalNum"].as_int()));
  ready_nodes.with({cluster}).set(static_cast<double>(summary["readyNum"].as_int()));
}

/// `amounts`: status.resourceSummary.allocatable or allocated, in which an absent resource is 0. What a member reports
/// may not be a quantity.
void set_amount(const GaugeFamily& family, const std::string& cluster, const Value& amounts, const char* resource) {
  if (amounts[resource].is_null()) return family.with({cluster}).set(0);
  if (const auto amount = parse_quantity(amounts[resource].as_string())) {
    family.with({cluster}).set(static_cast<double>(amount.value().milli()) / 1000);
  }
}

void set_resources(const std::string& cluster, const Value& object) {
  static const GaugeFamily allocatable_cpu{
      "cluster_cpu_allocatable_number", "Allocatable CPU cores of the cluster.", {"member_cluster"}};
  static const GaugeFamily allocatable_memory{
      "cluster_memory_allocatable_bytes", "Allocatable memory of the cluster.", {"member_cluster"}};
  static const GaugeFamily allocatable_pods{
      "cluster_pod_allocatable_number", "Pods that the cluster can run.", {"member_cluster"}};
  static const GaugeFamily allocated_cpu{
      "cluster_cpu_allocated_number", "CPU cores that pods of the cluster request.", {"member_cluster"}};
  static const GaugeFamily allocated_memory{
      "cluster_memory_allocated_bytes", "Memory that pods of the cluster request.", {"member_cluster"}};
  static const GaugeFamily allocated_pods{
      "cluster_pod_allocated_number", "Pods of the cluster that have a node.", {"member_cluster"}};
  const Value& summary = object["status"]["resourceSummary"];
  if (condition_of(object, "Ready")["status"].as_string() != "True" || summary.is_null()) return;
  set_amount(allocatable_cpu, cluster, summary["allocatable"], "cpu");
  set_amount(allocatable_memory, cluster, summary["allocatable"], "memory");
  set_amount(allocatable_pods, cluster, summary["allocatable"], "pods");
  set_amount(allocated_cpu, cluster, summary["allocated"], "cpu");
  set_amount(allocated_memory, cluster, summary["allocated"], "memory");
  set_amount(allocated_pods, cluster, summary["allocated"], "pods");
}

}  // namespace

ClusterMetrics::ClusterMetrics(bool collects)
    : collects_{collects}, hook_{[this] { remove_series_of_deleted_clusters(); }} {}

void ClusterMetrics::load(const State& state) {
  for (const auto& [name, object] : state.objects(type::kCluster)) update(name.name.str(), object.value);
}

void ClusterMetrics::on_folded(const State& /*state*/, const DecodedRecord& /*record*/, const Folded& folded) {
  for (const Change& change : folded.changes) {
    if (change.object.type != type::kCluster) continue;
    if (!change.removed()) {
      update(change.object.name.str(), change.after);
      continue;
    }
    const std::lock_guard lock{mutex_};
    hosts_.erase(change.object.name.str());
  }
}

void ClusterMetrics::update(const std::string& name, const Value& cluster) {
  {
    const std::lock_guard lock{mutex_};
    hosts_[name] = host_of_url(cluster["spec"]["apiEndpoint"].str());
  }
  if (!collects_) return;
  set_state(name, cluster);
  set_resources(name, cluster);
}

void ClusterMetrics::probed(const std::string& cluster, double seconds) const {
  static const metrics::HistogramFamily family{"cluster_sync_status_duration_seconds",
                                               "Seconds to collect the status of the cluster.",
                                               {"member_cluster"},
                                               metrics::exponential_buckets(0.001, 2, 12)};
  family.with({cluster}).observe(seconds);
}

void ClusterMetrics::remove_series_of_deleted_clusters() {
  std::map<std::string, std::string> hosts;
  {
    const std::lock_guard lock{mutex_};
    hosts = hosts_;
  }
  // "*" is no cluster: it stands for requests to all of them through the cluster proxy.
  metrics::retain_series("member_cluster", [&](std::string_view cluster) {
    return cluster == "*" || hosts.contains(std::string{cluster});
  });
  metrics::retain_series("host", [&](std::string_view host) {
    return std::ranges::any_of(hosts, [&](const auto& cluster) { return cluster.second == host; });
  });
}

}  // namespace shiplog
