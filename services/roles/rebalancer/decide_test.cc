#include "services/roles/rebalancer/decide.h"

#include <gtest/gtest.h>

#include "events/state/reschedule_request.h"
#include "tests/support/given.h"

namespace shiplog::rebalancer {
namespace {

using given::History;
using given::json;

const ObjectKey kKey{kWorkloadRebalancer, "", "again"};
const ObjectKey kWeb{type::kResourceBinding, "default", "web-deployment"};
const ObjectKey kRole{type::kClusterResourceBinding, "", "system.x-clusterrole"};

constexpr const char* kBoth = R"({"spec": {"workloads": [
  {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "name": "system:x"},
  {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "web"},
  {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "none"}]}})";

/// Placed long before noon.
History placed() {
  History history;
  for (const ObjectKey& key : {kWeb, kRole}) {
    history.object(key, R"({"status": {"lastScheduledTime": "2026-01-01T00:00:00Z"}})");
  }
  return history;
}

std::string triggered(const History& history, const ObjectKey& binding) {
  return history.state().value_of(binding)["spec"]["rescheduleTriggeredAt"].str();
}
const Value& rebalancer(const History& history) { return history.state().value_of(kKey); }

/// When decide() wants to look again at the rebalancer; nullopt: when something changes.
std::optional<UtcMillis> next_look(const History& history, UtcMillis now) {
  const auto decided = decide(history.state(), kKey, now).value();
  const auto* later = std::get_if<LookAgain>(&decided);
  return later == nullptr ? std::nullopt : std::optional{later->at};
}

TEST(Rebalancer, RequestsEachWorkloadWithItsOwnCreationTime) {  // REB-2, REB-4, REB-5, S-15
  History history = placed();
  history.object(kKey, kBoth);
  EXPECT_EQ(history.settle(decide, kKey), 1);
  const std::string created = rebalancer(history)["metadata"]["creationTimestamp"].str();
  EXPECT_EQ(triggered(history, kWeb), created);
  EXPECT_EQ(triggered(history, kRole), created);
  EXPECT_EQ(rebalancer(history)["status"]["observedWorkloads"], json(R"([
    {"workload": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "none"},
     "result": "Failed", "reason": "ReferencedBindingNotFound"},
    {"workload": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "web"},
     "result": "Successful"},
    {"workload": {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "name": "system:x"},
     "result": "Successful"}])"));
  EXPECT_EQ(rebalancer(history)["status"]["observedGeneration"].as_int(), 1);
  EXPECT_FALSE(rebalancer(history)["status"]["finishTime"].str().empty());
}

TEST(Rebalancer, NothingIsRequestedTwice) {  // REB-3, 5.2.5
  History history = placed();
  history.object(kKey, kBoth);
  history.settle(decide, kKey);
  history.edit(kWeb, [](Value& web) { web.edit("spec").erase("rescheduleTriggeredAt"); });
  EXPECT_EQ(history.settle(decide, kKey), 0);
  history.edit(kKey, [](Value& it) {
    Value::Array& workloads = it.edit("spec").edit("workloads").edit_items();
    workloads.erase(workloads.begin());
    workloads.pop_back();
  });
  EXPECT_EQ(history.settle(decide, kKey), 1) << "the status follows";
  EXPECT_EQ(triggered(history, kWeb), "");
  const Value& observed = rebalancer(history)["status"]["observedWorkloads"];
  ASSERT_EQ(observed.size(), 2U) << "one that failed and has left the spec is no longer told of";
  EXPECT_EQ(observed[1]["workload"]["kind"].str(), "ClusterRole");
}

TEST(Rebalancer, ANewerRequestStands) {  // S-15
  History history = placed();
  history.edit(kWeb, [](Value& web) { web.edit("spec").set("rescheduleTriggeredAt", "2027-01-01T00:00:00Z"); });
  history.object(kKey, kBoth);
  history.settle(decide, kKey);
  EXPECT_EQ(triggered(history, kWeb), "2027-01-01T00:00:00Z");
}

TEST(Rebalancer, ARequestWithinTheSecondOfAPlacementHasTheSameTimeAndIsNotLost_5_2_2) {
  History history = placed();
  history.accept({FoldVersionActivated{kFoldVersion}});
  history.object(kKey, kBoth);
  const std::string created = rebalancer(history)["metadata"]["creationTimestamp"].str();
  history.edit(kWeb, [&](Value& web) { web.edit("status").set("lastScheduledTime", created); });
  EXPECT_EQ(history.settle(decide, kKey), 1);
  EXPECT_EQ(triggered(history, kWeb), created);
  EXPECT_EQ(triggered(history, kRole), created);
  EXPECT_TRUE(reschedule_pending(history.state().value_of(kWeb))) << "the times alone would hide it";
  EXPECT_FALSE(reschedule_pending(history.state().value_of(kRole)));
  EXPECT_FALSE(rebalancer(history)["status"]["finishTime"].is_null());
  history.accept({PlacementDecided{kWeb, {}, 2, "{}", "", {}, {}}});
  EXPECT_FALSE(reschedule_pending(history.state().value_of(kWeb))) << "this placement includes the request";
}

TEST(Rebalancer, BeforeFoldVersion7TheNextSecondWasRequested) {
  History history = placed();
  history.object(kKey, kBoth);
  const std::string created = rebalancer(history)["metadata"]["creationTimestamp"].str();
  history.edit(kWeb, [&](Value& web) { web.edit("status").set("lastScheduledTime", created); });
  const auto first = decide(history.state(), kKey, parse_rfc3339(created).value());
  ASSERT_TRUE(first && decision_of(first));
  history.accept(*decision_of(first));
  EXPECT_EQ(triggered(history, kRole), created);
  EXPECT_EQ(triggered(history, kWeb), "") << "the scheduler would not look at it";
  EXPECT_TRUE(rebalancer(history)["status"]["finishTime"].is_null());
  const auto due = next_look(history, parse_rfc3339(created).value());
  ASSERT_TRUE(due);
  const auto second = decide(history.state(), kKey, parse_rfc3339(created).value() + Millis{1000});
  ASSERT_TRUE(second && decision_of(second));
  history.accept(*decision_of(second));
  EXPECT_EQ(triggered(history, kWeb), rfc3339(parse_rfc3339(created).value() + Millis{1000}));
  EXPECT_FALSE(rebalancer(history)["status"]["finishTime"].is_null());
}

TEST(Rebalancer, AWorkloadOfAnUnknownKindFailsAndIsNotTriedAgain_5_2_4) {
  History history = placed();
  history.accept({FoldVersionActivated{kFoldVersion}});
  history.object(kKey, R"({"spec": {"workloads": [
    {"apiVersion": "example.com/v1", "kind": "Sofa", "namespace": "default", "name": "red"},
    {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "absent", "name": "web"}]}})");
  EXPECT_EQ(history.settle(decide, kKey), 1);
  const Value& status = rebalancer(history)["status"];
  ASSERT_EQ(status["observedWorkloads"].size(), 2U);
  for (const Value& each : status["observedWorkloads"].items()) {
    EXPECT_EQ(each["result"].str(), "Failed");
    EXPECT_EQ(each["reason"].str(), "ReferencedBindingNotFound");
  }
  EXPECT_EQ(status["observedWorkloads"][0]["workload"]["kind"].str(), "Deployment") << "by apiVersion first";
  EXPECT_FALSE(status["finishTime"].is_null()) << "there is nothing to wait for";
  // Its binding appears: the result is final.
  history.object({type::kResourceBinding, "default", "red-sofa"},
                 R"({"status": {"lastScheduledTime": "2026-01-01T00:00:00Z"}})");
  EXPECT_EQ(history.settle(decide, kKey), 0);
}

TEST(Rebalancer, ALongListIsRequestedInSeveralDecisions_5_2_5) {
  History history;
  history.accept({FoldVersionActivated{kFoldVersion}});
  Value workloads = Value::array();
  for (int i = 0; i < 450; ++i) {
    const std::string name = "web-" + std::to_string(i);
    history.object({type::kResourceBinding, "default", name + "-deployment"},
                   R"({"status": {"lastScheduledTime": "2026-01-01T00:00:00Z"}})");
    workloads.push_back(
        Value::object({{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"namespace", "default"}, {"name", name}}));
  }
  history.object(kKey, R"({"spec": {}})").edit(kKey, [&](Value& it) { it.edit("spec").set("workloads", workloads); });
  EXPECT_EQ(history.settle(decide, kKey), 3);
  const Value& status = rebalancer(history)["status"];
  EXPECT_EQ(status["observedWorkloads"].size(), 450U);
  EXPECT_EQ(status["observedGeneration"], rebalancer(history)["metadata"]["generation"]);
  EXPECT_FALSE(status["finishTime"].is_null());
  for (const Value& each : status["observedWorkloads"].items()) EXPECT_EQ(each["result"].str(), "Successful");
}

TEST(Rebalancer, WithATimeToLiveOf0ItGoesAtOnceUnlessItHasChanged_5_2_6) {
  History history = placed();
  history.object(kKey, kBoth).edit(kKey, [](Value& it) { it.edit("spec").set("ttlSecondsAfterFinished", 0); });
  const auto requests = decide(history.state(), kKey, history.now());
  ASSERT_TRUE(decision_of(requests));
  history.accept(*decision_of(requests));
  const auto end = decide(history.state(), kKey, history.now());
  ASSERT_TRUE(decision_of(end));
  history.edit(kKey, [](Value& it) { it.edit("metadata").edit("labels").set("kept", "true"); });
  const Folded refused = history.fold(decision_of(end)->events, decision_of(end)->expects);
  EXPECT_TRUE(refused.refusal) << "another resourceVersion than the one that was finished";
  EXPECT_EQ(history.settle(decide, kKey), 1);
  EXPECT_EQ(history.state().find(kKey), nullptr);
}

TEST(Rebalancer, GoesWhenItsTimeHasCome) {  // REB-6
  History history = placed();
  history.object(kKey, kBoth).edit(kKey, [](Value& it) { it.edit("spec").set("ttlSecondsAfterFinished", 60); });
  history.settle(decide, kKey);
  const UtcMillis finished = parse_rfc3339(rebalancer(history)["status"]["finishTime"].str()).value();
  EXPECT_EQ(next_look(history, history.now()), finished + Millis{60'000});
  EXPECT_FALSE(decision_of(decide(history.state(), kKey, finished + Millis{59'999})));
  const auto end = decide(history.state(), kKey, finished + Millis{60'000});
  ASSERT_TRUE(decision_of(end));
  history.accept(*decision_of(end));
  EXPECT_EQ(history.state().find(kKey), nullptr);
  EXPECT_FALSE(decision_of(decide(history.state(), kKey, history.now())));
}

TEST(Rebalancer, StaysWithoutATimeToLive) {  // REB-6
  History history = placed();
  history.object(kKey, kBoth);
  history.settle(decide, kKey);
  EXPECT_FALSE(next_look(history, history.now()));
  EXPECT_FALSE(decision_of(decide(history.state(), kKey, UtcMillis{INT64_MAX})));
}

}  // namespace
}  // namespace shiplog::rebalancer
