// Two copies of a workload that must not run twice never run at once: it leaves a cluster step by step.
#include "services/roles/dispatcher/handover.h"

#include <gtest/gtest.h>

#include "events/state/binding.h"
#include "events/state/failover_record.h"
#include "events/state/work.h"
#include "services/roles/collector/role.h"
#include "services/roles/dispatcher/role.h"
#include "services/roles/lifecycle/role.h"
#include "services/roles/taint/role.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;

Value stateful_set(const std::string& name) {
  Value made = deployment("default", name, 2);
  made.set("kind", "StatefulSet");
  return made;
}

class HandOver : public ::testing::Test {
 protected:
  HandOver() {
    stage.write({FoldVersionActivated{kFoldVersion}});
    stage.write({FeatureGatesSet{{"Failover"}}, OptionsSet{{{"enable-no-execute-taint-eviction", {"true"}},
                                                            {"no-execute-taint-eviction-purge-mode", {"Directly"}}}}});
    stage.add(make_lifecycle_role());
    stage.add(make_dispatcher_role(stage.members()));
    stage.add(make_collector_role(stage.members()));
    stage.add(make_taint_role());
    for (const char* name : {"m1", "m2"}) {
      stage.members().member(name).ready_after = Millis{50};
      stage.put(cluster_key(name), cluster_object(name));
    }
    stage.run(Millis{1000});
  }

  void place(const Value& object, const std::string& type) {
    db = object;
    db_key = {type, "default", db["metadata"]["name"].str()};
    Value made = binding(db, {{"m1", 2}});
    made.edit("metadata").edit("annotations").set(kAppliedPlacementAnnotation, "{}");
    key = testing::binding_key(made);
    stage.put(db_key, db);
    stage.put(key, made);
    stage.run(Millis{3000});
    ASSERT_EQ(copy("m1")["spec"]["replicas"], Value{2});
  }
  const Value& copy(const std::string& cluster) { return stage.members().member(cluster).find(db_key); }
  const Value& bound() { return stage.state().value_of(key); }
  std::string step() { return handover_step(stage.state(), key, "m1"); }
  void evict_from_m1() {
    stage.write({TaintAdded{cluster_key("m1"), {"fire", "", "NoExecute"}, "by hand"}});
    stage.run(Millis{10});
    ASSERT_EQ(bound()["spec"]["gracefulEvictionTasks"].size(), 1U);
  }
  /// What the scheduler does next.
  void schedule_on_m2() {
    PlacementDecided placed;
    placed.binding = key;
    placed.targets = {{"m2", 2}};
    placed.observed_generation = bound()["metadata"]["generation"].as_int();
    placed.applied_placement = "{}";
    ASSERT_FALSE(stage.write({placed}).refusal);
  }
  /// The kinds of events that concern the hand-over, in order: "Stop", "Confirm", "Start", and "m2" where the Work of
  /// the new copy is rendered.
  std::string history() {
    std::string all;
    for (const Stage::Folding& one : stage.history()) {
      if (one.folded.refusal) continue;
      for (const Event& event : one.entry.events) {
        if (const auto* taken = std::get_if<HandoverStepTaken>(&event)) all += " " + taken->step;
        const auto* rendered = std::get_if<WorkRendered>(&event);
        if (rendered != nullptr && rendered->work == work_key("m2", db)) all += " m2";
      }
    }
    return all;
  }
  /// An object of the member has no pods any more, long after it was scaled down.
  void stop_slowly() { stage.members().member("m1").ready_after = std::nullopt; }
  void pods_end_on_m1() {
    stage.members().member("m1").set_status(
        db_key, Value::object({{"observedGeneration", copy("m1")["metadata"]["generation"]}}));
  }

  Stage stage;
  Value db;
  ObjectKey db_key, key;
};

TEST_F(HandOver, StopsConfirmsAndStarts_2_6_8) {
  place(stateful_set("db"), "statefulsets.apps");
  stop_slowly();
  evict_from_m1();
  schedule_on_m2();
  stage.run(Millis{60'000});
  EXPECT_EQ(copy("m1")["spec"]["replicas"], Value{0}) << "stopped, not deleted";
  EXPECT_EQ(step(), "Stop");
  EXPECT_TRUE(copy("m2").is_null()) << "its pods may still run";
  EXPECT_EQ(history(), " Stop");
  pods_end_on_m1();
  stage.run(Millis{3000});
  EXPECT_EQ(copy("m2")["spec"]["replicas"], Value{2});
  EXPECT_EQ(history(), " Stop Confirm Start m2");
  stage.run(Millis{60'000});
  EXPECT_EQ(bound()["spec"]["gracefulEvictionTasks"].size(), 0U) << "the copy in m2 is healthy";
  EXPECT_TRUE(copy("m1").is_null()) << "an orphan, at last (2.6.10)";
  EXPECT_EQ(step(), "") << "forgotten with the task";
}

TEST_F(HandOver, AnUnreachableClusterHoldsItUpBeyondEveryTimeout) {
  place(stateful_set("db"), "statefulsets.apps");
  stage.members().set_down("m1", true);
  evict_from_m1();
  schedule_on_m2();
  stage.run(Millis{1'200'000});
  EXPECT_EQ(bound()["spec"]["gracefulEvictionTasks"].size(), 0U) << "10 minutes are over";
  EXPECT_EQ(copy("m1")["spec"]["replicas"], Value{2});
  EXPECT_TRUE(copy("m2").is_null()) << "a second copy while the first one may run";
  stage.members().set_down("m1", false);
  stage.run(Millis{120'000});
  EXPECT_EQ(copy("m2")["spec"]["replicas"], Value{2});
  EXPECT_TRUE(copy("m1").is_null());
}

TEST_F(HandOver, RemovingTheTaskDoesNotShortenIt) {
  place(stateful_set("db"), "statefulsets.apps");
  stop_slowly();
  evict_from_m1();
  schedule_on_m2();
  stage.run(Millis{1000});
  Value without = bound();
  without.edit("spec").erase("gracefulEvictionTasks");
  stage.put(key, without);
  stage.run(Millis{60'000});
  EXPECT_TRUE(copy("m2").is_null());
  pods_end_on_m1();
  stage.run(Millis{3000});
  EXPECT_EQ(copy("m2")["spec"]["replicas"], Value{2});
}

TEST_F(HandOver, AClusterThatIsRemovedConfirms) {
  place(stateful_set("db"), "statefulsets.apps");
  stage.members().set_down("m1", true);
  evict_from_m1();
  schedule_on_m2();
  stage.run(Millis{60'000});
  EXPECT_TRUE(copy("m2").is_null());
  stage.write({DeletionRequested{.object = cluster_key("m1")}});
  stage.run(Millis{60'000});
  EXPECT_EQ(copy("m2")["spec"]["replicas"], Value{2});
  EXPECT_EQ(history(), " Stop Confirm Start m2");
}

TEST_F(HandOver, OnlyWhatMayNotRunTwiceIsHandedOver_2_6_7) {
  place(deployment("default", "web", 2), "deployments.apps");
  evict_from_m1();
  stage.run(Millis{1000});
  EXPECT_TRUE(copy("m1").is_null()) << "purged directly, as upstream does";
  EXPECT_EQ(history(), "");
}

TEST_F(HandOver, AnAnnotationOfTheTemplateDecides) {
  Value web = deployment("default", "web", 2);
  web.edit("metadata").edit("annotations").set(dispatcher::kSingleCopyAnnotation, "true");
  place(web, "deployments.apps");
  evict_from_m1();
  schedule_on_m2();
  stage.run(Millis{3000});
  EXPECT_EQ(history(), " Stop Confirm Start m2");
  EXPECT_EQ(copy("m2")["spec"]["replicas"], Value{2});
}

TEST_F(HandOver, AnOldDispatcherCannotBringTheOldCopyBack) {
  place(stateful_set("db"), "statefulsets.apps");
  stage.members().member("m2").ready_after = std::nullopt;  // so that the eviction is not over yet
  const size_t known = stage.history().size();
  evict_from_m1();
  schedule_on_m2();
  stage.run(Millis{3000});
  ASSERT_EQ(history(), " Stop Confirm Start m2");
  ASSERT_EQ(copy("m1")["spec"]["replicas"], Value{0});

  // A dispatcher that has the journal up to `known`, and reaches the member all the same. It has a decision of its own
  // that it has not carried out yet; what it appends is folded no more. What it makes of what is `left` in the member:
  const auto replicas_after = [&](const Value& left) {
    Stage former;
    for (size_t i = 0; i < known; ++i) former.write(stage.history()[i].entry.events);
    former.add(make_dispatcher_role(former.members()));
    former.run(Millis{1000});
    former.set_append_latency(Millis{3'600'000});
    FakeMember& member = former.members().member("m1");
    left.is_null() ? member.erase(db_key) : member.put(db_key, left);
    Value changed = former.state().value_of(work_key("m1", db));
    changed.edit("spec").edit("workload").edit("manifests").edit_items()[0].edit("spec").set("replicas", 5);
    former.put(work_key("m1", db), changed);
    former.run(Millis{60'000});
    EXPECT_GT(former.members().log.size(), 0U);
    return member.find(db_key)["spec"]["replicas"].as_int();
  };
  EXPECT_EQ(replicas_after(copy("m1")), 0) << "what it acts upon is older than what stopped the copy";
  EXPECT_EQ(replicas_after({}), 5) << "a copy that was deleted would be back";
}

}  // namespace
}  // namespace shiplog
