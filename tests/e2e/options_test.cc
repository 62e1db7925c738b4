// Options that determine what is propagated and where: they are recorded in the journal, so that they apply to the
// whole fleet, and a replay decides with their values at the time.
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/e2e/three_members.h"

namespace shiplog::e2e {
namespace {

class ShiplogdOptions : public ThreeMembers {
 protected:
  void restart_with(const std::vector<std::string>& options) {
    fleet_.kill("plane");
    fleet_.serve("plane", options);
    api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  }
  static std::string config_map(const std::string& ns, const std::string& name) {
    return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: " + ns +
           "}\ndata: {a: b}\n---\n";
  }
  static std::string path(const std::string& ns, const std::string& name) {
    return "/api/v1/namespaces/" + ns + "/configmaps/" + name;
  }
};

TEST_F(ShiplogdOptions, SkippedNamespacesAndKindsAreNotPropagated_D_3_D_4_B_27) {
  const std::string config = fleet_.path("options.yaml");
  std::ofstream{config} << "skipped-propagating-namespaces: ['kube-.*', 'team-[0-9]+']\n"
                           "skipped-propagating-apis: [batch, 'apps/v1/StatefulSet,Deployment']\n";
  restart_with({"--config=" + config});
  apply(
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-1}\n---\n"
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-x}\n---\n" +
      config_map("team-1", "quiet") + config_map("team-x", "loud") + deployment("web") +
      "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: all}\nspec:\n"
      "  resourceSelectors: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: apps/v1, kind: Deployment}]\n"
      "  placement: {clusterAffinity: {clusterNames: [member1]}}\n");
  expect_holders(path("team-x", "loud"), "member1");
  expect_holders("/api/v1/namespaces/team-x", "member1 member2 member3");
  EXPECT_EQ(holders("/api/v1/namespaces/team-1"), "");
  EXPECT_EQ(api_->get("/apis/work.karmada.io/v1alpha2/namespaces/team-1/resourcebindings").json["items"].size(), 0U);
  EXPECT_EQ(api_->get(kBindings + "web-deployment").status, 404);

  restart_with({});  // the recorded value stays
  apply(config_map("team-1", "late") + config_map("team-x", "late"));
  expect_holders(path("team-x", "late"), "member1");
  EXPECT_EQ(api_->get("/apis/work.karmada.io/v1alpha2/namespaces/team-1/resourcebindings").json["items"].size(), 0U);

  restart_with({"--skipped-propagating-namespaces=kube-.*", "--skipped-propagating-apis="});
  expect_holders(path("team-1", "quiet"), "member1");
  expect_holders("/api/v1/namespaces/team-1", "member1 member2 member3");
  expect_holders(kDeployment + "web", "member1");
}

TEST_F(ShiplogdOptions, ADisabledPluginExcludesNoCluster_S_23_S_46) {
  fleet_.kubectl_ok({"patch", "cluster", "member2", "--type=merge", "-p",
                     R"({"spec":{"taints":[{"key":"busy","effect":"NoSchedule"}]}})"});
  apply(deployment("web") + policy("web", "web", "member1, member2"));
  expect_holders(kDeployment + "web", "member1");
  restart_with({"--plugins=*,-TaintToleration", "--enable-empty-workload-propagation"});
  expect_holders(kDeployment + "web", "member1 member2");
  apply(deployment("one") +
        placed("one", "one",
               "{clusterAffinity: {clusterNames: [member1, member3]}, replicaScheduling: {replicaSchedulingType: "
               "Divided, replicaDivisionPreference: Weighted, weightPreference: {staticWeightList: "
               "[{targetCluster: {clusterNames: [member1]}, weight: 3}, "
               "{targetCluster: {clusterNames: [member3]}, weight: 1}]}}}"));
  expect_replicas("one", "member1:1 member3:0");
  EXPECT_NE(fleet_.shiplogctl_ok({"why", "deployment/web"}).find("switched off by --plugins: TaintToleration"),
            std::string::npos);
}

TEST_F(ShiplogdOptions, TheMonitorOfPullClustersHasPeriods_1_13_1_1_13_4) {
  restart_with(
      {"--cluster-monitor-period=1s", "--cluster-monitor-grace-period=2s", "--cluster-startup-grace-period=3s"});
  apply("apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: silent}\nspec: {syncMode: Pull}\n");
  const std::string path = "/apis/cluster.karmada.io/v1alpha1/clusters/silent";
  const auto reason = [&] {
    const Value cluster = api_->get(path).json;
    return condition_of(cluster, "Ready")["reason"].str();
  };
  // By default it would be a minute, and 40 s below.
  constexpr std::chrono::seconds kWithin{30};
  EXPECT_TRUE(eventually([&] { return reason() == "ClusterStatusNeverUpdated"; }, kWithin)) << api_->get(path);
  const Answer posted =
      api_->patch(path + "/status", "merge", json(R"({"status":{"conditions":[{"type":"Ready","status":"True",
      "reason":"ClusterReady","message":"","lastTransitionTime":"2026-01-02T12:00:00Z"}]}})"));
  ASSERT_EQ(posted.status, 200) << posted;
  EXPECT_TRUE(eventually([&] { return reason() == "ClusterStatusUnknown"; }, kWithin)) << api_->get(path);
}

TEST_F(ShiplogdOptions, InvalidValuesAreRefusedAtTheStart_D_3_D_4_S_23_E_21) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"--skipped-propagating-namespaces=kube-.*,team-(",
       "--skipped-propagating-namespaces: \"team-(\" is no regular expression"},
      {"--skipped-propagating-apis=apps;a/b/C/d",
       "--skipped-propagating-apis: \"a/b/C/d\" is none of GROUP, GROUP/VERSION"},
      {"--plugins=*,-Teleporter", "--plugins: there is no plugin \"-Teleporter\"; there are: *, APIEnablement, "},
      {"--controllers=*,-binding",
       "--controllers: \"-binding\" cannot be switched on or off; there are: applicationFailover, "
       "cronFederatedHorizontalPodAutoscaler, deploymentReplicasSyncer"},
      {"--descheduling-interval=0s", "--descheduling-interval: at least 1s is expected, not \"0s\""},
      {"--descheduling-interval=often", "--descheduling-interval: a duration such as 10m or 1h30m is expected"},
      {"--unschedulable-threshold=-1m", "--unschedulable-threshold: a duration such as 10m or 1h30m is expected"},
      {"--cluster-monitor-period=0s", "--cluster-monitor-period: a duration of at least 1s is expected, not \"0s\""},
      {"--cluster-monitor-grace-period=long", "--cluster-monitor-grace-period: a duration of at least 1s is expected"},
      {"--controllers=hpaScaleTargetMarker", "--controllers: without \"*\" nothing would be done"},
      {"--max-watches=0", "--max-watches: 0 is not above zero"},
      {"--metrics-bind-address=everywhere", "--metrics-bind-address: "},
      {"--health-probe-bind-address=localhost:http", "--health-probe-bind-address: "}};
  int count = 0;
  for (const auto& [option, sentence] : wrong) {
    const std::string name = "wrong" + std::to_string(++count);
    Process& process = fleet_.serve(name, {option}, false);
    EXPECT_TRUE(eventually([&] { return !process.running(); })) << option;
    EXPECT_NE(fleet_.log_tail(name).find(sentence), std::string::npos) << fleet_.log_tail(name);
  }
}

}  // namespace
}  // namespace shiplog::e2e
