// A member is registered once: who is first has its id.
#include <gtest/gtest.h>

#include "events/base/json.h"
#include "events/base/random.h"
#include "events/fold/fold.h"

namespace shiplog {
namespace {

class FoldMembers : public ::testing::Test {
 protected:
  Folded write(std::vector<Event> events) {
    Entry entry;
    entry.id = new_entry_id(random_);
    entry.events = std::move(events);
    return fold(state_, entry);
  }
  static ObjectKey key(const std::string& name) { return {type::kCluster, "", name}; }
  static Value cluster(const std::string& id, const std::string& region = "north") {
    Value spec = Value::object({{"syncMode", "Push"}, {"region", region}});
    if (!id.empty()) spec.set("id", id);
    return Value::object({{"spec", std::move(spec)}});
  }
  bool taken(std::vector<Event> events) {
    const Folded folded = write(std::move(events));
    EXPECT_TRUE(!folded.refusal || folded.refusal->member_taken) << folded.refusal->reason;
    return folded.refusal.has_value();
  }
  void activate() { write({FoldVersionActivated{8}}); }

  SeededRandom random_{1};
  State state_;
};

TEST_F(FoldMembers, AMemberBelongsToTheFirstClusterWithItsId_1_3_2) {
  activate();
  EXPECT_FALSE(taken({ObjectCreated{key("a"), cluster("x")}}));
  const Folded second = write({ObjectCreated{key("b"), cluster("x")}});
  ASSERT_TRUE(second.refusal);
  EXPECT_EQ(second.refusal->code, ErrorCode::kConflict);
  EXPECT_EQ(second.refusal->reason, "Duplicate value: \"x\": the member is registered as the cluster a");
  EXPECT_EQ(second.refusal->about, key("a"));
  EXPECT_EQ(state_.find(key("b")), nullptr);
  EXPECT_TRUE(taken({ObjectCreated{key("b"), cluster("y")}, ObjectCreated{key("c"), cluster("y")}})) << "in one entry";
  EXPECT_FALSE(taken({ObjectCreated{key("b"), cluster("")}}));
  EXPECT_FALSE(taken({ObjectCreated{key("c"), cluster("")}})) << "none is no id";
  EXPECT_TRUE(taken({ObjectUpdated{key("b"), cluster("x")}}));
  EXPECT_TRUE(taken({ClusterJoined{key("b"), "x"}})) << "a role's decision, too";
  EXPECT_FALSE(taken({ClusterJoined{key("b"), "z"}}));
  EXPECT_FALSE(taken({ObjectUpdated{key("a"), cluster("x", "south")}})) << "its own";
}

TEST_F(FoldMembers, AClusterThatGoesOrChangesGivesItsIdBack) {
  activate();
  EXPECT_FALSE(taken({ObjectCreated{key("a"), cluster("x")}}));
  EXPECT_FALSE(taken({ObjectUpdated{key("a"), cluster("y")}}));
  EXPECT_FALSE(taken({ObjectCreated{key("b"), cluster("x")}}));
  EXPECT_FALSE(taken({ObjectUpdated{key("a"), cluster("")}, ObjectUpdated{key("b"), cluster("y")}})) << "in one entry";
  EXPECT_FALSE(taken({ClusterLeft{key("b"), ""}, ObjectCreated{key("c"), cluster("y")}}));
  Value held = cluster("z");
  held.edit("metadata").set("finalizers", Value::array({"hold"}));
  EXPECT_FALSE(taken({ObjectCreated{key("d"), held}}));
  write({DeletionRequested{key("d")}});
  EXPECT_TRUE(taken({ObjectCreated{key("e"), cluster("z")}})) << "as long as it is there";
}

TEST_F(FoldMembers, OlderJournalsFoldAsTheyDid) {
  write({FoldVersionActivated{7}});
  EXPECT_FALSE(taken({ObjectCreated{key("a"), cluster("x")}}));
  EXPECT_FALSE(taken({ObjectCreated{key("b"), cluster("x")}}));
  activate();
  EXPECT_FALSE(taken({ObjectUpdated{key("b"), cluster("x", "south")}})) << "what it has had it keeps";
  EXPECT_TRUE(taken({ObjectCreated{key("c"), cluster("x")}}));
  write({ClusterLeft{key("a"), ""}});
  EXPECT_TRUE(taken({ObjectCreated{key("c"), cluster("x")}})) << "b still has it";
}

}  // namespace
}  // namespace shiplog
