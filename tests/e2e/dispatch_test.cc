// Dispatch of templates to members: conflicts, drift, deletion, Jobs, stopped members. All requests use kubectl, with
// three real members.
#include <string>

#include <gtest/gtest.h>

#include "tests/e2e/three_members.h"

namespace shiplog::e2e {
namespace {

const std::string kDispatchedMaps = "/api/v1/namespaces/default/configmaps/";

class Dispatch : public ThreeMembers {
 protected:
  static std::string config_map(const std::string& name, const std::string& text) {
    return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {text: \"" + text + "\"}\n---\n";
  }
  static std::string config_policy(const std::string& name, const std::string& clusters, const std::string& more = "") {
    return "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: " + name +
           "}\nspec:\n  resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: " + name +
           "}]\n  placement: {clusterAffinity: {clusterNames: [" + clusters + "]}}\n" + more + "---\n";
  }
  std::string text(const std::string& member, const std::string& name) {
    return fleet_.api(member).get(kDispatchedMaps + name).json["data"]["text"].str();
  }
};

TEST_F(Dispatch, ExistingObjectsAreKeptUnlessThePolicyOverwrites_E_7_B_15) {  // E-12
  fleet_.kubectl_ok({"create", "configmap", "mine", "--from-literal=text=local"}, {}, "member1");
  apply(config_map("mine", "fleet") + config_policy("mine", "member1, member2"));
  expect_holders(kDispatchedMaps + "mine", "member1 member2");
  EXPECT_TRUE(eventually([&] {
    const std::string applied = fleet_.kubectl_ok(
        {"get", "works", "-n", "karmada-es-member1", "-o",
         R"(jsonpath={.items[?(@.metadata.annotations.resourcebinding\.karmada\.io/name=="mine-configmap")].status.conditions[?(@.type=="Applied")].status})"});
    return applied == "False";
  }));
  EXPECT_EQ(text("member1", "mine"), "local");
  EXPECT_EQ(text("member2", "mine"), "fleet");
  patch("propagationpolicy", "mine", R"({"spec":{"conflictResolution":"Overwrite"}})");
  EXPECT_TRUE(eventually([&] { return text("member1", "mine") == "fleet"; })) << text("member1", "mine");
}

TEST_F(Dispatch, ChangesInAMemberAreRevertedAndAdditionsAreKept_E_13) {  // E-15
  apply(config_map("shared", "right") + config_policy("shared", "member1, member2, member3"));
  expect_holders(kDispatchedMaps + "shared", "member1 member2 member3");
  fleet_.kubectl_ok({"annotate", "configmap", "shared", "local/note=kept"}, {}, "member1");
  fleet_.kubectl_ok({"patch", "configmap", "shared", "--type=merge", "-p", R"({"data":{"text":"wrong"}})"}, {},
                    "member1");
  fleet_.kubectl_ok({"delete", "configmap", "shared"}, {}, "member2");
  EXPECT_TRUE(eventually([&] { return text("member1", "shared") == "right"; })) << text("member1", "shared");
  expect_holders(kDispatchedMaps + "shared", "member1 member2 member3");
  EXPECT_EQ(fleet_.kubectl_ok({"get", "configmap", "shared", "-o", R"(jsonpath={.metadata.annotations.local/note})"},
                              {}, "member1"),
            "kept");
}

TEST_F(Dispatch, ADeletedTemplateIsDeletedInMembersUnlessItIsPreserved_E_15_B_24) {  // D-40, E-20
  apply(config_map("goes", "x") + config_policy("goes", "member1, member2") + config_map("stays", "x") +
        config_policy("stays", "member1, member2", "  preserveResourcesOnDeletion: true\n"));
  expect_holders(kDispatchedMaps + "goes", "member1 member2");
  expect_holders(kDispatchedMaps + "stays", "member1 member2");
  fleet_.kubectl_ok({"delete", "configmap", "goes", "stays"});
  expect_holders(kDispatchedMaps + "goes", "");
  EXPECT_TRUE(eventually([&] {
    return fleet_.kubectl_ok({"get", "rb", "-o", "name"}).empty();
  })) << fleet_.kubectl_ok({"get", "rb", "-o", "name"});
  EXPECT_EQ(holders(kDispatchedMaps + "stays"), "member1 member2");
  EXPECT_EQ(fleet_.kubectl_ok({"get", "configmap", "stays", "-o", R"(jsonpath={.metadata.labels.karmada\.io/managed})"},
                              {}, "member1"),
            "")
      << "no longer managed by the fleet";
}

TEST_F(Dispatch, ADeletedPolicyLeavesObjectsInMembers_D_37_to_D_39) {
  apply(deployment("web") + policy("web", "web", "member1, member2"));
  expect_holders(kDeployment + "web", "member1 member2");
  fleet_.kubectl_ok({"delete", "propagationpolicy", "web"});
  EXPECT_EQ(fleet_.kubectl_ok({"get", "deployment", "web", "-o",
                               R"(jsonpath={.metadata.annotations.propagationpolicy\.karmada\.io/name})"}),
            "");
  EXPECT_EQ(holders(kDeployment + "web"), "member1 member2");
  apply(policy("again", "web", "member3"));
  expect_holders(kDeployment + "web", "member3");
}

TEST_F(Dispatch, AJobsCompletionsAreDividedLikeItsPods_B_10) {
  apply(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: job}
spec:
  resourceSelectors: [{apiVersion: batch/v1, kind: Job, name: job}]
  placement:
    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference:
      {staticWeightList: [{targetCluster: {clusterNames: [member1]}, weight: 1},
                          {targetCluster: {clusterNames: [member2]}, weight: 2}]}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: job}
spec:
  parallelism: 6
  completions: 10
  template:
    spec: {restartPolicy: Never, containers: [{name: main, image: busybox, command: [sleep, "3600"]}]}
)");
  const auto job = [&](const std::string& member) {
    const Value spec = fleet_.api(member).get("/apis/batch/v1/namespaces/default/jobs/job").json["spec"];
    return std::to_string(spec["parallelism"].as_int()) + " of " + std::to_string(spec["completions"].as_int());
  };
  EXPECT_TRUE(eventually([&] { return job("member1") == "2 of 3" && job("member2") == "4 of 7"; }))  // X-55
      << job("member1") << ", " << job("member2");
}

TEST_F(Dispatch, AStoppedMemberReceivesMissedChangesWhenItReturns_E_1) {  // E-2
  apply(deployment("web") + policy("web", "web", "member1, member2"));
  expect_holders(kDeployment + "web", "member1 member2");
  fleet_.kill("member2");
  fleet_.kubectl_ok({"set", "image", "deployment/web", "main=nginx:1.28"});
  const auto image = [&](const std::string& member) {
    return fleet_.api(member).get(kDeployment + "web").json["spec"]["template"]["spec"]["containers"][0]["image"].str();
  };
  EXPECT_TRUE(eventually([&] { return image("member1") == "nginx:1.28"; })) << image("member1");
  apply(config_map("later", "x") + config_policy("later", "member1"));
  expect_holders(kDispatchedMaps + "later", "member1");  // a stopped member does not delay others

  fleet_.member("member2");  // empty and at a new address: a trial member keeps only its identity
  const std::string address =
      fleet_.kubectl_ok({"config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"}, {}, "member2");
  patch("cluster", "member2", R"({"spec":{"apiEndpoint":")" + address + "\"}}");
  EXPECT_TRUE(eventually([&] { return image("member2") == "nginx:1.28"; })) << image("member2");
}

}  // namespace
}  // namespace shiplog::e2e
