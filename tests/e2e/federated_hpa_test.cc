// A FederatedHPA scales by what real members measure, and the journal says why.
#include <string>

#include <gtest/gtest.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kDeployments = "/apis/apps/v1/namespaces/default/deployments/";
const std::string kAutoscalers = "/apis/autoscaling.karmada.io/v1alpha1/namespaces/default/federatedhpas/";

/// Each pod requests 100 MiB of memory, and the pods of a cluster use 300 MiB together: three pods there are enough.
constexpr const char* kWorkload = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: {member.shiplog.io/memory-usage: 300Mi}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "nginx:1.27", resources: {requests: {memory: 100Mi}}}]}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement: {replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}
)";

constexpr const char* kAutoscaler = R"(
apiVersion: autoscaling.karmada.io/v1alpha1
kind: FederatedHPA
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 1
  maxReplicas: 12
  metrics:
  - {type: Resource, resource: {name: memory, target: {type: Utilization, averageUtilization: 100}}}
  behavior:
    scaleUp: {policies: [{type: Pods, value: 20, periodSeconds: 15}]}
    scaleDown: {stabilizationWindowSeconds: 0}
)";

class FederatedHpa : public ::testing::Test {
 protected:
  FederatedHpa() {
    fleet_.serve();
    for (const char* member : {"member1", "member2"}) fleet_.join(member);
    fleet_.kubectl_ok({"apply", "-f", "-"}, kWorkload);
    expect_ready(1);
  }
  /// That many pods run in each member.
  void expect_ready(int64_t pods) {
    for (const char* member : {"member1", "member2"}) {
      EXPECT_TRUE(eventually([&] {
        return fleet_.api(member).get(kDeployments + "web").json["status"]["readyReplicas"].as_int() == pods;
      })) << member;
    }
  }
  void expect_replicas(int64_t replicas) {
    const ApiClient api = fleet_.api();
    EXPECT_TRUE(eventually([&] { return api.get(kDeployments + "web").json["spec"]["replicas"].as_int() == replicas; }))
        << api.get(kAutoscalers + "web").body;
  }
  Fleet fleet_;
};

TEST_F(FederatedHpa, ScalesOverAllMembersAndTheJournalSaysWhy_5_8_1_5_8_5_5_8_7) {
  fleet_.kubectl_ok({"apply", "-f", "-"}, kAutoscaler);
  expect_replicas(6);
  const ApiClient api = fleet_.api();
  EXPECT_TRUE(eventually([&] {
    return !fleet_
                .kubectl_ok({"get", "events", "--field-selector=reason=SuccessfulRescale", "-o",
                             "jsonpath={.items[*].message}"})
                .empty();
  }));
  EXPECT_EQ(fleet_.kubectl_ok(
                {"get", "events", "--field-selector=reason=SuccessfulRescale", "-o", "jsonpath={.items[*].message}"}),
            "New size: 6; reason: memory resource utilization (percentage of request) above target");
  const std::string history = fleet_.shiplogctl_ok({"history", "fhpa/web"});
  EXPECT_NE(history.find("federated-hpa"), std::string::npos) << history;
  expect_ready(3);
  // Less is used: the change of the FederatedHPA makes it look at once.
  fleet_.kubectl_ok({"annotate", "--overwrite", "deployment/web", "member.shiplog.io/memory-usage=100Mi"});
  for (const char* member : {"member1", "member2"}) {
    EXPECT_TRUE(eventually([&] {
      return fleet_.api(member)
                 .get(kDeployments + "web")
                 .json["metadata"]["annotations"]["member.shiplog.io/memory-usage"]
                 .as_string() == "100Mi";
    })) << member;
  }
  fleet_.kubectl_ok({"patch", "fhpa/web", "--type=merge", "-p", R"({"spec":{"maxReplicas":11}})"});
  expect_replicas(2);
  fleet_.kubectl_ok({"patch", "fhpa/web", "--type=merge", "-p", R"({"spec":{"minReplicas":4}})"});
  expect_replicas(4);
  expect_replay_equals(fleet_, api, "sqlite:" + fleet_.path("plane/journal.db"));
}

}  // namespace
}  // namespace shiplog::e2e
