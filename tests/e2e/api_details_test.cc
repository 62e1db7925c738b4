// What Karmada's own clients rely on: times, statuses, namespaces, and members that behave like Kubernetes.
#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/e2e/three_members.h"

namespace shiplog::e2e {
namespace {

using Clock = std::chrono::steady_clock;

class ApiDetails : public ThreeMembers {
 protected:
  std::vector<std::string> options() const override { return {}; }
  std::string get(const std::string& what, const std::string& path) {
    return fleet_.kubectl({"get", what, "-o", "jsonpath={" + path + "}"}).out;
  }
};

TEST_F(ApiDetails, ARebalancerRequestsWithItsOwnTimeEvenInTheSecondOfAPlacement_5_2) {
  apply(deployment("web") + policy("web", "web", "member1"));
  expect_holders(kDeployment + "web", "member1");
  // At once after a placement: of several, some are in the same second.
  for (int round = 0; round < 4; ++round) {
    const std::string name = "again-" + std::to_string(round);
    fleet_.kubectl_ok({"scale", "deployment", "web", "--replicas=" + std::to_string(2 + round)});
    EXPECT_TRUE(eventually([&] { return replicas("web") == "member1:" + std::to_string(2 + round); }));
    apply("apiVersion: apps.karmada.io/v1alpha1\nkind: WorkloadRebalancer\nmetadata: {name: " + name +
          "}\nspec:\n  workloads:\n  - {apiVersion: apps/v1, kind: Deployment, name: web, namespace: default}\n"
          "  - {apiVersion: example.com/v1, kind: Sofa, name: red, namespace: default}\n");
    const std::string rebalancer = "workloadrebalancer/" + name;
    EXPECT_TRUE(eventually([&] { return !get(rebalancer, ".status.finishTime").empty(); }));
    EXPECT_EQ(get(rebalancer, ".status.observedWorkloads[*].result"), "Successful Failed");
    EXPECT_EQ(get(rebalancer, ".status.observedWorkloads[1].reason"), "ReferencedBindingNotFound");
    EXPECT_EQ(get(rebalancer, ".status.observedGeneration"), "1");
    const std::string created = get(rebalancer, ".metadata.creationTimestamp");
    EXPECT_EQ(get("resourcebinding/web-deployment", ".spec.rescheduleTriggeredAt"), created);
    EXPECT_TRUE(eventually([&] {
      return get("resourcebinding/web-deployment", ".status.lastScheduledTime") >= created &&
             get("resourcebinding/web-deployment", ".metadata.annotations.binding\\.shiplog\\.io/reschedule-pending")
                 .empty();
    })) << "it is scheduled afresh";
  }
  apply(
      "apiVersion: apps.karmada.io/v1alpha1\nkind: WorkloadRebalancer\nmetadata: {name: brief}\nspec:\n"
      "  ttlSecondsAfterFinished: 0\n  workloads: [{apiVersion: apps/v1, kind: Deployment, name: web, namespace: "
      "default}]\n");
  EXPECT_TRUE(eventually([&] { return fleet_.kubectl({"get", "workloadrebalancer/brief"}).code != 0; }));
}

TEST_F(ApiDetails, ACycleThatMovesNothingAdvancesTheTimeOfTheLastOne_S_76) {
  apply(deployment("web") + policy("web", "web", "member1, member2"));
  expect_holders(kDeployment + "web", "member1 member2");
  const std::string before = get("resourcebinding/web-deployment", ".status.lastScheduledTime");
  EXPECT_TRUE(eventually([&] {
    fleet_.kubectl_ok({"label", "cluster/member1", "--overwrite", "seen=" + std::to_string(std::rand())});
    return get("resourcebinding/web-deployment", ".status.lastScheduledTime") > before;
  }));
}

TEST_F(ApiDetails, ATerminatingNamespaceIsReadableForFiveSecondsAlsoInMembers_NSP_5) {
  fleet_.kubectl_ok({"create", "namespace", "shop"});
  fleet_.kubectl_ok({"create", "configmap", "settings", "-n", "shop", "--from-literal=a=1"});
  EXPECT_TRUE(eventually([&] { return fleet_.api("member1").get("/api/v1/namespaces/shop").status == 200; }));
  const auto begun = Clock::now();
  fleet_.kubectl_ok({"delete", "namespace", "shop", "--wait=false"});
  fleet_.kubectl_ok({"patch", "configmap", "settings", "-n", "shop", "--type=merge", "-p", R"({"data":{"a":"2"}})"});
  EXPECT_EQ(get("namespace/shop", ".status.phase"), "Terminating");
  EXPECT_TRUE(eventually([&] { return fleet_.kubectl({"get", "namespace", "shop"}).code != 0; }));
  EXPECT_GE(Clock::now() - begun, std::chrono::seconds{5});
  EXPECT_TRUE(eventually([&] { return fleet_.api("member1").get("/api/v1/namespaces/shop").status == 404; }));
}

TEST_F(ApiDetails, ConditionsOfClientsStayInAClustersStatus_CL_28) {
  const std::string clusters = "/apis/cluster.karmada.io/v1alpha1/clusters/member1";
  fleet_.kubectl_ok({"patch", "cluster/member1", "--subresource=status", "--type=json", "-p",
                     R"([{"op":"add","path":"/status/conditions/-","value":{"type":"Mine","status":"True","reason":"",
                         "message":"","lastTransitionTime":"2026-01-02T12:00:00Z"}}])"});
  // The next collection has happened once a new node is counted.
  fleet_.kubectl_ok({"apply", "-f", "-"}, "apiVersion: v1\nkind: Node\nmetadata: {name: extra}\n", "member1");
  EXPECT_TRUE(eventually([&] { return api_->get(clusters).json["status"]["nodeSummary"]["totalNum"].as_int() == 4; }));
  const Value cluster = api_->get(clusters).json;
  EXPECT_EQ(condition_of(cluster, "Mine")["status"].str(), "True") << to_json(cluster["status"]["conditions"]);
  EXPECT_EQ(condition_of(cluster, "Ready")["status"].str(), "True");
}

TEST_F(ApiDetails, TrialMembersAreOrdinaryClusters) {
  // The label that protects a template comes along; the webhook that reads it is the control plane's.
  apply(deployment("web") + policy("web", "web", "member1"));
  fleet_.kubectl_ok({"label", "deployment/web", "resourcetemplate.karmada.io/deletion-protected=Always"});
  EXPECT_TRUE(eventually([&] {
    return fleet_.kubectl({"get", "deployment/web", "--show-labels"}, {}, "member1").says("deletion-protected=Always");
  }));
  const Ran refused = fleet_.kubectl({"delete", "deployment/web"});
  EXPECT_NE(refused.code, 0);
  EXPECT_TRUE(refused.says("This resource is protected")) << refused;
  const std::string uid = fleet_.api("member1").get(kDeployment + "web").json["metadata"]["uid"].str();
  fleet_.kubectl_ok({"delete", "deployment/web", "--wait=false"}, {}, "member1");
  EXPECT_TRUE(eventually([&] {
    const Value now = fleet_.api("member1").get(kDeployment + "web").json;
    return now["metadata"]["uid"].is_string() && now["metadata"]["uid"].str() != uid;
  })) << "it was deleted there, and is dispatched again";

  // Bounds of replicas and of evictions.
  fleet_.kubectl_ok({"create", "deployment", "own", "--image=nginx:1.27", "--replicas=1"}, {}, "member2");
  fleet_.kubectl_ok({"autoscale", "deployment", "own", "--min=3", "--max=5", "--cpu-percent=80"}, {}, "member2");
  EXPECT_TRUE(eventually(
      [&] { return fleet_.api("member2").get(kDeployment + "own").json["status"]["readyReplicas"].as_int() == 3; }));
  fleet_.kubectl_ok({"create", "poddisruptionbudget", "own", "--selector=app=own", "--min-available=3"}, {}, "member2");
  EXPECT_TRUE(eventually([&] {
    return fleet_
               .kubectl({"get", "pdb/own", "-o", "jsonpath={.status.currentHealthy}/{.status.disruptionsAllowed}"}, {},
                        "member2")
               .out == "3/0";
  }));
  fleet_.kubectl_ok({"create", "deployment", "missing", "--image=fake/nginx:1"}, {}, "member2");
  EXPECT_TRUE(eventually([&] {
    return fleet_.kubectl({"get", "pods", "-l", "app=missing"}, {}, "member2").says("ImagePullBackOff");
  }));
}

TEST_F(ApiDetails, SuspensionOfAllAndOfSomeIsRefusedInUpstreamsWords_5_1_1) {
  const Ran refused =
      fleet_.kubectl({"apply", "-f", "-"},
                     policy("web", "web", "member1",
                            "  suspension: {dispatching: true, dispatchingOnClusters: {clusterNames: [member1]}}\n"));
  EXPECT_NE(refused.code, 0);
  EXPECT_TRUE(refused.says("suspension dispatching cannot co-exist with dispatchingOnClusters.clusterNames"))
      << refused;
}

}  // namespace
}  // namespace shiplog::e2e
