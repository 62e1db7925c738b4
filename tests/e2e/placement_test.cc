// Placement that depends on other workloads or on sets of pods, with kubectl and three real members: affinity groups,
// workloads with several pod templates, overcommit protection.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/e2e/three_members.h"

namespace shiplog::e2e {
namespace {

class WorkloadPlacement : public ThreeMembers {
 protected:
  void restart_with(const std::string& gates) { restart({"--feature-gates=" + gates}); }
  void restart(const std::vector<std::string>& options) {
    fleet_.kill("plane");
    fleet_.serve("plane", options);
    api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  }

  static std::string deployment(const std::string& name, const std::string& labels, const std::string& cpu = "10m") {
    return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: " + name + ", labels: {" + labels +
           "}}\nspec:\n  replicas: 1\n  selector: {matchLabels: {run: " + name +
           "}}\n  template:\n    metadata: {labels: {run: " + name +
           "}}\n    spec:\n      containers:\n      - {name: main, image: nginx, resources: {requests: {cpu: " + cpu +
           "}}}\n---\n";
  }
  static std::string policy(const std::string& name, const std::string& placement, const std::string& more = "",
                            const std::string& kind = "apps/v1, kind: Deployment") {
    return "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: " + name +
           "}\nspec:\n  resourceSelectors: [{apiVersion: " + kind + ", name: " + name + "}]\n  placement: {" +
           placement + "}\n" + more + "---\n";
  }
  std::string targets(const std::string& binding) {
    std::string names;
    const Value found = api_->get(kBindings + binding).json;
    for (const Value& target : found["spec"]["clusters"].items()) {
      names += (names.empty() ? "" : " ") + target["name"].str();
    }
    return names;
  }
  void expect_targets(const std::string& binding, const std::string& wanted) {
    EXPECT_TRUE(eventually([&] { return targets(binding) == wanted; })) << api_->get(kBindings + binding);
  }
  void expect_refused(const std::string& binding, const std::string& message) {
    EXPECT_TRUE(eventually([&] {
      const Value found = api_->get(kBindings + binding).json;
      for (const Value& condition : found["status"]["conditions"].items()) {
        if (condition["message"].as_string().find(message) != std::string_view::npos) return true;
      }
      return false;
    })) << api_->get(kBindings + binding);
  }
};

TEST_F(WorkloadPlacement, AffinityGroupsStayTogetherOrApart_M_10_to_M_13_D_29) {
  const std::string with = "workloadAffinity: {affinity: {groupByLabelKey: app}}";
  const std::string without = "workloadAffinity: {antiAffinity: {groupByLabelKey: tier}}";
  apply(deployment("one", "app: shop, tier: db") +
        policy("one",
               "clusterAffinity: {clusterNames: [member1]}, workloadAffinity: {affinity: {groupByLabelKey: "
               "app}, antiAffinity: {groupByLabelKey: tier}}"));
  expect_targets("one-deployment", "member1");
  EXPECT_EQ(to_json(api_->get(kBindings + "one-deployment").json["spec"]["workloadAffinityGroups"]),
            R"({"affinityGroup":"app=shop","antiAffinityGroup":"tier=db"})");

  apply(deployment("two", "app: shop") + policy("two", with) + deployment("three", "tier: db") +
        policy("three", without) + deployment("alone", "app: bank") + policy("alone", with));
  expect_targets("two-deployment", "member1");
  expect_targets("three-deployment", "member2 member3");
  expect_targets("alone-deployment", "member1 member2 member3");
  for (const std::string& member : kMembers) {
    EXPECT_TRUE(eventually([&] {
      return (fleet_.api(member).get(kDeployment + "two").status == 200) == (member == "member1") &&
             (fleet_.api(member).get(kDeployment + "three").status == 200) == (member != "member1");
    })) << member;
  }

  const std::string why = fleet_.shiplogctl_ok({"why", "deployment/two", "--cluster", "member2"});
  EXPECT_NE(why.find("ResourceBinding with the same affinity group does not target this cluster"), std::string::npos)
      << why;
  EXPECT_NE(why.find("place one-deployment on cluster member2 too: it stays with them (app=shop)"), std::string::npos)
      << why;

  // A workload without a feasible cluster waits until another one of the group is deleted.
  apply(deployment("four", "tier: db") + policy("four", "clusterAffinity: {clusterNames: [member1]}, " + without));
  expect_refused("four-deployment", "cluster already has workload with the same anti-affinity group");
  const std::string refused = fleet_.shiplogctl_ok({"why", "deployment/four", "--cluster", "member1"});
  EXPECT_NE(refused.find("move one-deployment off cluster member1"), std::string::npos) << refused;
  fleet_.kubectl_ok({"delete", "deployment", "one", "--timeout=50s"});
  expect_targets("four-deployment", "member1");
  expect_targets("two-deployment", "member1");
}

const std::string kFlinkDefinition = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: flinkdeployments.flink.apache.org}
spec:
  group: flink.apache.org
  names: {kind: FlinkDeployment, plural: flinkdeployments, singular: flinkdeployment}
  scope: Namespaced
  versions:
  - name: v1beta1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)";
std::string flink(const std::string& name) {
  return "apiVersion: flink.apache.org/v1beta1\nkind: FlinkDeployment\nmetadata: {name: " + name + R"(}
spec:
  jobManager: {replicas: 1, resource: {cpu: 0.5, memory: 1Gi}}
  taskManager: {replicas: 2, resource: {cpu: 0.5, memory: 1Gi}}
---
)";
}

TEST_F(WorkloadPlacement, AWorkloadWithSeveralPodTemplatesIsPlacedWholeWhereASetFits_M_1_to_M_6_D_28) {
  apply(kFlinkDefinition);
  for (const std::string& member : kMembers) fleet_.kubectl_ok({"apply", "-f", "-"}, kFlinkDefinition, member);
  const std::string one_cluster = "spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]";
  // A member's node has 8 cpus and 16Gi, which counts as 2 cpus and 16Gi in the default grades. With seven of the
  // cpus in use it counts as 1: a set that requests one and a half does not fit there.
  apply(deployment("busy", "run: busy", "7") + policy("busy", "clusterAffinity: {clusterNames: [member1]}"));
  EXPECT_TRUE(eventually([&] {
    const Value found = api_->get("/apis/cluster.karmada.io/v1alpha1/clusters/member1").json;
    return found["status"]["resourceSummary"]["allocated"]["cpu"].str().starts_with("7");
  })) << api_->get("/apis/cluster.karmada.io/v1alpha1/clusters/member1");
  EXPECT_TRUE(eventually(
      [&] { return api_->get("/apis/flink.apache.org/v1beta1/namespaces/default/flinkdeployments").status == 200; }));
  const std::string kind = "flink.apache.org/v1beta1, kind: FlinkDeployment";

  restart_with("MultiplePodTemplatesScheduling=true");
  apply(flink("job") + policy("job", one_cluster, "", kind));
  EXPECT_TRUE(eventually([&] {
    return to_json(api_->get(kBindings + "job-flinkdeployment").json["spec"]["clusters"]) ==
           R"([{"components":[{"name":"jobmanager","replicas":1},{"name":"taskmanager","replicas":2}],)"
           R"("name":"member2"}])";
  })) << api_->get(kBindings + "job-flinkdeployment");
  const std::string path = "/apis/flink.apache.org/v1beta1/namespaces/default/flinkdeployments/job";
  EXPECT_TRUE(eventually([&] { return fleet_.api("member2").get(path).status == 200; }));
  EXPECT_EQ(fleet_.api("member2").get(path).json["spec"]["taskManager"]["replicas"].as_int(), 2)
      << "as in the template";
  EXPECT_EQ(fleet_.api("member1").get(path).status, 404);
  const std::string why = fleet_.shiplogctl_ok({"why", "flinkdeployment/job", "--cluster", "member1"});
  EXPECT_NE(why.find("make room for one more set of its components in cluster member1"), std::string::npos) << why;

  // Gates apply to the fleet: a process without the option leaves them unchanged, a process with other values changes
  // them.
  restart({});
  apply(flink("next") + policy("next", one_cluster, "", kind));
  EXPECT_TRUE(eventually([&] {
    return api_->get(kBindings + "next-flinkdeployment").json["spec"]["components"].size() == 2;
  })) << api_->get(kBindings + "next-flinkdeployment");
  restart_with("MultiplePodTemplatesScheduling=false");
  EXPECT_TRUE(eventually([&] {
    const Value spec = api_->get(kBindings + "next-flinkdeployment").json["spec"];
    return spec["replicas"].as_int() == 3 && spec["components"].is_null();
  })) << api_->get(kBindings + "next-flinkdeployment");
}

TEST_F(WorkloadPlacement, ReservedCapacityIsNotAssignedTwice_M_8_M_9) {
  restart_with("SchedulingOvercommitProtection=true");
  const std::string few = "replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}";
  // A member's node counts as one with 2 cpus (grade 2). Placed workloads are not dispatched, so members do not report
  // them.
  apply(deployment("first", "run: first", "2") + policy("first", few, "  suspension: {dispatching: true}\n"));
  expect_targets("first-deployment", "member1");
  apply(deployment("second", "run: second", "2") + policy("second", few, "  suspension: {dispatching: true}\n"));
  expect_targets("second-deployment", "member2");
  Process& wrong = fleet_.serve("wrong", {"--feature-gates=Teleportation=true"}, false);
  EXPECT_TRUE(eventually([&] { return !wrong.running(); }));
  EXPECT_NE(fleet_.log_tail("wrong").find("there is no feature gate \"Teleportation\"; there are: "), std::string::npos)
      << fleet_.log_tail("wrong");
  restart_with("SchedulingOvercommitProtection=false");
  apply(deployment("third", "run: third", "2") + policy("third", few, "  suspension: {dispatching: true}\n"));
  expect_targets("third-deployment", "member1");
}

}  // namespace
}  // namespace shiplog::e2e
