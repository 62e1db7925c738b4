#include "events/state/target_index.h"

#include <gtest/gtest.h>

namespace shiplog {
namespace {

Value on(std::initializer_list<const char*> clusters) {
  Value targets = Value::array();
  for (const char* cluster : clusters) targets.push_back(Value::object({{"name", cluster}}));
  return Value::object({{"spec", Value::object({{"clusters", std::move(targets)}})}});
}

std::set<ObjectKey> placed(const TargetIndex& index, const char* cluster) {
  std::set<ObjectKey> all;
  for (const auto& [alike, group] : index.on(cluster)) all.insert(group.bindings.begin(), group.bindings.end());
  return all;
}

TEST(TargetIndex, FollowsBindingsFromClusterToCluster) {
  const ObjectKey web{type::kResourceBinding, "default", "web"};
  const ObjectKey all{type::kClusterResourceBinding, "", "web"};
  TargetIndex index;
  index.update(web, Value{}, on({"m1", "m2"}));
  index.update(all, Value{}, on({"m2"}));
  EXPECT_EQ(placed(index, "m1"), std::set<ObjectKey>{web});
  EXPECT_EQ(placed(index, "m2"), (std::set<ObjectKey>{web, all}));
  index.update(web, on({"m1", "m2"}), on({"m3", "m2"}));
  EXPECT_TRUE(index.on("m1").empty());
  EXPECT_EQ(placed(index, "m3"), std::set<ObjectKey>{web});
  index.update(web, on({"m3", "m2"}), Value{});
  EXPECT_EQ(placed(index, "m2"), std::set<ObjectKey>{all});
  TargetIndex rebuilt;
  rebuilt.update(all, Value{}, on({"m2"}));
  EXPECT_EQ(index, rebuilt) << "what is empty leaves nothing behind";
  EXPECT_FALSE(TargetIndex::wants(type::kWork));
}

}  // namespace
}  // namespace shiplog
