// A fleet that holds objects of features which are off by default: nothing moves, and nothing is refused.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/e2e/three_members.h"

namespace shiplog::e2e {
namespace {

class DormantFeatures : public ThreeMembers {
 protected:
  std::vector<std::string> options() const override { return {}; }

  std::string targets(const std::string& binding) {
    std::string names;
    const Value found = api_->get(kBindings + binding).json;
    for (const Value& target : found["spec"]["clusters"].items()) {
      names += (names.empty() ? "" : " ") + target["name"].str() + ":" + std::to_string(target["replicas"].as_int());
    }
    return names;
  }
  /// All roles have taken in what was written until now.
  void settle() {
    apply(deployment("probe") + policy("probe", "probe", "member3"));
    expect_holders(kDeployment + "probe", "member3");
    fleet_.kubectl_ok({"delete", "deployment/probe", "propagationpolicy/probe"});
    expect_holders(kDeployment + "probe", "");
  }
};

const std::string kTaintPolicy = R"(apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: dormant}
spec:
  addOnConditions: [{conditionType: Ready, operator: In, statusValues: ["True"]}]
  taints: [{key: ready, effect: NoSchedule}]
---
)";
const std::string kQuota = R"(apiVersion: policy.karmada.io/v1alpha1
kind: FederatedResourceQuota
metadata: {name: status-only, namespace: default}
spec: {overall: {cpu: 1m}}
---
)";

TEST_F(DormantFeatures, MoveAndRefuseNothing) {  // Q-3, TN-4, 3.3.1
  std::string web = deployment("web");
  const std::string image = "image: \"nginx:1.27\"";
  web.insert(web.find(image) + image.size(), ", resources: {requests: {cpu: 100m}}");
  apply(web + policy("web", "web", "member1"));
  expect_holders(kDeployment + "web", "member1");

  patch("cluster", "member1", R"({"spec":{"taints":[{"key":"fire","effect":"NoExecute"}]}})");
  apply(kTaintPolicy + kQuota + policy("taker", "web", "member2", "  preemption: Always\n  priority: 9\n"));
  settle();
  EXPECT_EQ(targets("web-deployment"), "member1:1");
  EXPECT_EQ(holders(kDeployment + "web"), "member1");
  const Value binding = api_->get(kBindings + "web-deployment").json;
  EXPECT_TRUE(binding["spec"]["gracefulEvictionTasks"].is_null()) << to_json(binding);
  EXPECT_EQ(
      to_json(api_->get("/apis/cluster.karmada.io/v1alpha1/clusters/member1").json["spec"]["taints"]).find("ready"),
      std::string::npos);

  fleet_.kubectl_ok({"scale", "deployment", "web", "--replicas=3"});
  EXPECT_TRUE(eventually([&] { return targets("web-deployment") == "member1:3"; })) << "no quota refuses it";
  EXPECT_TRUE(eventually([&] {
    const Value quota =
        api_->get("/apis/policy.karmada.io/v1alpha1/namespaces/default/federatedresourcequotas/status-only").json;
    return quota["status"]["overallUsed"]["cpu"].as_string() == "300m";
  })) << "its usage is reported";

  const Ran refused = fleet_.kubectl({"apply", "-f", "-"}, R"(apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: evicting}
spec:
  taints: [{key: away, effect: NoExecute}]
)");
  EXPECT_NE(refused.code, 0);
  EXPECT_TRUE(refused.says("Configuring taint with NoExecute effect is not allowed")) << refused;
}

TEST_F(DormantFeatures, ActOnceTheyAreSwitchedOn) {  // TN-16, 3.3.1
  apply(deployment("web") + policy("web", "web", "member1, member2"));
  expect_holders(kDeployment + "web", "member1 member2");
  patch("cluster", "member1", R"({"spec":{"taints":[{"key":"fire","effect":"NoExecute"}]}})");
  settle();
  EXPECT_EQ(holders(kDeployment + "web"), "member1 member2");
  fleet_.kill("plane");
  fleet_.serve("plane", {"--feature-gates=Failover=true", "--enable-no-execute-taint-eviction"});
  api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  expect_holders(kDeployment + "web", "member2");
}

TEST_F(DormantFeatures, AStartScriptOfUpstreamWorksOrEndsWithASentence) {  // CL-26
  fleet_.kill("plane");
  fleet_.serve("plane", {"--kubeconfig=/etc/karmada.config", "--leader-elect",
                         "--leader-elect-resource-namespace=karmada-system", "--cluster-status-update-frequency=10s",
                         "--cluster-monitor-grace-period=40s", "--concurrent-work-syncs=20", "--kube-api-qps=200",
                         "--enable-pprof=false", "--v=4",
                         "--feature-gates=AllAlpha=false,PropagateDeps=true,MultiClusterService=false",
                         "--failover-eviction-timeout=30s"});
  api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  EXPECT_EQ(api_->get("/readyz", "text/plain").status, 200);
  const auto error_of = [&](const std::string& option) {
    return run({SHIPLOG_BUILT "/shiplogd", "serve", "--data-dir=" + fleet_.path("none"), option}, {}, "", kPatience);
  };
  EXPECT_TRUE(error_of("--cluster-failure-threshold=5m").says("--cluster-failure-threshold: it is always 30s here"));
  EXPECT_TRUE(error_of("--feature-gates=PropagateDeps=false").says("dependencies follow wherever"));
}

}  // namespace
}  // namespace shiplog::e2e
