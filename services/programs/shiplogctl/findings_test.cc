#include "services/programs/shiplogctl/findings.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/programs/shiplogctl/workloads.h"

namespace shiplog::ctl {
namespace {

/// A binding of the Deployment default/web.
Value binding(const std::string& spec, const std::string& status) {
  auto parsed = parse_json(R"({"metadata":{"name":"web-deployment","namespace":"default","generation":3},"spec":{
      "resource":{"apiVersion":"apps/v1","kind":"Deployment","namespace":"default","name":"web"})" +
                           spec + R"(},"status":{)" + status + "}}");
  if (!parsed) ADD_FAILURE() << parsed.error().message << " in " << spec << status;
  return parsed ? std::move(parsed).value() : Value{};
}

/// "STATE: REASON" of what was found, one a line.
std::string findings(const Value& binding) {
  FleetObjects fleet;
  fleet.bindings = Value::array({binding});
  std::string text;
  for (const Finding& finding : findings_of(fleet)) text += finding.state + ": " + finding.reason + "\n";
  return text;
}

std::string note(const Value& binding) { return workloads_of(Value::array({binding}), {})[0]["note"].str(); }

const std::string kRequests = R"(,"replicaRequirements":{"resourceRequest":{"cpu":"100m"}})";
const std::string kScheduled =
    R"("schedulerObservedGeneration":3,"conditions":[{"type":"Scheduled","status":"True","message":"done"}])";

TEST(Findings, AWorkloadWithoutReplicasNeedsNoCluster_S_46) {
  const Value zero = binding(kRequests, kScheduled);
  EXPECT_EQ(findings(zero), "");
  EXPECT_EQ(note(zero), "scaled to zero");
  const Value three = binding(R"(,"replicas":3)" + kRequests, kScheduled);
  EXPECT_EQ(findings(three), "unscheduled: no cluster has been chosen yet\n");
  EXPECT_EQ(note(three), "unscheduled");
  // What carries no replicas is placed whole: without a cluster it is not placed.
  EXPECT_EQ(findings(binding("", kScheduled)), "unscheduled: no cluster has been chosen yet\n");
}

TEST(Findings, AWorkloadThatALazyPolicyHasIsNotWithoutAPolicy) {
  FleetObjects fleet;
  fleet.templates = parse_json(R"([{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web",
      "namespace":"default"}},{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"lazy",
      "namespace":"default","labels":{"propagationpolicy.karmada.io/permanent-id":"an-id"},"annotations":{
      "propagationpolicy.karmada.io/namespace":"default","propagationpolicy.karmada.io/name":"p"}}}])")
                        .value();
  const auto found = findings_of(fleet);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].state, "pending");
  EXPECT_EQ(found[0].name, "lazy");
  EXPECT_EQ(found[0].reason, "PropagationPolicy default/p has it, but has not been applied to it yet: it runs nowhere");
  EXPECT_EQ(found[1].state, "unselected");
}

TEST(Findings, ItNeedsTheSchedulerToHaveSeenThatItIsScaledToZero) {
  std::string outdated = kScheduled;
  outdated.replace(outdated.find(":3"), 2, ":2");
  EXPECT_EQ(findings(binding(kRequests, outdated)), "unscheduled: no cluster has been chosen yet\n");
  EXPECT_EQ(findings(binding(kRequests, "")), "unscheduled: no cluster has been chosen yet\n");
}

TEST(Findings, WhatIsEvictedWithoutAnotherPlaceWasPlacedBefore) {
  const std::string spec = R"(,"replicas":3,"gracefulEvictionTasks":[{"fromCluster":"m3"}])" + kRequests;
  const std::string applied =
      kScheduled + R"(,"aggregatedStatus":[{"clusterName":"m3","applied":true,"health":"Healthy"}])";
  EXPECT_EQ(findings(binding(spec, applied)),
            "unscheduled: it is being evicted, and no other cluster has been chosen yet\n"
            "pending: runs there until its replacement is healthy elsewhere\n");
  // Dispatching was suspended, for example.
  EXPECT_EQ(findings(binding(spec, kScheduled)),
            "unscheduled: it is being evicted, and no other cluster has been chosen yet\n"
            "pending: being evicted; it is not applied there\n");
}

TEST(Findings, ADependencyOfWhatIsOnNoClusterIsNotUnscheduled_B_5) {
  const Value dependency = binding(R"(,"requiredBy":[{"namespace":"default","name":"other-deployment"}])", "");
  EXPECT_EQ(findings(dependency), "");
  EXPECT_EQ(note(dependency), "required nowhere");
}

TEST(Findings, ABindingForAnotherSchedulerIsReportedWithIt_S_1) {
  const Value other = binding(R"(,"replicas":3,"schedulerName":"other")" + kRequests, "");
  const std::string reason =
      "it is for the scheduler \"other\" (spec.schedulerName): this control plane places only what is for "
      "default-scheduler";
  EXPECT_EQ(findings(other), "unscheduled: " + reason + "\n");
  EXPECT_EQ(note(other), "unscheduled");
  EXPECT_EQ(workloads_of(Value::array({other}), {})[0]["message"].str(), reason);
  EXPECT_EQ(findings(binding(R"(,"replicas":3,"schedulerName":"default-scheduler")" + kRequests, "")),
            "unscheduled: no cluster has been chosen yet\n");
  const Value placed =
      binding(R"(,"replicas":3,"schedulerName":"other","clusters":[{"name":"m3","replicas":3}])" + kRequests,
              R"("aggregatedStatus":[{"clusterName":"m3","applied":true,"health":"Healthy"}])");
  EXPECT_EQ(findings(placed), "");
}

}  // namespace
}  // namespace shiplog::ctl
