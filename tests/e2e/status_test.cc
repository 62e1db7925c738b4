// Collection of status, and kinds without a compiled-in interpreter. All requests use kubectl, with three real members.
#include <string>

#include <gtest/gtest.h>

#include "events/base/ascii.h"
#include "tests/e2e/three_members.h"

namespace shiplog::e2e {
namespace {

class Status : public ThreeMembers {
 protected:
  /// A definition in the control plane and, by a policy, in all members.
  void define(const std::string& group, const std::string& version, const std::string& kind,
              const std::string& plural) {
    const std::string singular = lower_case(kind);
    const std::string name = plural + "." + group;
    apply("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: " + name +
          "}\nspec:\n  group: " + group + "\n  scope: Namespaced\n  names: {kind: " + kind + ", plural: " + plural +
          ", singular: " + singular + "}\n  versions:\n  - name: " + version +
          "\n    served: true\n    storage: true\n    subresources: {status: {}}\n    schema: {openAPIV3Schema: {type: "
          "object, x-kubernetes-preserve-unknown-fields: true}}\n---\n"
          "apiVersion: policy.karmada.io/v1alpha1\nkind: ClusterPropagationPolicy\nmetadata: {name: " +
          singular +
          "}\nspec:\n  resourceSelectors: [{apiVersion: apiextensions.k8s.io/v1, kind: "
          "CustomResourceDefinition, name: " +
          name + "}]\n  placement: {}\n");
    for (const std::string& member : kMembers) {
      EXPECT_TRUE(eventually([&] {
        return fleet_.api(member).get("/apis/" + group + "/" + version + "/" + plural).status == 200;
      })) << member
          << " does not serve " << plural;
      // A workload that is placed before a cluster reports the kind is not placed there (S-20), and does not move
      // (S-14).
      EXPECT_TRUE(eventually([&] {
        return on("plane", "cluster/" + member, ".status.apiEnablements[*].groupVersion").find(group + "/" + version) !=
               std::string::npos;
      })) << member
          << " is not known to serve " << plural;
    }
  }
  /// Writes a status in a member, like a controller of that kind.
  void report(const std::string& member, const std::string& object, const std::string& status) {
    fleet_.kubectl_ok({"patch", object.substr(0, object.find('/')), object.substr(object.find('/') + 1),
                       "--subresource=status", "--type=merge", "-p", R"({"status":)" + status + "}"},
                      {}, member);
  }
  std::string on(const std::string& process, const std::string& object, const std::string& path) {
    const Ran ran = fleet_.kubectl({"get", object, "-o", "jsonpath={" + path + "}"}, {}, process);
    return ran.ok() ? ran.out : "";
  }
  void expect_on(const std::string& process, const std::string& object, const std::string& path,
                 const std::string& wanted) {
    EXPECT_TRUE(eventually([&] { return on(process, object, path) == wanted; }))
        << object << " " << path << " is \"" << on(process, object, path) << "\" instead of \"" << wanted << "\"";
  }
};

TEST_F(Status, ADeploymentsCountsAreAddedUpAndItsGenerationIsObservedByAll_T_11_T_13) {
  apply(deployment("web") + policy("web", "web", "member1, member2"));
  expect_on("plane", "deployment/web", ".status.readyReplicas", "2");
  fleet_.kubectl_ok({"scale", "deployment/web", "--replicas=3"});
  expect_on("plane", "deployment/web", ".status.availableReplicas", "6");
  const std::string generation = on("plane", "deployment/web", ".metadata.generation");
  expect_on("plane", "deployment/web", ".status.observedGeneration", generation);
  fleet_.kubectl_ok({"rollout", "status", "deployment/web", "--timeout=50s"});
  expect_on("plane", "rb/web-deployment", ".status.aggregatedStatus[*].health", "Healthy Healthy");
  EXPECT_EQ(on("plane", "rb/web-deployment", ".status.aggregatedStatus[*].clusterName"), "member1 member2");
  EXPECT_TRUE(fleet_.kubectl({"wait", "rb/web-deployment", "--for=condition=FullyApplied", "--timeout=50s"}).ok());
}

TEST_F(Status, ThirdPartyKindsAreInterpretedAsUpstream_L_23) {
  define("apps.kruise.io", "v1alpha1", "CloneSet", "clonesets");
  apply(R"(
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: web}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "nginx:1.27"}]}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web}
spec:
  resourceSelectors: [{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, name: web}]
  placement:
    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference:
      {staticWeightList: [{targetCluster: {clusterNames: [member1]}, weight: 2},
                          {targetCluster: {clusterNames: [member2]}, weight: 3}]}}
)");
  const std::string kind = "clonesets.apps.kruise.io/web";
  expect_on("member1", kind, ".spec.replicas", "2");
  expect_on("member2", kind, ".spec.replicas", "3");
  for (const auto& [member, replicas] : {std::pair{"member1", "2"}, std::pair{"member2", "3"}}) {
    const std::string generation = on(member, kind, ".metadata.generation");
    report(member, kind,
           R"({"replicas":)" + std::string{replicas} + R"(,"readyReplicas":)" + replicas + R"(,"availableReplicas":)" +
               replicas + R"(,"updatedReplicas":)" + replicas + R"(,"observedGeneration":)" + generation + "}");
  }
  expect_on("plane", kind, ".status.readyReplicas", "5");
  // Generations of members' objects do not matter: the template's generation is observed once every member reports it.
  expect_on("plane", kind, ".status.observedGeneration", on("plane", kind, ".metadata.generation"));
}

TEST_F(Status, ACustomizationInterpretsAKind_L_5_to_L_17) {
  define("example.org", "v1", "Farm", "farms");
  apply(R"(
apiVersion: config.karmada.io/v1alpha1
kind: ResourceInterpreterCustomization
metadata: {name: farm}
spec:
  target: {apiVersion: example.org/v1, kind: Farm}
  customizations:
    replicaResource:
      luaScript: |
        function GetReplicas(obj)
          return obj.spec.size, {resourceRequest = {cpu = "1"}}
        end
    replicaRevision:
      luaScript: |
        function ReviseReplica(obj, replica)
          obj.spec.size = replica
          return obj
        end
    healthInterpretation:
      luaScript: |
        function InterpretHealth(obj)
          return obj.status ~= nil and obj.status.ripe == obj.spec.size
        end
    statusAggregation:
      luaScript: |
        function AggregateStatus(obj, items)
          local ripe = 0
          for _, item in ipairs(items) do
            if item.status ~= nil and item.status.ripe ~= nil then ripe = ripe + item.status.ripe end
          end
          obj.status = {ripe = ripe}
          return obj
        end
    dependencyInterpretation:
      luaScript: |
        function GetDependencies(obj)
          return {{apiVersion = "v1", kind = "ConfigMap", namespace = obj.metadata.namespace, name = obj.spec.soil}}
        end
---
apiVersion: v1
kind: ConfigMap
metadata: {name: loam}
data: {ph: "6"}
---
apiVersion: example.org/v1
kind: Farm
metadata: {name: hill}
spec: {size: 7, soil: loam}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: hill}
spec:
  resourceSelectors: [{apiVersion: example.org/v1, kind: Farm, name: hill}]
  propagateDeps: true
  placement:
    clusterAffinity: {clusterNames: [member1, member3]}
    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference:
      {staticWeightList: [{targetCluster: {clusterNames: [member1]}, weight: 3},
                          {targetCluster: {clusterNames: [member3]}, weight: 4}]}}
)");
  expect_on("member1", "farms/hill", ".spec.size", "3");
  expect_on("member3", "farms/hill", ".spec.size", "4");
  expect_holders("/api/v1/namespaces/default/configmaps/loam", "member1 member3");
  report("member1", "farms/hill", R"({"ripe":3})");
  report("member3", "farms/hill", R"({"ripe":1})");
  expect_on("plane", "farms/hill", ".status.ripe", "4");
  expect_on("plane", "rb/hill-farm", ".status.aggregatedStatus[*].health", "Healthy Unhealthy");
  // A script that does not end, or accesses the system, does no harm: it is refused, or fails with an error message.
  const Ran refused =
      fleet_.kubectl({"patch", "resourceinterpretercustomization", "farm", "--type=merge", "-p",
                      R"({"spec":{"customizations":{"healthInterpretation":{"luaScript":"function (("}}}})"});
  EXPECT_FALSE(refused.ok());
  EXPECT_NE(refused.err.find("luaScript"), std::string::npos) << refused.err;
}

}  // namespace
}  // namespace shiplog::e2e
