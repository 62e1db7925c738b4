#include "events/event.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "events/base/utf8.h"
#include "events/codec/samples.h"

namespace shiplog {
namespace {

// The results of summary_of() for the samples, by kind.
const std::map<std::string_view, std::string_view> kSummaries = {
    {"ObjectCreated", ""},
    {"ObjectUpdated", ""},
    {"StatusUpdated", ""},
    {"DeletionRequested", "Foreground, grace 30s, because namespaces/default is deleted"},
    {"ObjectRemoved", ""},
    {"RequestDenied", "422 Invalid: spec.replicas: negative"},
    {"MemberRequested", "POST /api/v1/namespaces/default/configmaps -> 201"},
    {"RequestsDenied",
     "2990 requests to create from 2023-11-14T22:13:20Z to 2023-11-14T22:14:20Z, the last: 409 Conflict: "
     "configmaps/default/a already exists"},
    {"BindingPut", "Deployment default/nginx, replicas 3"},
    {"PlacementDecided", "m1:2 m2:1"},
    {"PlacementRefused", "NoClusterFit: 0/3 clusters are available (targets cleared)"},
    {"ReschedulingTriggered", "WorkloadRebalancer spread-again"},
    {"DependenciesResolved", "ConfigMap default/nginx-config"},
    {"AttachedBindingPut", "follows default/nginx-deployment"},
    {"QuestionAnswered", "InterpretReplica by games/replicas.example.com: the webhook said no"},
    {"ReplicasDescheduled", "m1 cannot run 2 of 3 replicas"},
    {"WorkRendered", "Deployment default/nginx"},
    {"WorkRemoved", ""},
    {"WorkApplied", "generation 2: Manifest has been successfully applied"},
    {"WorkApplyFailed", "generation 2: AppliedFailed: m1: refused"},
    {"WorkStatusObserved", "Deployment default/nginx: Healthy"},
    {"StatusAggregated", "FullyApplied=True FullyAppliedSuccess: m1:Healthy"},
    {"WorksSynced", "SyncWorkSucceed: Sync work of ResourceBinding(default/nginx-deployment) successful."},
    {"TaintAdded", "not-ready=yes:NoExecute (Ready=False)"},
    {"TaintRemoved", "not-ready=yes:NoExecute (Ready=True)"},
    {"EvictionStarted", "from m1: TaintUntolerated: does not tolerate not-ready (grace 600s)"},
    {"EvictionFinished", "from m1: replacement is healthy"},
    {"EvictionsPaused", "BudgetExhausted: 3 of 3 evictions in 10m"},
    {"EvictionsResumed", "BudgetAvailable: 2 of 3 evictions in 10m"},
    {"FailoverTimerStarted", "in m1: the workload is Unhealthy"},
    {"FailoverTimerStopped", "in m1: the workload is Healthy"},
    {"HandoverStepTaken", "Confirm in m1: the Work is gone"},
    {"QuotaUsageChanged", "cpu 3/10, memory 1Gi/2Gi"},
    {"QuotaRefused", "quota default/team: cpu: 12 of 10"},
    {"ClusterJoined", "id 6f1b4a52-0d3c-4d5e-8f60-718293a4b5c6"},
    {"ClusterObserved", "v1.31.0, 2 of 3 nodes ready"},
    {"ClusterConditionChanged", "Ready=False ClusterNotReachable: cluster is not reachable"},
    {"ClusterLeft", "unjoined"},
    {"LeaseTaken", "scheduler by host-1/4711/ab12, epoch 3"},
    {"FoldVersionActivated", "version 2"},
    {"StateHashed", "revision 1000, hash fedcba98765432100123456789abcdef"},
    {"SnapshotTaken", "revision 1000, hash fedcba98765432100123456789abcdef, in snapshot-1000.db"},
    {"FeatureGatesSet", "on: MultiplePodTemplatesScheduling, SchedulingOvercommitProtection"},
    {"OptionsSet", "--plugins=*,-TaintToleration --skipped-propagating-namespaces=kube-.*,team-[0-9]+"},
};

TEST(Event, SummarisesEveryKind) {
  for (const Event& event : samples::every_kind()) {
    const auto expected = kSummaries.find(name_of(event));
    ASSERT_NE(expected, kSummaries.end()) << name_of(event);
    EXPECT_EQ(summary_of(event), expected->second) << name_of(event);
  }
}

TEST(Event, NamesEveryKindDifferently) {
  std::set<std::string_view> names;
  for (const Event& event : samples::every_kind()) names.insert(name_of(event));
  EXPECT_EQ(names.size(), std::variant_size_v<EventVariant>);
}

TEST(Event, KnowsTheSubjectOfAllButControlEvents) {
  for (const Event& event : samples::every_kind()) {
    EXPECT_EQ(subject_of(event).empty(), family_of(event) == Family::kControl) << name_of(event);
  }
}

TEST(Event, TakesTheBindingForTheSubjectWhereAnotherObjectIsNamedToo) {
  const ObjectKey binding{"resourcebindings.work.karmada.io", "default", "web"};
  EXPECT_EQ(subject_of(EvictionStarted{binding, "m1", "", "", "", 0}), binding);
  EXPECT_EQ(subject_of(QuotaRefused{binding, {"federatedresourcequotas.policy.karmada.io", "default", "q"}, "", 0}),
            binding);
}

TEST(Event, SummarisesPlacementsOfAllSizes) {
  PlacementDecided placement;
  EXPECT_EQ(summary_of(placement), "no clusters");
  placement.targets = {{"m1", 0}, {"m2", 0}};
  EXPECT_EQ(summary_of(placement), "m1 m2");
  placement.targets.clear();
  for (int at = 0; at < 12; ++at) placement.targets.push_back({"m" + std::to_string(at), 1});
  EXPECT_EQ(summary_of(placement), "m0:1 m1:1 m2:1 m3:1 m4:1 m5:1 m6:1 m7:1 m8:1 m9:1 and 2 more");
}

TEST(Event, SummarisesOnOneLineOfBoundedLength) {
  WorkApplyFailed failed;
  failed.message = "line one\nline two\x1b[31m";
  EXPECT_EQ(summary_of(failed), "generation 0: line one line two [31m");
  for (size_t pad = 0; pad < 4; ++pad) {
    failed.message = std::string(pad, 'x');
    for (int at = 0; at < 1000; ++at) failed.message += "\U0001F6A2";
    const std::string summary = summary_of(failed);
    EXPECT_LE(summary.size(), 303U);
    EXPECT_TRUE(summary.ends_with("...")) << summary;
    EXPECT_TRUE(is_utf8(summary)) << summary;
  }
}

TEST(Event, NamesFamilies) {
  EXPECT_EQ(name_of(Family::kApi), "api");
  EXPECT_EQ(name_of(family_of(Event{PlacementDecided{}})), "scheduling");
  EXPECT_EQ(name_of(family_of(Event{WorkApplied{}})), "dispatch");
  EXPECT_EQ(name_of(family_of(Event{TaintAdded{}})), "taint");
  EXPECT_EQ(name_of(family_of(Event{QuotaRefused{}})), "quota");
  EXPECT_EQ(name_of(family_of(Event{ClusterLeft{}})), "cluster");
  EXPECT_EQ(name_of(family_of(Event{LeaseTaken{}})), "control");
}

}  // namespace
}  // namespace shiplog
