// What `shiplogctl why` and `history` report about the current state, with three real members.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/e2e/three_members.h"

namespace shiplog::e2e {
namespace {

class CurrentState : public ThreeMembers {
 protected:
  std::string why(const std::string& object) {
    const Ran ran = fleet_.shiplogctl({"why", object});
    return ran.out + ran.err;
  }
  void expect_why(const std::string& object, const std::vector<std::string>& parts) {
    for (const std::string& part : parts) {
      EXPECT_TRUE(eventually([&] { return why(object).find(part) != std::string::npos; })) << part << " is not in\n"
                                                                                           << why(object);
    }
  }
  Value binding(const std::string& name) { return api_->get(kBindings + name).json; }
  size_t evictions(const std::string& name) { return binding(name)["spec"]["gracefulEvictionTasks"].size(); }
  void switches(const std::string& member, const std::string& fields) {
    EXPECT_EQ(fleet_.api(member).put("/member/v1/switches", parse_json(fields).value()).status, 200);
  }
};

TEST_F(CurrentState, WhyReportsWhatDelaysAnObject) {
  apply(deployment("broken") + policy("broken", "broken", "member1, member2"));
  apply(deployment("held") + policy("held", "held", "member1", "  suspension: {dispatching: true}\n"));
  apply(deployment("bent") + policy("bent", "bent", "member1"));
  expect_replicas("bent", "member1:1");
  apply(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: OverridePolicy
metadata: {name: bent}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: bent}]
  overrideRules: [{overriders: {plaintext: [{operator: replace, path: /spec/nothing/here, value: 1}]}}]
---
apiVersion: v1
kind: Pod
metadata: {name: alone}
spec: {containers: [{name: main, image: "fail/alone:1"}]}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: alone}
spec:
  resourceSelectors: [{apiVersion: v1, kind: Pod, name: alone}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
---
apiVersion: v1
kind: Namespace
metadata: {name: left-out, labels: {namespace.karmada.io/skip-auto-propagation: "true"}}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
)");
  fleet_.kubectl_ok({"set", "image", "deployment/broken", "main=fail/broken:1"});
  fleet_.kubectl_ok({"scale", "deployment/broken", "--replicas=2"});
  expect_why("deployment/broken", {"Status and health are read by the native rules", "is Unhealthy",
                                   "the Work reports PodsReady=False", "ImagePullBackOff: pod broken-"});
  expect_why("pod/alone", {"container main waits (ImagePullBackOff: Back-off pulling image \"fail/alone:1\")"});
  expect_why("deployment/held", {"dispatching is suspended for all clusters", "has not been applied yet"});
  expect_why("deployment/bent", {"the present version could not be rendered", "the member keeps what it has"});
  expect_why("namespace/shop", {"it goes to every member of the fleet (3 now)", "In member3:", "is applied"});
  expect_why("namespace/left-out", {"its label namespace.karmada.io/skip-auto-propagation is true"});

  // A taint excludes member3 from the placement and is then removed.
  patch("cluster", "member3", R"({"spec":{"taints":[{"key":"fire","effect":"NoSchedule"}]}})");
  apply(deployment("wide") + placed("wide", "wide", R"({clusterAffinity: {}, replicaScheduling:
    {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}})"));
  fleet_.kubectl_ok({"scale", "deployment/wide", "--replicas=2"});
  expect_replicas("wide", "member1:1 member2:1");
  expect_why("deployment/wide", {"untolerated taint {fire:NoSchedule}", "take the taint"});
  EXPECT_EQ(why("deployment/wide").find("TAKES NOW"), std::string::npos) << why("deployment/wide");
  patch("cluster", "member3", R"({"spec":{"taints":null}})");
  expect_why("deployment/wide", {"untolerated taint {fire:NoSchedule}", "TAKES NOW"});
}

TEST_F(CurrentState, AnOldStatusDoesNotEndAnEviction) {
  apply(deployment("web") + placed("web", "web", R"({clusterAffinity: {clusterNames: [member1, member2]},
    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}})"));
  fleet_.kubectl_ok({"scale", "deployment/web", "--replicas=2"});
  expect_replicas("web", "member1:1 member2:1");
  const auto ready_on = [&](const std::string& member) {
    return fleet_.api(member).get(kDeployment + "web").json["status"]["readyReplicas"].as_int();
  };
  ASSERT_TRUE(eventually([&] { return ready_on("member1") == 1 && ready_on("member2") == 1; }));
  ASSERT_TRUE(eventually([&] {
    const Value binding_now = binding("web-deployment");
    const auto items = binding_now["status"]["aggregatedStatus"].items();
    return items.size() == 2 &&
           std::ranges::all_of(items, [](const Value& item) { return item["health"].as_string() == "Healthy"; });
  }));
  // The new replica in the replacement does not become ready; the existing one is ready and was reported as healthy.
  switches("member2", R"({"readyDelayMs": 3600000})");
  patch("cluster", "member1", R"({"spec":{"taints":[{"key":"fire","effect":"NoExecute"}]}})");
  expect_replicas("web", "member1:1 member2:2");
  ASSERT_TRUE(eventually([&] {
    const Value binding_now = binding("web-deployment");
    const auto items = binding_now["status"]["aggregatedStatus"].items();
    return std::ranges::any_of(items, [](const Value& item) {
      return item["clusterName"].as_string() == "member2" && item["health"].as_string() == "Unhealthy";
    });
  }));
  EXPECT_EQ(evictions("web-deployment"), 1U);
  expect_why("deployment/web",
             {"Being evicted from member1", "TaintUntolerated", "- member2: the object is Unhealthy", "In member1:"});
  switches("member2", R"({"readyDelayMs": 0})");
  EXPECT_TRUE(eventually([&] { return evictions("web-deployment") == 0; })) << why("deployment/web");
  expect_replicas("web", "member2:2");
  expect_why("deployment/web", {"Evictions that have ended:", "from member1: the remaining clusters are healthy"});
}

TEST_F(CurrentState, ADefinitionAndItsObjectsAppliedTogetherReachAllMembers) {
  apply(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterPropagationPolicy
metadata: {name: furniture}
spec:
  resourceSelectors: [{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, name: sofas.example.com}]
  placement: {}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: sofas}
spec:
  resourceSelectors: [{apiVersion: example.com/v1, kind: Sofa}]
  placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}
---
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: sofas}
spec:
  target: {apiVersion: example.com/v1, kind: Sofa}
  customizations:
    replicaResource: {luaScript: "function GetReplicas(o) return o.spec.seats, nil end"}
    replicaRevision: {luaScript: "function ReviseReplica(o, n) o.spec.seats = n return o end"}
    healthInterpretation: {luaScript: "function InterpretHealth(o) return true end"}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: sofas.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Sofa, plural: sofas, singular: sofa}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)");
  apply("apiVersion: example.com/v1\nkind: Sofa\nmetadata: {name: red}\nspec: {seats: 6}\n");
  expect_holders("/apis/example.com/v1/namespaces/default/sofas/red", "member1 member2 member3");
  for (const std::string& member : kMembers) {
    EXPECT_EQ(fleet_.api(member).get("/apis/example.com/v1/namespaces/default/sofas/red").json["spec"]["seats"],
              Value{2})
        << member;
  }
  const auto placements = [&] {
    const Value decisions =
        api_->get("/shiplog/v1/decisions?kind=resourcebinding&namespace=default&name=red-sofa").json["items"];
    return std::ranges::count_if(decisions.items(), [](const Value& item) {
      return item["kind"].as_string() == "PlacementDecided" && item["result"].as_string() == "accepted";
    });
  };
  EXPECT_EQ(placements(), 1) << "divided once, over all members";
  // The kind appears in the members' API lists, which does not change the placement.
  EXPECT_TRUE(eventually([&] {
    const Value clusters = api_->get("/apis/cluster.karmada.io/v1alpha1/clusters").json;
    return std::ranges::all_of(clusters["items"].items(), [](const Value& item) {
      return to_json(item["status"]["apiEnablements"]).find("\"Sofa\"") != std::string::npos;
    });
  }));
  EXPECT_EQ(placements(), 1);
  expect_why("sofa/red", {"Health is judged by ResourceInterpreterCustomization sofas, healthInterpretation",
                          "Status is read by the native rules"});
}

TEST_F(CurrentState, ACascadingDeletionIsCausedByTheDeletionOfTheNamespace) {
  fleet_.kubectl_ok({"create", "namespace", "shop"});
  for (int i = 0; i < 250; ++i) {  // more than one decision can delete
    const Value metadata = Value::object({{"name", "m" + std::to_string(i)}});
    ASSERT_EQ(api_->post("/api/v1/namespaces/shop/configmaps", Value::object({{"metadata", metadata}})).status, 201);
  }
  fleet_.kubectl_ok({"delete", "namespace", "shop"});
  for (const char* name : {"m0", "m99", "m249"}) {
    const Value history =
        parse_json(fleet_.shiplogctl_ok({"history", std::string{"cm/"} + name, "-n", "shop", "-o", "json"})).value();
    const Value& last = history["items"][history["items"].size() - 1];
    EXPECT_EQ(last["operation"].str(), "removed") << name;
    EXPECT_NE(last["why"]["summary"].str().find("because namespaces/shop is deleted"), std::string::npos)
        << to_json(last);
    EXPECT_EQ(last["why"]["causes"][0]["event"].str(), "DeletionRequested") << to_json(last);
    EXPECT_EQ(last["why"]["causes"][0]["object"]["name"].str(), "shop") << to_json(last);
    EXPECT_EQ(last["why"]["causes"][0]["user"].str(), "kubernetes-admin") << to_json(last);
  }
}

TEST_F(CurrentState, ARoleWithoutALeaderAndAnUnreachableMemberAreReported) {
  apply(deployment("web") + policy("web", "web", "member1, member3"));
  expect_replicas("web", "member1:1 member3:1");
  fleet_.kill("member3");
  fleet_.kubectl_ok({"scale", "deployment/web", "--replicas=2"});
  expect_why("deployment/web",
             {"cluster member3 is unreachable since", "of the Work fails since", "connection refused"});
  EXPECT_EQ(why("deployment/web").find("no scheduler is running"), std::string::npos);
  EXPECT_EQ(fleet_.process("plane").terminate(), 0);
  fleet_.serve("plane", {"--roles=api"});
  api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  expect_why("deployment/web", {"no scheduler is running since", "no dispatcher is running since"});
  const Value state = api_->get("/shiplog/v1/state").json;
  EXPECT_TRUE(std::ranges::any_of(state["roles"].items(), [](const Value& item) {
    return item["role"].as_string() == "scheduler" && !item["led"].as_bool();
  })) << to_json(state);
}

}  // namespace
}  // namespace shiplog::e2e
