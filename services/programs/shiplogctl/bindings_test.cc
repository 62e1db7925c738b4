#include "services/programs/shiplogctl/bindings.h"

#include <gtest/gtest.h>

#include "services/programs/shiplogctl/findings.h"
#include "services/programs/shiplogctl/workloads.h"
#include "tests/support/literals.h"

namespace shiplog::ctl {
namespace {

using test::json;

/// A ConfigMap that a Deployment with propagateDeps needs in m1; its copy in m2 is not gone yet.
const char* kDependency = R"({"metadata":{"name":"c1-configmap","namespace":"dep"},"spec":{
  "resource":{"apiVersion":"v1","kind":"ConfigMap","namespace":"dep","name":"c1"},
  "requiredBy":[{"namespace":"dep","name":"x-deployment","clusters":[{"name":"m1","replicas":3}]}]},
  "status":{"aggregatedStatus":[{"clusterName":"m1","applied":true,"health":"Healthy"},
                                {"clusterName":"m2","applied":true,"health":"Healthy"}]}})";

TEST(BindingTargets, ADependencyIsPlacedWhereItIsRequired_B_5) {
  const auto targets = targets_of(json(kDependency));
  ASSERT_EQ(targets.size(), 2U);
  EXPECT_TRUE(targets[0].placed);
  EXPECT_EQ(targets[0].replicas, -1) << "the replicas are those of what requires it";
  EXPECT_FALSE(targets[1].placed);
}

TEST(BindingTargets, OnlyWhatIsRequiredNoLongerIsReportedAsBeingRemoved) {
  WorkloadsOptions options;
  options.all_kinds = true;
  const Value items = workloads_of(Value::array({json(kDependency)}), options);
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0]["note"].str(), "");
  EXPECT_EQ(items[1]["note"].str(), "removing");
  FleetObjects fleet;
  fleet.bindings = Value::array({json(kDependency)});
  const auto findings = findings_of(fleet);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cluster, "m2");
  EXPECT_EQ(findings[0].reason, "being removed from the cluster");
}

int64_t ready_of(const std::string& kind, const std::string& status) {
  const auto targets = targets_of(json(R"({"spec":{"resource":{"apiVersion":"v1","kind":")" + kind +
                                       R"("},"replicas":1,"clusters":[{"name":"m1","replicas":1}]},
      "status":{"aggregatedStatus":[{"clusterName":"m1","applied":true,"status":)" +
                                       status + "}]}}"));
  return targets.empty() ? -2 : targets[0].ready;
}

TEST(BindingTargets, APodIsReadyByItsCondition) {
  EXPECT_EQ(ready_of("Pod", R"({"phase":"Running","conditions":[{"type":"Ready","status":"True"}]})"), 1);
  EXPECT_EQ(ready_of("Pod", R"({"phase":"Running","conditions":[{"type":"Ready","status":"False"}]})"), 0);
  EXPECT_EQ(ready_of("Pod", "null"), -1);
}

TEST(BindingTargets, OfAJobItIsNotKnownHowManyPodsAreReady) {
  EXPECT_EQ(ready_of("Job", R"({"succeeded":1})"), -1);
  EXPECT_EQ(ready_of("Job", R"({"active":1,"ready":1})"), 1);
  EXPECT_EQ(ready_of("Deployment", R"({"replicas":1})"), 0) << "members omit zero";
}

}  // namespace
}  // namespace shiplog::ctl
