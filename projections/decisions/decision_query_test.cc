#include "projections/decisions/decision_query.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/support/projected_fleet.h"

namespace shiplog {
namespace {

const ObjectKey kBinding{type::kResourceBinding, "default", "web-deployment"};
const ObjectKey kTemplate{"deployments.apps", "default", "web"};

Entry decision(const std::string& service, const Cause& cause, std::vector<Event> events) {
  Entry entry;
  entry.actor = {"system:shiplog:" + service, {}, service, "", ""};
  entry.cause = cause;
  entry.as_of = cause.revision;
  entry.events = std::move(events);
  return entry;
}

Explanation explained() {
  Explanation why{PlacementMade{}, "digest", {}, {Text{"of an earlier build"}, AffinityApplied{0, "near"}}, {}};
  why.add({"m1", 0, 7, 2}, {{{"ClusterAffinity", true, {}}}, {{"ClusterLocality", 100}}});
  why.add({"m2"}, {{{"TaintToleration", false, TaintNotTolerated{"k", "", "NoSchedule"}}}, {}});
  return why;
}

// A user's Deployment, bound by the binder and placed by the scheduler.
class DecisionQueryTest : public testing::Test {
 protected:
  DecisionQueryTest() {
    fleet.create(kTemplate);
    fleet.write({RequestDenied{kTemplate, 403, "Forbidden", ""}});
    fleet.write(
        decision("binder", newest(3), {BindingPut{kBinding, object_value(kBinding), {Text{"bound"}, "", {}, {}, {}}}}));
    PlacementDecided placed;
    placed.binding = kBinding;
    placed.targets = {{"m1", 2}};
    placed.why = explained();
    fleet.write(decision("scheduler", newest(1), {placed}));
  }

  // A cause as a role records it: the entry at a distance from the end, and the present revision.
  Cause newest(size_t from_end) const {
    const size_t at = from_end == 3 ? 2 : fleet.journal().size() - from_end;
    return {fleet.revision(), fleet.journal()[at].second.id, ""};
  }

  TestFleet fleet;
};

TEST_F(DecisionQueryTest, ReturnsDecisionsAboutAnObjectNewestFirst) {
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const DecisionQuery decisions{view};
  const auto found = must(decisions.of(kBinding));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].kind, "PlacementDecided");
  EXPECT_EQ(found[0].service, "scheduler");
  EXPECT_EQ(found[0].summary, "m1:2");
  EXPECT_EQ(found[0].revision, fleet.revision());
  EXPECT_EQ(found[0].as_of.value, fleet.revision().value - 1);
  EXPECT_EQ(found[0].cause.entry_id, found[1].entry_id);
  EXPECT_FALSE(found[0].refusal);
  EXPECT_EQ(must(parse_json(found[0].explanation)),
            must(parse_json(R"({"summary": "placed on m1:2", "summaryFact": {"type": "PlacementMade"},
              "inputsDigest": "digest", "steps": ["of an earlier build", "affinity near is in force"],
              "facts": [{"type": "AffinityApplied", "index": 0, "name": "near"}], "clusters": [
                {"cluster": "m1", "availableReplicas": 7, "replicas": 2,
                 "verdicts": [{"rule": "ClusterAffinity", "passed": true, "reason": ""}],
                 "scores": [{"rule": "ClusterLocality", "points": 100}]},
                {"cluster": "m2", "scores": [],
                 "verdicts": [{"rule": "TaintToleration", "passed": false,
                               "reason": "cluster(s) had untolerated taint {k:NoSchedule}",
                               "fact": {"type": "TaintNotTolerated", "key": "k", "value": "", "effect": "NoSchedule"}}]}
              ]})")));
  EXPECT_EQ(found[1].kind, "BindingPut");
  EXPECT_EQ(must(decisions.of(kBinding, 1)).size(), 1U);
  EXPECT_TRUE(must(decisions.of(kTemplate)).empty());
}

TEST_F(DecisionQueryTest, KeepsDecisionsThatTheFoldRefused) {
  PlacementRefused refused;
  refused.binding = kBinding;
  refused.reason = "NoClusterFit";
  refused.message = "0/2 clusters";
  Entry late = decision("scheduler", newest(1), {refused});
  late.expects = {{kBinding, Revision{1}}};
  ASSERT_TRUE(fleet.write(late).refusal);
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const auto found = must(DecisionQuery{view}.of(kBinding));
  ASSERT_EQ(found.size(), 3U);
  ASSERT_TRUE(found[0].refusal);
  EXPECT_EQ(found[0].refusal->code, ErrorCode::kConflict);
  EXPECT_EQ(must(parse_json(found[0].explanation))["reason"].str(), "NoClusterFit");
}

TEST_F(DecisionQueryTest, OnlyDecisionsAreStored) {
  const ObjectKey cluster{type::kCluster, "", "m1"};
  const ObjectKey work{type::kWork, "karmada-es-m1", "w"};
  const ObjectKey quota{type::kFederatedResourceQuota, "default", "q"};
  const size_t before = dump(fleet.path()).size();
  Entry entry = decision("taint", {}, {});
  entry.events = {TaintAdded{cluster, {"k", "v", "NoSchedule"}, "policy p"},
                  TaintRemoved{cluster, {"k", "v", "NoSchedule"}, "policy p"},
                  EvictionStarted{kBinding, "m1", "TaintUntolerated", "k", "TaintManager", 0},
                  EvictionFinished{kBinding, "m1", "healthy"},
                  QuotaRefused{kBinding, quota, "too much cpu", 1},
                  WorkRendered{work, object_value(work), {Text{"rendered"}, "", {}, {}, {}}},
                  WorkRemoved{work},
                  StatusAggregated{kBinding, {}, false, "NotAll", "1 of 2", {}, {}},
                  ReschedulingTriggered{kBinding, "cluster gone"},
                  WorkApplied{work, 1, ""},
                  ClusterConditionChanged{cluster, "Ready", "True", "", ""}};
  ASSERT_TRUE(fleet.write(entry).refusal) << "there is no such cluster, and no entry applies in part";
  EXPECT_GT(dump(fleet.path()).size(), before);
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const DecisionQuery decisions{view};
  std::vector<std::string> kinds;
  for (const ObjectKey& key : {cluster, work, kBinding}) {
    for (const DecisionRow& row : must(decisions.of(key))) {
      if (row.refusal) kinds.push_back(row.kind);
    }
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"TaintRemoved", "TaintAdded", "WorkRemoved", "WorkRendered",
                                             "ReschedulingTriggered", "StatusAggregated", "QuotaRefused",
                                             "EvictionFinished", "EvictionStarted"}));
}

}  // namespace
}  // namespace shiplog
