#include "services/roles/cluster_metrics.h"

#include <gtest/gtest.h>

#include "events/base/json.h"

namespace shiplog {
namespace {

bool has(const std::string& line) { return ("\n" + metrics::text()).find("\n" + line + "\n") != std::string::npos; }

Value cluster(const std::string& ready, int nodes) {
  return parse_json(R"({"spec":{"apiEndpoint":"https://10.0.0.1:6443/x"},"status":{
                    "conditions":[{"type":"Ready","status":")" +
                    ready + R"("}],"nodeSummary":{"totalNum":)" + std::to_string(nodes) +
                    R"(,"readyNum":1},"resourceSummary":{"allocatable":{"cpu":"7500m","memory":"1Gi","pods":"110"},
                    "allocated":{"cpu":"250m","memory":"no quantity"}}}})")
      .value();
}

void fold(ClusterMetrics& observer, const std::string& name, const Value& before, const Value& after) {
  Folded folded;
  Change change;
  change.object = {type::kCluster, "", name};
  change.before = before;
  change.after = after;
  folded.changes.push_back(std::move(change));
  observer.on_folded(State{}, DecodedRecord{}, folded);
}

TEST(ClusterMetrics, ExportTheStatusOfAReadyCluster) {
  ClusterMetrics observer{true};
  fold(observer, "m1", {}, cluster("True", 3));
  EXPECT_TRUE(has(R"(cluster_ready_state{member_cluster="m1"} 1)"));
  EXPECT_TRUE(has(R"(cluster_node_number{member_cluster="m1"} 3)"));
  EXPECT_TRUE(has(R"(cluster_ready_node_number{member_cluster="m1"} 1)"));
  EXPECT_TRUE(has(R"(cluster_cpu_allocatable_number{member_cluster="m1"} 7.5)"));
  EXPECT_TRUE(has(R"(cluster_memory_allocatable_bytes{member_cluster="m1"} 1073741824)"));
  EXPECT_TRUE(has(R"(cluster_pod_allocatable_number{member_cluster="m1"} 110)"));
  EXPECT_TRUE(has(R"(cluster_cpu_allocated_number{member_cluster="m1"} 0.25)"));
  EXPECT_TRUE(has(R"(cluster_pod_allocated_number{member_cluster="m1"} 0)")) << "it is not in the summary";
  EXPECT_EQ(metrics::text().find("cluster_memory_allocated_bytes{member_cluster=\"m1\"}"), std::string::npos);
}

TEST(ClusterMetrics, AClusterThatIsNotReadyKeepsItsLastValues) {  // OBS-4
  ClusterMetrics observer{true};
  fold(observer, "m2", {}, cluster("True", 3));
  fold(observer, "m2", cluster("True", 3), cluster("False", 0));
  EXPECT_TRUE(has(R"(cluster_ready_state{member_cluster="m2"} 0)"));
  EXPECT_TRUE(has(R"(cluster_node_number{member_cluster="m2"} 3)"));
}

TEST(ClusterMetrics, SeriesOfADeletedClusterVanish) {  // 1.14.12
  ClusterMetrics observer{true};
  const metrics::CounterFamily calls{"test_calls_total", "Calls.", {"member_cluster"}};
  const metrics::CounterFamily hosts{"test_hosts_total", "Calls.", {"host"}};
  fold(observer, "m3", {}, cluster("True", 3));
  observer.probed("m3", 0.5);
  calls.with({"m3"}).add();
  hosts.with({"10.0.0.1:6443"}).add();
  EXPECT_TRUE(has(R"(cluster_sync_status_duration_seconds_count{member_cluster="m3"} 1)"));
  EXPECT_TRUE(has(R"(test_hosts_total{host="10.0.0.1:6443"} 1)"));
  fold(observer, "m3", cluster("True", 3), {});
  calls.with({"m3"}).add();  // a late response
  const std::string text = metrics::text();
  EXPECT_EQ(text.find("\"m3\""), std::string::npos);
  EXPECT_EQ(text.find("test_hosts_total{"), std::string::npos);
}

TEST(ClusterMetrics, AProcessThatDoesNotProbeExportsNoStatus) {
  ClusterMetrics observer{false};
  fold(observer, "m4", {}, cluster("True", 3));
  EXPECT_EQ(metrics::text().find("\"m4\""), std::string::npos);
}

}  // namespace
}  // namespace shiplog
