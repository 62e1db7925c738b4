// EvictionsEndToEnd for NoExecute taints with real kubectl and processes: purge modes, the rate and the budget,
// hand-over.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/e2e/three_members.h"

namespace shiplog::e2e {
namespace {

const std::string kOneOfTwo =
    "{clusterAffinity: {clusterNames: [member1, member2]}, spreadConstraints: [{spreadByField: cluster, minGroups: 1, "
    "maxGroups: 1}]}";
const std::string kTaint = R"({"spec":{"taints":[{"key":"fire","effect":"NoExecute"}]}})";
const std::string kStatefulSets = "/apis/apps/v1/namespaces/default/statefulsets/";

class EvictionsEndToEnd : public ThreeMembers {
 protected:
  std::vector<std::string> options() const override {
    std::vector<std::string> all = ThreeMembers::options();
    all.push_back("--resource-eviction-rate=50");
    all.push_back("--eviction-budget=evictions=2,window=1h");
    return all;
  }

  /// Places the workload on one of two members, and returns which.
  std::string placed_once(const std::string& kind, const std::string& manifest, const std::string& name,
                          const std::string& more = "") {
    std::string document = placed(name, name, kOneOfTwo, more);
    if (kind != "Deployment") document.replace(document.find("kind: Deployment"), 16, "kind: " + kind);
    apply(manifest + document);
    const std::string path = (kind == "Deployment" ? kDeployment : kStatefulSets) + name;
    EXPECT_TRUE(eventually([&] {
      const std::string on = holders(path);
      return (on == "member1" || on == "member2") && ready_replicas(on, path) == 1;
    })) << path
        << " is on \"" << holders(path) << "\"";
    return holders(path);
  }
  static std::string other(const std::string& member) { return member == "member1" ? "member2" : "member1"; }
  int64_t ready_replicas(const std::string& member, const std::string& path) {
    return fleet_.api(member).get(path).json["status"]["readyReplicas"].as_int();
  }
  std::string paused(const std::string& cluster) {
    const Value object = api_->get("/apis/cluster.karmada.io/v1alpha1/clusters/" + cluster).json;
    const Value& condition = condition_of(object, "EvictionsPaused");
    return condition.is_null() ? "" : condition["status"].str() + " " + condition["reason"].str();
  }
  bool has_event(const std::string& kind, const std::string& name, const std::string& reason) {
    return eventually([&] {
      return fleet_
          .kubectl({"get", "events", "-A", "--field-selector",
                    "reason=" + reason + ",involvedObject.name=" + name + ",involvedObject.kind=" + kind, "-o", "name"})
          .says("event");
    });
  }
};

TEST_F(EvictionsEndToEnd, GracefullyTakesTheOldCopyAwayWhenTheNewOneIsHealthy) {
  const std::string from = placed_once("Deployment", deployment("web"), "web");
  patch("cluster", from, kTaint);
  expect_holders(kDeployment + "web", other(from));
  EXPECT_TRUE(eventually(
      [&] { return api_->get(kBindings + "web-deployment").json["spec"]["gracefulEvictionTasks"].is_null(); }));
  EXPECT_TRUE(has_event("ResourceBinding", "web-deployment", "EvictWorkloadFromClusterSucceed"));
  EXPECT_TRUE(has_event("Deployment", "web", "EvictWorkloadFromClusterSucceed"));
}

TEST_F(EvictionsEndToEnd, DirectlyHandsAStatefulSetOverWithoutASecondCopy) {
  const std::string set =
      "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n  replicas: 1\n  serviceName: db\n"
      "  selector: {matchLabels: {app: db}}\n  template:\n    metadata: {labels: {app: db}}\n    spec:\n"
      "      containers:\n      - {name: main, image: \"postgres:17\"}\n---\n";
  const std::string path = kStatefulSets + "db";
  const std::string from = placed_once("StatefulSet", set, "db", "  failover: {cluster: {purgeMode: Directly}}\n");
  patch("cluster", from, kTaint);
  EXPECT_TRUE(eventually([&] {
    const int64_t elsewhere = ready_replicas(other(from), path);
    // Read after the new copy: whatever runs here now ran beside it.
    EXPECT_TRUE(elsewhere == 0 || fleet_.api(from).get(path).json["status"]["replicas"].as_int() == 0);
    return elsewhere == 1;
  }));
  expect_holders(path, other(from));
}

TEST_F(EvictionsEndToEnd, TheBudgetPausesThemUntilAnOperatorReleasesTheCluster) {
  std::string manifests;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    manifests += deployment(name) + policy(name, name, "member1");
  }
  apply(manifests);
  for (const char* name : {"a", "b", "c", "d", "e"}) expect_holders(kDeployment + std::string{name}, "member1");
  const auto evicting = [&] {
    int count = 0;
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      const Value binding = api_->get(kBindings + std::string{name} + "-deployment").json;
      count += binding["spec"]["gracefulEvictionTasks"].size() > 0 ? 1 : 0;
    }
    return count;
  };
  patch("cluster", "member1", kTaint);
  EXPECT_TRUE(eventually([&] { return paused("member1") == "True EvictionBudgetExhausted"; })) << paused("member1");
  EXPECT_EQ(evicting(), 2);
  EXPECT_TRUE(has_event("Cluster", "member1", "EvictionsPaused"));
  const std::string metrics = api_->get("/metrics", "text/plain").body;
  for (const char* series :
       {R"(cluster_evictions_paused{member_cluster="member1"} 1)", R"(eviction_queue_depth{name="binding-eviction"} 3)",
        R"(eviction_kind_total{member_cluster="member1",resource_kind="Deployment"} 3)"}) {
    EXPECT_NE(metrics.find(series), std::string::npos) << series;
  }

  // The pause is in the journal: a restart does not release it.
  fleet_.kill("plane");
  fleet_.serve("plane", options());
  api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  apply(deployment("probe") + policy("probe", "probe", "member3"));
  expect_holders(kDeployment + "probe", "member3");
  EXPECT_EQ(evicting(), 2);

  fleet_.kubectl_ok({"annotate", "cluster", "member1", "eviction.shiplog.io/released=true"});
  EXPECT_TRUE(eventually([&] { return evicting() == 5; })) << evicting();
  EXPECT_TRUE(eventually([&] { return paused("member1") == "False Released"; })) << paused("member1");
  EXPECT_TRUE(has_event("Cluster", "member1", "EvictionsResumed"));
  EXPECT_EQ(holders(kDeployment + "a"), "member1") << "no other cluster fits, and it runs";
}

TEST_F(EvictionsEndToEnd, OptionsThatMakeNoSenseAreRefusedWithASentence_2_2_1_2_5_8) {
  const std::string program = std::string{SHIPLOG_BUILT} + "/shiplogd";
  const auto error_of = [&](const std::string& option) {
    return run({program, "serve", "--data-dir=" + fleet_.path("none"), option}, {}, "", kPatience);
  };
  EXPECT_TRUE(error_of("--resource-eviction-rate=-1").says("--resource-eviction-rate: \"-1\": a number of evictions"));
  const auto modes = run({program, "serve", "--data-dir=" + fleet_.path("none"), "--enable-no-execute-taint-eviction",
                          "--no-execute-taint-eviction-purge-mode=Never"},
                         {}, "", kPatience);
  EXPECT_TRUE(modes.says("Gracefully or Directly is expected")) << modes;
  const auto dormant = run({program, "serve", "--data-dir=" + fleet_.path("none"),
                            "--no-execute-taint-eviction-purge-mode=Never", "--resource-eviction-rate=-1"},
                           {}, "", kPatience);
  EXPECT_TRUE(dormant.says("--resource-eviction-rate")) << "without evictions the mode is not looked at: " << dormant;
  for (const char* other :
       {"--eviction-rate=1", "--secondary-resource-eviction-rate=0.1", "--unhealthy-cluster-threshold=0.5"}) {
    EXPECT_TRUE(error_of(other).says("The following argument was not expected")) << "there is one rate: " << other;
  }
  EXPECT_TRUE(error_of("--eviction-budget=pace=3").says("--eviction-budget: \"pace=3\": evictions=N"));
}

}  // namespace
}  // namespace shiplog::e2e
