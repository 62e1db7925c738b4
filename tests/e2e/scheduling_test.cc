// The clusters that a template is placed on, and its replicas there. All requests use kubectl, with three real members.
#include <algorithm>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "tests/e2e/three_members.h"

namespace shiplog::e2e {
namespace {

class Scheduling : public ThreeMembers {
 protected:
  void scale(const std::string& deployment, int replicas) {
    fleet_.kubectl_ok({"scale", "deployment/" + deployment, "--replicas=" + std::to_string(replicas)});
  }
  /// The number of clusters in "member1:2 member3:1".
  static size_t clusters_in(const std::string& replicas) {
    return static_cast<size_t>(std::count(replicas.begin(), replicas.end(), ':'));
  }
  static int sum_of(const std::string& replicas) {
    int sum = 0;
    for (size_t position = replicas.find(':'); position != std::string::npos;
         position = replicas.find(':', position + 1)) {
      sum += std::atoi(replicas.c_str() + position + 1);
    }
    return sum;
  }
};

TEST_F(Scheduling, StaticWeightsDivideEveryCountAnew_S_46_S_47_S_50) {
  apply(deployment("web") + placed("web", "web", R"({clusterAffinity: {clusterNames: [member1, member2]},
    replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference:
    {staticWeightList: [{targetCluster: {clusterNames: [member1]}, weight: 1},
                        {targetCluster: {clusterNames: [member2]}, weight: 2}]}}})"));
  scale("web", 6);
  expect_replicas("web", "member1:2 member2:4");
  scale("web", 3);
  expect_replicas("web", "member1:1 member2:2");
  scale("web", 12);
  expect_replicas("web", "member1:4 member2:8");
  const std::string why = fleet_.shiplogctl_ok({"why", "deployment/web"});
  EXPECT_NE(why.find("member2"), std::string::npos) << why;
  EXPECT_NE(why.find("weight"), std::string::npos) << why;
}

TEST_F(Scheduling, AggregatedUsesFewClustersAndDynamicWeightsFollowCapacity_S_53_S_56) {
  // A node with 8 CPU and 16 GiB is in a grade that counts as 2 CPU: one pod with 1.5 on each, three in a member (S-66
  // to S-70).
  apply(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: big}
spec:
  replicas: 2
  selector: {matchLabels: {app: big}}
  template:
    metadata: {labels: {app: big}}
    spec: {containers: [{name: main, image: "nginx:1.27", resources: {requests: {cpu: 1500m}}}]}
---
)" + placed("big", "big",
            R"({replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Aggregated}})"));
  EXPECT_TRUE(eventually([&] { return clusters_in(replicas("big")) == 1; })) << replicas("big");
  scale("big", 6);  // four more: more than one cluster has capacity for; the current cluster comes first
  EXPECT_TRUE(eventually([&] { return clusters_in(replicas("big")) == 2; })) << replicas("big");
  patch("propagationpolicy", "big",
        R"({"spec":{"placement":{"replicaScheduling":{"replicaDivisionPreference":"Weighted",
      "weightPreference":{"dynamicWeight":"AvailableReplicas"}}}}})");
  scale("big", 10);
  EXPECT_TRUE(eventually([&] { return clusters_in(replicas("big")) == 3; })) << replicas("big");
  // Far more than there is capacity for: the placement is kept, and the binding reports it (S-75).
  const std::string before = replicas("big");
  scale("big", 500);
  EXPECT_TRUE(eventually([&] { return condition("big", "Scheduled").starts_with("False Unschedulable"); }))
      << condition("big", "Scheduled");
  EXPECT_EQ(clusters_in(replicas("big")), clusters_in(before));
  scale("big", 3);
  EXPECT_TRUE(eventually([&] { return condition("big", "Scheduled").starts_with("True Success"); }))
      << condition("big", "Scheduled");
}

TEST_F(Scheduling, AffinityByLabelFieldAndExclusionFollowsTheClusters_S_15_S_16) {
  fleet_.kubectl_ok({"label", "cluster", "member1", "member2", "env=prod"});
  patch("cluster", "member3", R"({"spec":{"region":"eu","provider":"acme"}})");
  apply(deployment("labels") + deployment("fields") + deployment("others") +
        placed("labels", "labels", "{clusterAffinity: {labelSelector: {matchLabels: {env: prod}}}}") +
        placed("fields", "fields", R"({clusterAffinity: {fieldSelector: {matchExpressions:
        [{key: region, operator: In, values: [eu]}, {key: provider, operator: NotIn, values: [other]}]}}})") +
        placed("others", "others", "{clusterAffinity: {exclude: [member2]}}"));
  expect_holders(kDeployment + "labels", "member1 member2");
  expect_holders(kDeployment + "fields", "member3");
  expect_holders(kDeployment + "others", "member1 member3");
  fleet_.kubectl_ok({"label", "cluster", "member1", "env-"});
  fleet_.kubectl_ok({"label", "cluster", "member3", "env=prod"});
  expect_holders(kDeployment + "labels", "member2 member3");
  const std::string why = fleet_.shiplogctl_ok({"why", "deployment/labels", "--cluster=member1"});
  EXPECT_NE(why.find("env"), std::string::npos) << "the smallest change names the label: " << why;
}

TEST_F(Scheduling, OrderedAffinitiesFallThroughAndReportTheActiveTerm_S_24) {
  apply(deployment("web") + placed("web", "web", R"({clusterAffinities: [
    {affinityName: first, clusterNames: [nowhere]}, {affinityName: second, clusterNames: [member2]},
    {affinityName: third, clusterNames: [member3]}]})"));
  expect_holders(kDeployment + "web", "member2");
  EXPECT_EQ(
      fleet_.kubectl_ok({"get", "rb", "web-deployment", "-o", "jsonpath={.status.schedulerObservingAffinityName}"}),
      "second");
  fleet_.kubectl_ok({"label", "cluster", "member2", "gone=soon"});
  patch("cluster", "member2", R"({"spec":{"taints":[{"key":"closed","effect":"NoExecute"}]}})");
  expect_holders(kDeployment + "web", "member3");
}

TEST_F(Scheduling, SpreadConstraintsByRegionAndClusterOrARefusalThatNamesThem_S_30_to_S_42) {
  patch("cluster", "member1", R"({"spec":{"region":"north"}})");
  patch("cluster", "member2", R"({"spec":{"region":"north"}})");
  patch("cluster", "member3", R"({"spec":{"region":"south"}})");
  apply(deployment("web") + placed("web", "web", R"({spreadConstraints: [
    {spreadByField: region, minGroups: 2, maxGroups: 2}, {spreadByField: cluster, minGroups: 2, maxGroups: 2}]})"));
  EXPECT_TRUE(eventually([&] {
    const std::string where = holders(kDeployment + "web");
    return where == "member1 member3" || where == "member2 member3";
  })) << holders(kDeployment + "web");
  apply(deployment("three") +
        placed("three", "three", R"({spreadConstraints: [{spreadByField: region, minGroups: 3, maxGroups: 3},
                                    {spreadByField: cluster, minGroups: 3, maxGroups: 3}]})"));
  EXPECT_TRUE(eventually([&] { return condition("three", "Scheduled").starts_with("False "); }));
  EXPECT_EQ(holders(kDeployment + "three"), "");
  patch("cluster", "member2", R"({"spec":{"region":"west"}})");
  expect_holders(kDeployment + "three", "member1 member2 member3");
}

TEST_F(Scheduling, TaintsExcludeWorkloadsThatDoNotTolerateThem_S_18) {  // S-19
  patch("cluster", "member1", R"({"spec":{"taints":[{"key":"team","value":"blue","effect":"NoSchedule"}]}})");
  apply(deployment("plain") + deployment("tolerant") + placed("plain", "plain", "{clusterAffinity: {}}") +
        placed("tolerant", "tolerant",
               "{clusterTolerations: [{key: team, operator: Equal, value: blue, effect: NoSchedule}]}"));
  expect_holders(kDeployment + "plain", "member2 member3");
  expect_holders(kDeployment + "tolerant", "member1 member2 member3");
}

TEST_F(Scheduling, SuspendedSchedulingKeepsThePlacementUntilItIsResumed_S_1_S_2_D_26) {
  apply(deployment("web") + policy("web", "web", "member1"));
  expect_holders(kDeployment + "web", "member1");
  patch("rb", "web-deployment", R"({"spec":{"suspension":{"scheduling":true}}})");
  patch("propagationpolicy", "web", R"({"spec":{"placement":{"clusterAffinity":{"clusterNames":["member2"]}}}})");
  EXPECT_TRUE(eventually([&] {
    return api_->get(kBindings + "web-deployment").json["spec"]["placement"]["clusterAffinity"]["clusterNames"][0] ==
           Value{"member2"};
  }));
  apply(deployment("other") + policy("other", "other", "member3"));
  expect_holders(kDeployment + "other", "member3");  // the scheduler places other templates
  EXPECT_EQ(holders(kDeployment + "web"), "member1");
  patch("rb", "web-deployment", R"({"spec":{"suspension":{"scheduling":false}}})");
  expect_holders(kDeployment + "web", "member2");
}

TEST_F(Scheduling, ARebalancerAssignsAStablePlacementAnew_S_11) {  // S-15, REB-7
  patch("cluster", "member3", R"({"spec":{"taints":[{"key":"closed","effect":"NoSchedule"}]}})");
  apply(deployment("web") + placed("web", "web", R"({replicaScheduling: {replicaSchedulingType: Divided,
    replicaDivisionPreference: Weighted, weightPreference: {dynamicWeight: AvailableReplicas}}})"));
  scale("web", 6);
  EXPECT_TRUE(eventually([&] { return sum_of(replicas("web")) == 6; })) << replicas("web");
  EXPECT_EQ(replicas("web").find("member3"), std::string::npos) << replicas("web");
  patch("cluster", "member3", R"({"spec":{"taints":null}})");
  scale("web", 7);  // only what is added may go elsewhere
  EXPECT_TRUE(eventually([&] { return sum_of(replicas("web")) == 7; })) << replicas("web");
  const std::string third = replicas("web");
  EXPECT_TRUE(third.find("member3") == std::string::npos || third.ends_with("member3:1")) << third;
  apply(R"(
apiVersion: apps.karmada.io/v1alpha1
kind: WorkloadRebalancer
metadata: {name: again}
spec: {workloads: [{apiVersion: apps/v1, kind: Deployment, namespace: default, name: web}]}
)");
  EXPECT_TRUE(eventually([&] {
    return api_->get("/apis/apps.karmada.io/v1alpha1/workloadrebalancers/again")
               .json["status"]["observedWorkloads"][0]["result"]
               .as_string() == "Successful";
  }));
  EXPECT_TRUE(eventually([&] {
    const std::string now = replicas("web");
    return sum_of(now) == 7 && clusters_in(now) == 3 && now.find(":1") == std::string::npos;
  })) << replicas("web");
}

}  // namespace
}  // namespace shiplog::e2e
