#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/state/work.h"
#include "services/roles/collector/role.h"
#include "services/roles/dispatcher/role.h"
#include "services/roles/lifecycle/role.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;

/// What the collector says of Works that the dispatcher has not reported as applied.
class AppliedWorks : public ::testing::Test {
 protected:
  AppliedWorks() {
    stage.add(make_lifecycle_role());
    stage.add(make_dispatcher_role(stage.members()));
    stage.add(make_collector_role(stage.members()));
    stage.members().member("m1");
    stage.put(cluster_key("m1"), cluster_object("m1"));
    stage.run(Millis{500});
  }
  void place(const Value& object) {
    stage.put({"configmaps", "default", object["metadata"]["name"].str()}, object);
    stage.put(testing::binding_key(binding(object, {{"m1", 0}})), binding(object, {{"m1", 0}}));
  }

  Stage stage;
};

// Many at once: the dispatcher leaves it to the collector to say that they are applied, in one change with their
// status.
TEST_F(AppliedWorks, TheFirstStatusOfAWorkSaysThatItIsApplied_E_5_T_2) {
  stage.set_append_latency(Millis{5});
  std::vector<Value> maps;
  for (int i = 0; i < 60; ++i) {
    maps.push_back(config_map("default", "settings-" + std::to_string(i), "x"));
    place(maps.back());
  }
  stage.run(Millis{3000});
  std::map<ObjectKey, int> together, applied_events;
  for (const auto& [entry, folded] : stage.history()) {
    if (folded.refusal) continue;
    std::set<ObjectKey> observed;
    for (const Event& event : entry.events) {
      if (const auto* report = std::get_if<WorkStatusObserved>(&event)) observed.insert(report->work);
    }
    for (const Event& event : entry.events) {
      const auto* report = std::get_if<WorkApplied>(&event);
      if (report == nullptr) continue;
      ++applied_events[report->work];
      if (observed.contains(report->work)) ++together[report->work];
    }
  }
  EXPECT_GE(together.size(), 40U);
  for (const Value& one : maps) {
    const ObjectKey work = work_key("m1", one);
    EXPECT_EQ(applied_events[work], 1) << to_string(work);
    EXPECT_TRUE(applied(stage.state().value_of(work))) << to_string(work);
    EXPECT_EQ(stage.state().value_of(work)["status"]["manifestStatuses"][0]["health"], "Healthy") << to_string(work);
  }
}

// After an update the status may be unchanged, and then the collector reports nothing.
TEST_F(AppliedWorks, UpdatesDoNotWaitForAStatus) {
  stage.set_append_latency(Millis{5});
  const auto map = [](int number, const char* text) {
    return config_map("default", "settings-" + std::to_string(number), text);
  };
  for (int i = 0; i < 60; ++i) place(map(i, "x"));
  stage.run(Millis{3000});
  for (int i = 0; i < 60; ++i) {
    const Value updated = map(i, "y");
    stage.put({"configmaps", "default", updated["metadata"]["name"].str()}, updated);
    Value touched = binding(updated, {{"m1", 0}});
    touched.edit("spec").edit("resource").set("resourceVersion", "2");
    stage.put(testing::binding_key(touched), touched);
  }
  stage.run(Millis{80});
  for (int i = 0; i < 60; ++i) {
    const Value& work = stage.state().value_of(work_key("m1", map(i, "y")));
    EXPECT_EQ(work["metadata"]["generation"], Value{2});
    EXPECT_TRUE(applied(work)) << i;
  }
}

TEST_F(AppliedWorks, OnlyWhatWasWrittenFromTheWorkAsItIsNowSaysThatItIsApplied_E_5) {
  const Value map = config_map("default", "settings", "x");
  const ObjectKey map_key{"configmaps", "default", "settings"};
  place(map);
  stage.run(Millis{3000});
  const ObjectKey work = work_key("m1", map);
  stage.stop("dispatcher");
  const auto says_applied = [&](const Value& object) {
    Value edited = stage.state().value_of(work);  // the same manifest; nothing applies the new generation
    edited.edit("spec").set("preserveResourcesOnDeletion", !edited["spec"]["preserveResourcesOnDeletion"].as_bool());
    EXPECT_FALSE(stage.write({ObjectUpdated{work, edited}}).refusal);
    EXPECT_FALSE(applied(stage.state().value_of(work)));
    // Nothing is reported of a status that has not changed.
    EXPECT_FALSE(stage.write({WorkStatusObserved{work, Value::array({}), 0}}).refusal);
    Value marked = object;
    if (annotation_of(marked, annotation::kRevision) == "present") {
      marked.edit("metadata")
          .edit("annotations")
          .set(annotation::kRevision, std::to_string(stage.state().revision_of(work).value));
    }
    stage.members().member("m1").erase(map_key);
    stage.members().member("m1").put(map_key, marked);
    stage.run(Millis{3000});
    EXPECT_EQ(stage.state().value_of(work)["status"]["manifestStatuses"].size(), 1U);
    return applied(stage.state().value_of(work));
  };
  const Value written = stage.members().member("m1").find(map_key);
  Value labelled = written;
  labelled.edit("metadata").edit("labels").set("member", "own");
  EXPECT_FALSE(says_applied(labelled)) << "written for an earlier revision";
  Value present = written;
  present.edit("metadata").edit("annotations").set(annotation::kRevision, "present");
  Value of_another = present;
  of_another.edit("metadata").edit("annotations").set(annotation::kManifestHash, "00");
  EXPECT_FALSE(says_applied(of_another)) << "another manifest was written";
  Value altered = present;
  altered.edit("data").set("text", "other");
  EXPECT_FALSE(says_applied(altered)) << "the member's object is another one";
  EXPECT_TRUE(says_applied(present));
}

TEST_F(AppliedWorks, AMemberSaysNothingOfTheWorksOfAnother) {
  stage.members().member("m2");
  stage.put(cluster_key("m2"), cluster_object("m2"));
  const Value map = config_map("default", "settings", "x");
  const ObjectKey map_key{"configmaps", "default", "settings"};
  stage.put(map_key, map);
  const Value both = binding(map, {{"m1", 0}, {"m2", 0}});
  stage.put(testing::binding_key(both), both);
  stage.run(Millis{3000});
  const ObjectKey work = work_key("m1", map);
  ASSERT_TRUE(applied(stage.state().value_of(work)));
  stage.stop("dispatcher");
  Value edited = stage.state().value_of(work);
  edited.edit("spec").set("preserveResourcesOnDeletion", true);
  EXPECT_FALSE(stage.write({ObjectUpdated{work, edited}, WorkStatusObserved{work, Value::array({}), 0}}).refusal);
  // What m1 would have of the new generation, in m2.
  Value claimed = stage.members().member("m1").find(map_key);
  claimed.edit("metadata")
      .edit("annotations")
      .set(annotation::kRevision, std::to_string(stage.state().revision_of(work).value));
  stage.members().member("m2").put(map_key, claimed);
  stage.run(Millis{3000});
  EXPECT_FALSE(applied(stage.state().value_of(work)));
  EXPECT_EQ(stage.state().value_of(work)["status"]["manifestStatuses"].size(), 0U);
}

}  // namespace
}  // namespace shiplog
