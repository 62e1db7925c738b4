#include <algorithm>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "events/state/work.h"
#include "services/roles/collector/role.h"
#include "services/roles/dispatcher/role.h"
#include "services/roles/lifecycle/role.h"
#include "tests/support/fake_task.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;

void join(Stage& stage) {
  stage.members().member("m1");
  stage.put(cluster_key("m1"), cluster_object("m1"));
  stage.run(Millis{500});
}

// A list that is read while objects are being written misses some of them. The watch that follows shows them.
TEST(CollectorLists, AMemberIsNotListedAgainForWhatTheWatchHasShown) {
  const Value map = config_map("default", "settings", "x");
  const ObjectKey map_key{"configmaps", "default", "settings"}, work_of_map = work_key("m1", map);
  // What the dispatcher makes of the object, and writes to the member.
  Stage dispatched;
  dispatched.add(make_lifecycle_role());
  dispatched.add(make_dispatcher_role(dispatched.members()));
  dispatched.add(make_collector_role(dispatched.members()));
  join(dispatched);
  dispatched.put(map_key, map);
  const Value bound = binding(map, {{"m1", 0}});
  dispatched.put(binding_key(bound), bound);
  dispatched.run(Millis{1'000});
  Value work = dispatched.state().value_of(work_of_map);
  work.erase("status");
  Value written = dispatched.members().member("m1").find(map_key);
  written.edit("metadata").edit("annotations").set(annotation::kRevision, "1");

  Stage stage;
  stage.add(make_lifecycle_role());
  stage.add(make_collector_role(stage.members()));
  join(stage);
  stage.put(work_of_map, work);
  stage.run(Millis{1'000});
  const auto lists = [&] { return stage.members().count("m1 GET /api/v1/configmaps?limit"); };
  ASSERT_EQ(lists(), 1U);
  stage.members().member("m1").put(map_key, written);
  stage.run(Millis{60'000});
  EXPECT_EQ(stage.state().value_of(work_of_map)["status"]["manifestStatuses"][0]["health"], "Healthy");
  EXPECT_EQ(lists(), 1U);
}

/// After a start a watch waits among those of all members, as routine. The change of one object does not wait with
/// them.
TEST(CollectorLists, AChangeBringsTheFirstListForwardAndNoLaterOne) {
  const Value map = config_map("default", "settings", "x");
  const ObjectKey map_key{"configmaps", "default", "settings"}, work_of_map = work_key("m1", map);
  Stage stage;
  stage.add(make_lifecycle_role());
  stage.add(make_dispatcher_role(stage.members()));
  stage.add(make_collector_role(stage.members()));
  join(stage);
  stage.put(map_key, map);
  const Value bound = binding(map, {{"m1", 0}});
  stage.put(binding_key(bound), bound);
  stage.run(Millis{1'000});
  given::History history;
  history.put(cluster_key("m1"), stage.state().value_of(cluster_key("m1")));
  history.put({type::kNamespace, "", work_of_map.ns}, namespace_object(work_of_map.ns.str()));
  history.put(work_of_map, stage.state().value_of(work_of_map));

  const std::unique_ptr<Role> started = make_collector_role(stage.members());
  const ObjectKey watch{"configmaps", "@watch", "m1"};
  std::vector<ObjectKey> wake;
  started->on_start(history.state(), wake);
  ASSERT_GE(std::ranges::count(wake, watch), 1);
  const ObjectKey flush{type::kWork, "@flush", std::to_string(started->slot_of_key(watch))};
  EXPECT_GT(started->priority(history.state(), flush), started->priority(history.state(), cluster_key("m1")))
      << "what has arrived is reported before all members are read";
  const auto changed = [&](const char* text) {
    Value work = history.state().value_of(work_of_map);
    work.edit("spec").edit("workload").edit("manifests").edit_items()[0].edit("data").set("key", text);
    const auto keys = given::woken(*started, history, {ObjectUpdated{work_of_map, work}});
    return std::ranges::count(keys, watch) > 0;
  };
  EXPECT_TRUE(changed("y"));
  const auto task = std::make_shared<given::FakeTask>(history, watch);
  started->reconcile(task);
  stage.run(Millis{1'000});
  EXPECT_EQ(task->finished, 1);
  EXPECT_FALSE(changed("z")) << "it is read, and watched from there";
}

}  // namespace
}  // namespace shiplog
