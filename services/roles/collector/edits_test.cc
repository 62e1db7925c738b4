#include <gtest/gtest.h>

#include "events/state/work.h"
#include "services/roles/collector/role.h"
#include "services/roles/dispatcher/role.h"
#include "services/roles/lifecycle/role.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace testing;

TEST(CollectorEdits, ArePutRightWhetherTheyCountAsAGenerationOrNot_E_15) {
  const Value web = deployment("default", "web", 3);
  const ObjectKey key{"deployments.apps", "default", "web"};
  Stage stage;
  stage.add(make_lifecycle_role());
  stage.add(make_dispatcher_role(stage.members()));
  stage.add(make_collector_role(stage.members()));
  FakeMember& member = stage.members().member("m1");
  stage.put(cluster_key("m1"), cluster_object("m1"));
  stage.run(Millis{500});
  stage.put(key, web);
  const Value bound = binding(web, {{"m1", 3}});
  stage.put(binding_key(bound), bound);
  stage.run(Millis{3'000});

  const auto writes_after = [&](auto edit) {
    stage.members().log.clear();
    Value edited = member.find(key);
    edit(edited);
    member.put(key, edited);
    stage.run(Millis{3'000});
    return stage.members().count("PUT") + stage.members().count("PATCH");
  };
  ASSERT_GT(member.find(key)["metadata"]["generation"].as_int(), 0);
  EXPECT_EQ(writes_after([](Value& object) { object.edit("status").set("readyReplicas", 2); }), 0U);
  EXPECT_GT(writes_after([](Value& object) { object.edit("spec").set("replicas", 7); }), 0U);
  EXPECT_EQ(member.find(key)["spec"]["replicas"], Value{3});
  EXPECT_GT(writes_after([](Value& object) { object.edit("metadata").edit("labels").erase(label::kWorkId); }), 0U);
  EXPECT_FALSE(label_of(member.find(key), label::kWorkId).empty());

  // Another object of that name, whose generations begin with the same number.
  Value other = member.find(key);
  member.erase(key);
  other.edit("spec").set("replicas", 9);
  member.put(key, other);
  stage.run(Millis{5'000});
  EXPECT_EQ(member.find(key)["spec"]["replicas"], Value{3});
}

}  // namespace
}  // namespace shiplog
