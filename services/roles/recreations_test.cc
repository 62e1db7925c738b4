// Works of Pull clusters that were deleted stay away while a cluster unregisters (1.10.3).
#include "services/roles/recreations.h"

#include <gtest/gtest.h>

#include "events/state/work.h"
#include "tests/support/given.h"

namespace shiplog {
namespace {

using given::History;
using given::json;

class WorksMadeAgain : public ::testing::Test {
 protected:
  static constexpr UtcMillis kStart = given::kNoon;

  WorksMadeAgain() {
    cluster("pull", "Pull");
    cluster("push", "Push");
    history.object(binding, R"({"metadata": {"labels": {"resourcebinding.karmada.io/permanent-id": "id"}},
                                "spec": {"clusters": [{"name": "pull"}, {"name": "push"}],
                                         "requiredBy": [{"clusters": [{"name": "third"}]}]}})");
    cluster("third", "Pull");
  }

  void cluster(const std::string& name, const std::string& mode) {
    history.object({type::kCluster, "", name}, R"({"spec": {"syncMode": ")" + mode + R"("}})");
  }
  static ObjectKey work(const std::string& cluster, const std::string& name = "web") {
    return {type::kWork, execution_space(cluster), name};
  }
  /// A Work of the binding is gone.
  void removed(const ObjectKey& key, const std::string& id = "id") {
    recreations.removed(history.state(), {.object = key,
                                          .revision = {},
                                          .before = json(R"({"metadata": {"labels":
                                              {"resourcebinding.karmada.io/permanent-id": ")" +
                                                         id + R"("}}})"),
                                          .after = {},
                                          .json = nullptr});
  }
  /// When a decision that makes the Work is to be made; nullopt: now.
  std::optional<int64_t> waits_for(const ObjectKey& key, int64_t seconds) {
    const UtcMillis now = kStart + Millis{seconds * 1000};
    const auto decided = recreations.hold_back(decide_one(WorkRendered{key, {}, {}}, {key, {}}), now);
    const auto* later = decided ? std::get_if<LookAgain>(&decided.value()) : nullptr;
    if (later == nullptr) return std::nullopt;
    return (later->at.value - kStart.value) / 1000;
  }

  History history;
  Recreations recreations;
  const ObjectKey binding{type::kResourceBinding, "default", "web-deployment"};
};

TEST_F(WorksMadeAgain, ADeletedOneIsMadeAfterAPause) {
  removed(work("pull"));
  EXPECT_EQ(waits_for(work("pull"), 0), 5);
  EXPECT_EQ(waits_for(work("pull"), 4), 5);
  EXPECT_EQ(waits_for(work("pull", "other"), 4), std::nullopt) << "it was not deleted";
  EXPECT_EQ(waits_for(work("pull"), 5), std::nullopt);
}

// Upstream's unregister deletes at most five a second: the first must not be there again before the last is gone.
TEST_F(WorksMadeAgain, ThePauseLastsUntilNoMoreAreDeletedInTheCluster) {
  removed(work("pull", "first"));
  EXPECT_EQ(waits_for(work("pull", "first"), 0), 5);
  for (int64_t second = 3; second < 57; second += 3) {
    removed(work("pull", "w" + std::to_string(second)));
    EXPECT_EQ(waits_for(work("pull", "first"), second), second + 5);
  }
  EXPECT_EQ(waits_for(work("third", "first"), 54), std::nullopt) << "of another cluster";
  removed(work("pull", "last"));
  EXPECT_EQ(waits_for(work("pull", "first"), 58), 60) << "no longer than upstream's command waits";
  EXPECT_EQ(waits_for(work("pull", "last"), 58), 63);
  EXPECT_EQ(waits_for(work("pull", "first"), 60), std::nullopt);
  EXPECT_EQ(waits_for(work("pull", "last"), 63), std::nullopt);
}

// While one is waited for, so are the Works of other clusters: an agent must not prolong that.
TEST_F(WorksMadeAgain, OneThatIsDeletedAgainAndAgainIsWaitedForOnceInFiveMinutes) {
  removed(work("pull"));
  EXPECT_EQ(waits_for(work("pull"), 0), 5);
  EXPECT_EQ(waits_for(work("pull"), 5), std::nullopt);
  for (int64_t second = 6; second < 300; second += 42) {
    removed(work("pull"));
    removed(work("pull", "w" + std::to_string(second)));
    EXPECT_EQ(waits_for(work("pull", "w" + std::to_string(second)), second), second + 5);
    EXPECT_EQ(waits_for(work("pull"), second), second < 60 ? std::optional{second + 5} : std::nullopt) << second;
  }
  EXPECT_EQ(waits_for(work("pull"), 300), std::nullopt);
  removed(work("pull"));
  EXPECT_EQ(waits_for(work("pull"), 301), 306);
}

TEST_F(WorksMadeAgain, OneThatWasGivenUpIsMadeAtOnce) {
  removed(work("pull"), "of-a-binding-that-is-gone");
  EXPECT_EQ(waits_for(work("pull"), 0), std::nullopt);
  history.edit(binding, [](Value& object) { object.edit("spec").set("clusters", Value::array()); });
  removed(work("pull"));
  EXPECT_EQ(waits_for(work("pull"), 0), std::nullopt) << "its binding no longer names the cluster";
  removed(work("third"));
  EXPECT_EQ(waits_for(work("third"), 0), 5) << "what depends on it does";
  history.edit(binding, [](Value& object) { object.edit("metadata").set("finalizers", Value::array({"x"})); });
  history.remove(binding);
  removed(work("third", "b"));
  EXPECT_EQ(waits_for(work("third", "b"), 0), std::nullopt) << "its binding is being deleted";
}

TEST_F(WorksMadeAgain, WorksOfNamespacesAndOfTheClusterItselfWaitAsWell) {
  const auto owned = [&](const std::string& name, const std::string& kind, const std::string& owner) {
    recreations.removed(history.state(), {.object = work("pull", name),
                                          .revision = {},
                                          .before = json(R"({"metadata": {"ownerReferences": [{"kind": ")" + kind +
                                                         R"(", "name": ")" + owner + R"("}]}})"),
                                          .after = {},
                                          .json = nullptr});
  };
  owned("ns", "Namespace", "default");
  owned("former", "Namespace", "none");
  owned("impersonator", "Cluster", "pull");
  EXPECT_EQ(waits_for(work("pull", "ns"), 0), 5);
  EXPECT_EQ(waits_for(work("pull", "former"), 0), std::nullopt);
  EXPECT_EQ(waits_for(work("pull", "impersonator"), 0), 5);
}

TEST_F(WorksMadeAgain, PushClustersAndClustersThatLeaveDoNotWait) {
  removed(work("push"));
  EXPECT_EQ(waits_for(work("push"), 0), std::nullopt);
  const ObjectKey pull{type::kCluster, "", "pull"};
  history.edit(pull, [](Value& object) { object.edit("metadata").set("finalizers", Value::array({"x"})); });
  history.remove(pull);
  removed(work("pull"));
  EXPECT_EQ(waits_for(work("pull"), 0), std::nullopt);
}

TEST_F(WorksMadeAgain, AClockThatWasSetBackHoldsNone) {
  removed(work("pull"));
  EXPECT_EQ(waits_for(work("pull"), 100), 105);
  EXPECT_EQ(waits_for(work("pull"), 50), std::nullopt);
}

TEST_F(WorksMadeAgain, OtherDecisionsAndErrorsAreAsTheyWere) {
  removed(work("pull"));
  EXPECT_TRUE(std::holds_alternative<Nothing>(recreations.hold_back(Nothing{}, kStart).value()));
  const auto failed = recreations.hold_back(Error{ErrorCode::kConflict, "taken"}, kStart);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "taken");
}

}  // namespace
}  // namespace shiplog
