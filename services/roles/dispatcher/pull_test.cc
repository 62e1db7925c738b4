#include <gtest/gtest.h>

#include "events/state/work.h"
#include "tests/support/dispatcher_fixture.h"
#include "tests/support/stage.h"

// Clusters whose agent dispatches their Works (Pull mode).
namespace shiplog {
namespace {

using namespace testing;

class DispatcherOfPullClusters : public Dispatcher {
 protected:
  DispatcherOfPullClusters() { mode("m1", "Pull"); }

  void mode(const std::string& cluster, const std::string& sync_mode) {
    Value object = stage.state().value_of(cluster_key(cluster));
    object.edit("spec").set("syncMode", sync_mode);
    stage.put(cluster_key(cluster), object);
  }
  /// As its agent does when the member has given the objects back.
  void release(const ObjectKey& work) {
    Value object = stage.state().value_of(work);
    object.edit("metadata").erase("finalizers");
    stage.put(work, object);
  }
};

TEST_F(DispatcherOfPullClusters, WorksAreRenderedAndLeftToTheAgent_1_11_3) {  // E-1
  place("configmaps", map, {{"m1", 0}, {"m2", 0}});
  EXPECT_NE(stage.state().find(work_key("m1", map)), nullptr);
  EXPECT_TRUE(on_member("m1", map_key).is_null());
  EXPECT_FALSE(on_member("m2", map_key).is_null());
  stage.write({DeletionRequested{.object = work_key("m1", map)}});
  stage.run(Millis{10'000});
  EXPECT_TRUE(has_finalizer(stage.state().value_of(work_key("m1", map)), finalizer::kWork));
  for (const auto& request : stage.members().log) EXPECT_EQ(request.find("m1"), std::string::npos) << request;
}

TEST_F(DispatcherOfPullClusters, WhatWasLeftIsDispatchedWhenTheModeBecomesPush) {
  place("configmaps", map, {{"m1", 0}});
  mode("m1", "Push");
  stage.run(Millis{1000});
  EXPECT_FALSE(on_member("m1", map_key).is_null());
}

TEST_F(DispatcherOfPullClusters, ADeletedWorkIsMadeAgainAfterAPause_1_10_3) {
  place("configmaps", map, {{"m1", 0}});
  const ObjectKey work = work_key("m1", map);
  stage.write({DeletionRequested{.object = work}});
  release(work);
  stage.run(Millis{4'000});
  EXPECT_EQ(stage.state().find(work), nullptr) << "so that who unregisters finds none";
  stage.run(Millis{2'000});
  EXPECT_NE(stage.state().find(work), nullptr);
}

TEST_F(DispatcherOfPullClusters, WorksOfALeavingClusterWithoutItsAgentAreReleased_1_12_2) {
  place("configmaps", map, {{"m1", 0}});
  const ObjectKey work = work_key("m1", map);
  Value held = stage.state().value_of(cluster_key("m1"));
  held.edit("metadata").set("finalizers", Value::array({finalizer::kCluster}));
  stage.put(cluster_key("m1"), held);
  stage.write({DeletionRequested{.object = cluster_key("m1")}, DeletionRequested{.object = work}});
  stage.run(Millis{1'000});
  EXPECT_NE(stage.state().find(work), nullptr) << "its agent is alive, and takes the objects back";
  ready("m1", "Unknown");
  stage.run(Millis{1'000});
  EXPECT_EQ(stage.state().find(work), nullptr);
}

}  // namespace
}  // namespace shiplog
