#include "services/runtime/leaders.h"

#include <set>

#include <gtest/gtest.h>

#include "events/slots.h"
#include "services/runtime/manual_executor.h"

namespace shiplog {
namespace {

class KnownElection final : public Election {
 public:
  const std::string& identity() const override { return identity_; }
  void campaign(const std::string&, std::function<void(bool)>) override {}
  std::optional<bool> led(const std::string& service) override {
    if (service == "unknown") return std::nullopt;
    return leading.contains(service);
  }
  void withdraw(const std::string&) override {}
  void announce(const std::string&) override {}
  std::vector<std::string> candidates(const std::string&) override { return {}; }
  std::string trouble() override { return unheard; }
  void resign() override {}

  std::set<std::string> leading;
  std::string unheard;

 private:
  std::string identity_ = "api-only";
};

TEST(Leaders, ReportWhichRolesAreLedAndSinceWhen) {
  ManualExecutor executor;
  KnownElection election;
  election.leading = {"scheduler"};
  Leaders leaders{{&election, &executor, {"scheduler", "binder", "unknown"}}};
  EXPECT_TRUE(leaders.now().empty());
  leaders.start();
  const UtcMillis start = executor.now();
  EXPECT_TRUE(leaders.now().empty()) << "others may be starting, too";
  executor.run(Millis{2500});
  ASSERT_EQ(leaders.now().size(), 2U);
  EXPECT_TRUE(leaders.now()[0].led);
  EXPECT_FALSE(leaders.now()[1].led);
  executor.run(Millis{5000});
  EXPECT_EQ(leaders.now()[0].since, start);
  election.leading.clear();
  executor.run(Millis{5000});
  EXPECT_FALSE(leaders.now()[0].led);
  EXPECT_GT(leaders.now()[0].since, start);
  EXPECT_EQ(leaders.now()[1].since, start);
}

TEST(Leaders, AreNotKnownWhileTheElectionIsInTrouble) {
  ManualExecutor executor;
  KnownElection election;
  election.leading = {"scheduler"};
  Leaders leaders{{&election, &executor, {"scheduler"}}};
  leaders.start();
  executor.run(Millis{2500});
  EXPECT_EQ(leaders.missing(), "");
  election.unheard = "this process has read no heartbeat of its own for 31 s";
  executor.run(Millis{2500});
  EXPECT_EQ(leaders.missing(),
            "it is not known which roles have a leader: this process has read no heartbeat of its own for 31 s");
  election.unheard.clear();
  executor.run(Millis{2500});
  EXPECT_EQ(leaders.missing(), "");
}

TEST(Leaders, ARoleWithNothingToDoIsReportedOnlyWhileItIsLed) {
  ManualExecutor executor;
  KnownElection election;
  Leaders leaders{
      {.election = &election, .executor = &executor, .roles = {"binder", "feeds"}, .idle = [](const std::string& role) {
         return role == "feeds";
       }}};
  leaders.start();
  executor.run(Millis{2500});
  ASSERT_EQ(leaders.now().size(), 1U);
  EXPECT_EQ(leaders.now()[0].role, "binder");
  election.leading = {"feeds"};
  executor.run(Millis{2500});
  ASSERT_EQ(leaders.now().size(), 2U);
  EXPECT_TRUE(leaders.now()[1].led);
}

constexpr auto kSchedulerIsExpected = [](const std::string& role) { return role == "scheduler"; };

TEST(Leaders, AnExpectedRoleThatWasNeverLedIsMissingAtOnce) {
  ManualExecutor executor;
  KnownElection election;
  Leaders leaders{{&election, &executor, {"scheduler", "binder", "unknown"}, kSchedulerIsExpected}};
  EXPECT_EQ(leaders.missing(), "it is not known yet which roles have a leader");
  leaders.start();
  EXPECT_EQ(leaders.missing(), "no process leads for the role scheduler");
  election.leading = {"scheduler"};
  executor.run(Millis{100});
  EXPECT_EQ(leaders.missing(), "") << "a process that starts is ready as soon as it leads";
}

TEST(Leaders, AnExpectedRoleThatLosesItsLeaderIsMissingAfterATakeover) {
  ManualExecutor executor;
  KnownElection election;
  election.leading = {"scheduler"};
  Leaders leaders{{&election, &executor, {"scheduler"}, kSchedulerIsExpected}};
  leaders.start();
  executor.run(Millis{5000});
  election.leading.clear();
  executor.run(Millis{2000});
  EXPECT_EQ(leaders.missing(), "") << "another process may be taking over";
  executor.run(Millis{4000});
  EXPECT_EQ(leaders.missing(), "no process leads for the role scheduler");
  election.leading = {"scheduler"};
  executor.run(Millis{1500});
  EXPECT_EQ(leaders.missing(), "");
}

TEST(Leaders, ReportWhichRolesAreExpectedToBeLed) {
  ManualExecutor executor;
  KnownElection election;
  Leaders leaders{{&election, &executor, {"scheduler", "binder"}, kSchedulerIsExpected}};
  leaders.start();
  executor.run(Millis{2500});
  ASSERT_EQ(leaders.now().size(), 2U);
  EXPECT_TRUE(leaders.now()[0].expected);
  EXPECT_FALSE(leaders.now()[1].expected);
}

TEST(Leaders, RolesThatNoFleetNeedsAreNotMissing) {
  ManualExecutor executor;
  KnownElection election;
  Leaders leaders{{&election, &executor, {"scheduler", "binder"}}};
  leaders.start();
  executor.run(Millis{5000});
  EXPECT_EQ(leaders.missing(), "");
}

class DividedLeadersTest : public ::testing::Test {
 protected:
  DividedLeadersTest() {
    for (int slot = 0; slot < kSlots; ++slot) election.leading.insert(slot_lease("dispatcher", slot));
  }

  ManualExecutor executor;
  KnownElection election;
  bool divided = true;
  Leaders leaders{{&election,
                   &executor,
                   {"binder", "dispatcher"},
                   [](const std::string& role) { return role == "dispatcher"; },
                   [this](const std::string& role) { return divided && role == "dispatcher"; }}};
};

TEST_F(DividedLeadersTest, ADividedRoleIsLedWhenEachSlotIs) {
  leaders.start();
  executor.run(Millis{2500});
  EXPECT_EQ(leaders.missing(), "");
  ASSERT_EQ(leaders.now().size(), 2U);
  EXPECT_TRUE(leaders.now()[1].led);
}

TEST_F(DividedLeadersTest, SlotsWithoutAHolderAreNamed) {
  leaders.start();
  executor.run(Millis{2500});
  election.leading.erase("dispatcher:3");
  election.leading.erase("dispatcher:11");
  executor.run(Millis{1500});
  EXPECT_EQ(leaders.missing(), "") << "another process may be taking over";
  executor.run(Millis{4000});
  EXPECT_EQ(leaders.missing(), "no process leads for the role dispatcher (slots 3, 11)");
  EXPECT_FALSE(leaders.now()[1].led);
  EXPECT_EQ(leaders.now()[1].unled_slots, (std::vector<int>{3, 11}));
  election.leading.erase(election.leading.begin(), election.leading.end());
  executor.run(Millis{5000});
  EXPECT_EQ(leaders.missing(), "no process leads for the role dispatcher");
}

TEST_F(DividedLeadersTest, ARoleThatIsDividedWhileItIsLedIsNotMissingAtOnce) {
  divided = false;
  election.leading = {"dispatcher"};
  leaders.start();
  executor.run(Millis{2500});
  EXPECT_EQ(leaders.missing(), "");
  divided = true;
  election.leading.clear();
  executor.run(Millis{1000});
  EXPECT_EQ(leaders.missing(), "");
  executor.run(Millis{4000});
  EXPECT_EQ(leaders.missing(), "no process leads for the role dispatcher");
}

}  // namespace
}  // namespace shiplog
