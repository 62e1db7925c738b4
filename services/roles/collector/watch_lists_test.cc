#include <gtest/gtest.h>

#include "events/state/work.h"
#include "services/roles/collector/role.h"
#include "services/roles/dispatcher/role.h"
#include "services/roles/lifecycle/role.h"
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

}  // namespace
}  // namespace shiplog
