#include "services/api/insight/chain.h"

#include <gtest/gtest.h>

#include "events/state/work.h"
#include "services/api/insight/history.h"
#include "tests/support/projected_fleet.h"

namespace shiplog::api {
namespace {

const ObjectKey kChainTemplate{"deployments.apps", "default", "web"};
const ObjectKey kChainBinding{type::kResourceBinding, "default", "web-deployment"};
const ObjectKey kChainWork{type::kWork, "karmada-es-m1", "web"};

// The whole chain of a Deployment: requested, bound, placed, rendered, applied, reported and summed up.
class InsightChainTest : public testing::Test {
 protected:
  InsightChainTest() {
    fleet.create({type::kNamespace, "", "karmada-es-m1"});
    Entry create;
    create.actor = {"alice", {}, "api", "10.0.0.1", "kubectl"};
    create.request = {"create", "/apis/apps/v1/namespaces/default/deployments"};
    create.events = {ObjectCreated{kChainTemplate, object_value(kChainTemplate)}};
    fleet.write(create);
    decide("binder",
           {BindingPut{kChainBinding, object_value(kChainBinding), {Text{"bound by policy p"}, "", {}, {}, {}}}});
    PlacementDecided placed;
    placed.binding = kChainBinding;
    placed.targets = {{"m1", 2}};
    decide("scheduler", {placed});
    decide("dispatcher", {WorkRendered{kChainWork, object_value(kChainWork), {}}});
    decide("dispatcher", {WorkApplied{kChainWork, 1, ""}});
    report("False");
    report("True");
    StatusAggregated sum{kChainBinding,
                         Value::array({Value::object({{"clusterName", "m1"}, {"applied", true}})}),
                         true,
                         "FullyAppliedSuccess",
                         "",
                         kChainTemplate,
                         Value::object({{"readyReplicas", 2}})};
    decide("collector", {sum});
  }

  void decide(const std::string& service, std::vector<Event> events) {
    Entry entry;
    entry.actor = {"system:shiplog:" + service, {}, service, "", ""};
    entry.cause = {fleet.revision(), fleet.journal().back().second.id, ""};
    entry.events = std::move(events);
    const Folded folded = fleet.write(std::move(entry));
    ASSERT_FALSE(folded.refusal) << folded.refusal->reason;
  }

  // A report of a member has no entry as its cause.
  void report(const char* ready) {
    Entry entry;
    entry.actor = {"system:shiplog:collector", {}, "collector", "", ""};
    entry.events = {WorkStatusObserved{kChainWork, Value::array({Value::object({{"health", ready}})})}};
    fleet.write(std::move(entry));
  }

  TestFleet fleet;
};

std::vector<std::string> kinds_of(const std::vector<AuditRow>& chain) {
  std::vector<std::string> kinds;
  for (const AuditRow& entry : chain) kinds.push_back(entry.events.front().kind);
  return kinds;
}

TEST_F(InsightChainTest, LeadsFromTheRequestToTheStatusAcrossObjects) {
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  EXPECT_EQ(kinds_of(must(chain_of(view, kChainTemplate))),
            (std::vector<std::string>{"ObjectCreated", "BindingPut", "PlacementDecided", "WorkRendered", "WorkApplied",
                                      "WorkStatusObserved", "StatusAggregated"}));
}

TEST_F(InsightChainTest, OfTheStatusOfManyObjectsFollowsItsOwn) {
  const ObjectKey other{type::kWork, "karmada-es-m1", "another"};
  fleet.create({"configmaps", "default", "another"});
  decide("dispatcher", {WorkRendered{other, object_value(other), {}}});
  Value work = object_value(kChainWork);
  work.edit("metadata").edit("annotations").set(annotation::kBindingNamespace, kChainBinding.ns);
  work.edit("metadata").edit("annotations").set(annotation::kBindingName, kChainBinding.name);
  Entry request;
  request.actor = {"alice", {}, "api", "", ""};
  request.events = {BindingPut{kChainBinding, object_value(kChainBinding, "moved"), {}}};
  ASSERT_FALSE(fleet.write(request).refusal);
  decide("dispatcher", {WorkRendered{kChainWork, work, {}}});
  Entry gathered;
  gathered.actor = {"system:shiplog:dispatcher", {}, "dispatcher", "", ""};
  gathered.events = {WorkApplied{other, 1, ""}, WorkApplied{kChainWork, 2, "taken"}};
  ASSERT_FALSE(fleet.write(gathered).refusal);
  decide("collector", {StatusAggregated{kChainBinding, Value::array({Value::object({{"clusterName", "m1"}})}), true,
                                        "FullyAppliedSuccess", "anew", ObjectKey{}, Value{}}});
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  for (const ObjectKey& key : {kChainBinding, kChainWork}) {
    const auto chain = must(chain_of(view, key));
    for (const AuditRow& entry : chain) {
      for (const AuditEvent& event : entry.events) EXPECT_NE(event.subject, other);
    }
    std::vector<std::string> expected{"BindingPut", "WorkRendered", "WorkApplied"};
    if (key == kChainBinding) expected.emplace_back("StatusAggregated");
    EXPECT_EQ(kinds_of(chain), expected) << key.type;
  }
}

TEST_F(InsightChainTest, ContainsTheRequestForTheObjectThoughAPolicyCausedIt) {
  const ObjectKey policy{type::kPropagationPolicy, "default", "p"};
  Entry request;
  request.actor = {"alice", {}, "api", "", ""};
  request.events = {ObjectCreated{policy, object_value(policy)}};
  fleet.write(request);
  decide("binder", {ObjectUpdated{kChainTemplate, object_value(kChainTemplate, "claimed")}});
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const auto chain = must(chain_of(view, kChainTemplate));
  ASSERT_EQ(kinds_of(chain), (std::vector<std::string>{"ObjectCreated", "ObjectCreated", "ObjectUpdated"}));
  EXPECT_EQ(chain[0].events[0].subject, kChainTemplate);
}

TEST_F(InsightChainTest, EndsAtTheRequestOfAnEarlierVersion) {
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const auto rows =
      must(chain_of(view, kChainTemplate, fleet.state().revision_of({type::kNamespace, "", "karmada-es-m1"})));
  EXPECT_TRUE(rows.empty()) << "it did not exist yet";
  Entry edit;
  edit.actor = {"bob", {}, "api", "", ""};
  edit.events = {ObjectUpdated{kChainTemplate, object_value(kChainTemplate, "new")}};
  fleet.write(edit);
  Reader later = fleet.reader();
  const View now = must(later.view());
  EXPECT_EQ(kinds_of(must(chain_of(now, kChainTemplate))), (std::vector<std::string>{"ObjectUpdated"}));
}

TEST_F(InsightChainTest, HistoryShowsRequesterCauseAndChanges) {
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const Value versions = must(history_of(view, kChainTemplate, 0, false));
  ASSERT_EQ(versions.size(), 2U);
  EXPECT_EQ(versions[0]["operation"].str(), "created");
  EXPECT_EQ(versions[0]["who"]["user"].str(), "alice");
  EXPECT_EQ(versions[0]["changes"].size(), 0U);
  EXPECT_EQ(versions[1]["operation"].str(), "updated");
  EXPECT_EQ(versions[1]["who"]["service"].str(), "collector");
  EXPECT_EQ(versions[1]["why"]["event"].str(), "StatusAggregated");
  ASSERT_EQ(versions[1]["changes"].size(), 1U);
  EXPECT_EQ(versions[1]["changes"][0]["path"].str(), "status");
  EXPECT_EQ(versions[1]["changes"][0]["after"].str(), "{\"readyReplicas\":2}");
  EXPECT_EQ(versions[1]["why"]["causes"].size(), 6U);
  EXPECT_EQ(versions[1]["why"]["causes"][0]["event"].str(), "ObjectCreated");

  const Value binding = must(history_of(view, kChainBinding, 0, false));
  EXPECT_EQ(binding[0]["why"]["explanation"]["summary"].str(), "bound by policy p");
}

TEST_F(InsightChainTest, HistoryComparesTheOldestOfAPageWithTheOneBefore) {
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const Value newest = must(history_of(view, kChainTemplate, 1, true));
  ASSERT_EQ(newest.size(), 1U);
  EXPECT_EQ(newest[0]["changes"].size(), 1U);
}

TEST_F(InsightChainTest, WhatAProbeOfAClusterFindsFollowsFromNoRequest) {
  const ObjectKey cluster{type::kCluster, "", "m1"};
  Entry join;
  join.actor = {"alice", {}, "api", "10.0.0.1", "kubectl"};
  join.request = {"create", "/apis/cluster.karmada.io/v1alpha1/clusters"};
  join.events = {ObjectCreated{cluster, object_value(cluster)}};
  fleet.write(join);
  decide("collector", {ClusterObserved{cluster, Value::object({{"kubernetesVersion", "v1.32.0"}})}});
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  EXPECT_EQ(kinds_of(must(chain_of(view, cluster))), std::vector<std::string>{"ClusterObserved"});
  EXPECT_EQ(must(history_of(view, cluster, 1, true))[0]["why"]["causes"].size(), 0U);

  decide("collector", {ClusterConditionChanged{cluster, "Ready", "False", "ClusterNotReachable", ""}});
  decide("taint", {TaintAdded{cluster, {"not-ready", "", "NoSchedule"}, "condition Ready is False"}});
  Reader later = fleet.reader();
  const Value tainted = must(history_of(must(later.view()), cluster, 1, true))[0];
  ASSERT_EQ(tainted["why"]["causes"].size(), 1U);
  EXPECT_EQ(tainted["why"]["causes"][0]["event"].str(), "ClusterConditionChanged") << "and not who joined it";
}

TEST_F(InsightChainTest, WhatACronFederatedHpaScalesFollowsFromIt) {
  const ObjectKey hours{"cronfederatedhpas.autoscaling.karmada.io", "default", "hours"};
  fleet.create(hours, "rules");
  for (const char* status : {"due", "done"}) {
    Entry run;
    run.actor = {"system:shiplog:cron-scaler", {}, "cron-scaler", "", ""};
    run.events = {ObjectUpdated{kChainTemplate, object_value(kChainTemplate, status)},
                  StatusUpdated{hours, object_value(hours, status)}};
    fleet.write(std::move(run));
  }
  Reader reader = fleet.reader();
  const Value scaled = must(history_of(must(reader.view()), kChainTemplate, 1, true))[0];
  ASSERT_EQ(scaled["why"]["causes"].size(), 1U);
  EXPECT_EQ(scaled["why"]["causes"][0]["event"].str(), "ObjectCreated");
  EXPECT_EQ(scaled["why"]["causes"][0]["object"]["name"].str(), "hours") << "and not who created the template";
}

TEST_F(InsightChainTest, HistoryKeepsSecretsToItself) {
  const ObjectKey secret{type::kSecret, "default", "s"};
  fleet.create(secret, "old");
  fleet.update(secret, "new");
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  const Value versions = must(history_of(view, secret, 0, true));
  ASSERT_EQ(versions[0]["changes"].size(), 1U);
  EXPECT_EQ(versions[0]["changes"][0]["path"].str(), "data.text");
  EXPECT_EQ(versions[0]["changes"][0]["after"].str(), "(secret)");
}

// A namespace with more in it than one entry deletes; each entry is triggered by the changes of the one before.
TEST(InsightDeletionChain, ACascadingDeletionIsCausedByTheDeletionOfTheNamespace) {
  TestFleet fleet;
  const ObjectKey ns{type::kNamespace, "", "shop"};
  Value space = object_value(ns);
  space.set("spec", Value::object({{"finalizers", Value::array({"kubernetes"})}}));
  fleet.write({ObjectCreated{ns, space}});
  std::vector<ObjectKey> items;
  for (const char* name : {"a", "b", "c", "d"}) {
    items.push_back({"configmaps", "shop", name});
    fleet.create(items.back());
  }
  Entry asked;
  asked.actor = {"alice", {}, "api", "10.0.0.1", "kubectl"};
  asked.request = {"delete", "/api/v1/namespaces/shop"};
  asked.events = {DeletionRequested{.object = ns}};
  ASSERT_FALSE(fleet.write(asked).refusal);
  Value told = space;
  told.edit("metadata").set("labels", Value::object({{"by", "bob"}}));
  Entry touched;
  touched.actor = {"bob", {}, "api", "10.0.0.1", "kubectl"};
  touched.events = {StatusUpdated{ns, told}};
  ASSERT_FALSE(fleet.write(touched).refusal);
  for (const size_t first : {0U, 2U}) {
    Entry entry;
    entry.actor = {"system:shiplog:lifecycle", {}, "lifecycle", "", ""};
    entry.cause = {fleet.revision(), fleet.journal().back().second.id, ""};  // what woke it last
    entry.events = {DeletionRequested{.object = items[first], .because = ns},
                    DeletionRequested{.object = items[first + 1], .because = ns}};
    ASSERT_FALSE(fleet.write(entry).refusal);
  }
  Reader reader = fleet.reader();
  const View view = must(reader.view());
  for (const ObjectKey& item : items) {
    const auto chain = must(chain_of(view, item));
    ASSERT_EQ(chain.size(), 2U) << to_string(item);
    EXPECT_EQ(chain[0].actor.user, "alice");
    EXPECT_EQ(chain[0].events[0].subject, ns);
    ASSERT_EQ(chain[1].events.size(), 1U) << "the others it was deleted with are other stories";
    EXPECT_EQ(chain[1].events[0].subject, item);
    EXPECT_EQ(chain[1].events[0].summary, "Background, because namespaces/shop is deleted");
  }
  const Value newest = must(history_of(view, items[2], 1, true))[0];
  EXPECT_EQ(newest["why"]["causes"][0]["user"], "alice");
  EXPECT_EQ(newest["why"]["causes"][0]["object"]["name"], "shop");
}

}  // namespace
}  // namespace shiplog::api
