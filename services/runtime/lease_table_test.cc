#include "services/runtime/lease_table.h"

#include <list>
#include <vector>

#include <gtest/gtest.h>

namespace shiplog {
namespace {

constexpr int kPatience = 3;

/// A log of heartbeats and who reads it, by hand.
class Candidates : public ::testing::Test {
 protected:
  LeaseTable& add(const std::string& name) {
    tables_.emplace_back(name, kPatience);
    tables_.back().campaign("scheduler");
    for (size_t at = 0; at < log_.size(); ++at) tables_.back().fold(Offset{static_cast<int64_t>(at)}, log_[at]);
    return tables_.back();
  }
  void store(const Heartbeat& heartbeat) {
    log_.push_back(heartbeat);
    for (LeaseTable& table : tables_) table.fold(Offset{static_cast<int64_t>(log_.size()) - 1}, heartbeat);
  }
  void leave(const std::string& name) {
    Heartbeat heartbeat;
    heartbeat.from = name;
    heartbeat.leaving = true;
    store(heartbeat);
  }

  std::vector<Heartbeat> log_;
  std::list<LeaseTable> tables_;
};

TEST_F(Candidates, OfTwoClaimsTheFirstInTheLogWins) {
  LeaseTable& a = add("a");
  LeaseTable& b = add("b");
  const Heartbeat of_a = a.next_heartbeat();
  const Heartbeat of_b = b.next_heartbeat();
  store(of_b);
  store(of_a);
  EXPECT_TRUE(b.leads("scheduler"));
  EXPECT_FALSE(a.leads("scheduler"));
  EXPECT_TRUE(a.next_heartbeat().claims.empty());
}

TEST_F(Candidates, TheFoldVersionOfAllIsThatOfTheOldestLivingBuild) {
  LeaseTable self{"self", kPatience, 5};
  const auto read = [&](const Heartbeat& heartbeat) {
    store(heartbeat);
    self.fold(Offset{static_cast<int64_t>(log_.size()) - 1}, heartbeat);
  };
  const auto heartbeat_of = [](const std::string& name, uint32_t version) {
    Heartbeat heartbeat;
    heartbeat.from = name;
    heartbeat.fold_version = version;
    return heartbeat_from(to_text(heartbeat)).value();
  };
  read(heartbeat_of("newer", 6));
  EXPECT_FALSE(self.fold_version_of_all()) << "others may be alive that it has not read of";
  read(self.next_heartbeat());
  EXPECT_EQ(self.fold_version_of_all(), 5U);
  read(heartbeat_of("older", 4));
  EXPECT_EQ(self.fold_version_of_all(), 4U);
  read(heartbeat_of("before the announcement", 0));
  EXPECT_EQ(self.fold_version_of_all(), 0U);
  Heartbeat leaving = heartbeat_of("before the announcement", 0);
  leaving.leaving = true;
  read(leaving);
  EXPECT_EQ(self.fold_version_of_all(), 4U);
  for (int i = 0; i < 20; ++i) read(self.next_heartbeat());
  EXPECT_EQ(self.fold_version_of_all(), 4U) << "it may be frozen";
  for (int i = 0; i < 100; ++i) read(self.next_heartbeat());
  EXPECT_EQ(self.fold_version_of_all(), 5U) << "it has ended";
}

TEST_F(Candidates, WhetherThereIsALeaderIsKnownToAllAndNotForASilentHolder) {
  LeaseTable& a = add("a");
  LeaseTable watching{"watching", kPatience};
  EXPECT_FALSE(watching.led("scheduler"));
  const auto read = [&](const Heartbeat& heartbeat) {
    store(heartbeat);
    watching.fold(Offset{static_cast<int64_t>(log_.size()) - 1}, heartbeat);
  };
  read(a.next_heartbeat());
  EXPECT_TRUE(watching.led("scheduler"));
  EXPECT_TRUE(a.led("scheduler"));
  for (int i = 0; i < kPatience; ++i) read(watching.next_heartbeat());
  EXPECT_FALSE(watching.led("scheduler"));
  read(a.next_heartbeat());
  EXPECT_TRUE(watching.led("scheduler"));
}

TEST_F(Candidates, AHolderThatSendsHeartbeatsKeepsIt) {
  LeaseTable& a = add("a");
  LeaseTable& b = add("b");
  store(a.next_heartbeat());
  for (int i = 0; i < 20; ++i) {
    store(b.next_heartbeat());
    store(a.next_heartbeat());
  }
  EXPECT_TRUE(a.leads("scheduler"));
  EXPECT_FALSE(b.leads("scheduler"));
}

TEST_F(Candidates, HeartbeatsBeforeTheirTimeDoNotMakeAHolderSilent) {
  LeaseTable& a = add("a");
  LeaseTable& b = add("b");
  store(a.next_heartbeat());
  for (int i = 0; i < 20; ++i) {
    Heartbeat early = b.next_heartbeat();
    early.early = true;
    store(heartbeat_from(to_text(early)).value());
  }
  EXPECT_TRUE(b.led("scheduler"));
  EXPECT_TRUE(b.next_heartbeat().claims.empty());
  for (int i = 0; i < kPatience; ++i) store(b.next_heartbeat());
  EXPECT_FALSE(b.led("scheduler"));
}

TEST_F(Candidates, ASilentHolderIsReplacedAfterSoManyHeartbeatsOfOurOwn) {
  LeaseTable& a = add("a");
  LeaseTable& b = add("b");
  store(a.next_heartbeat());
  for (int i = 0; i < kPatience; ++i) {
    EXPECT_TRUE(b.next_heartbeat().claims.empty());
    store(b.next_heartbeat());
  }
  store(b.next_heartbeat());
  EXPECT_TRUE(b.leads("scheduler"));
  // The old one was only suspended. It still publishes that it holds; having read on, it no longer does.
  Heartbeat late;
  late.from = "a";
  late.holds["scheduler"] = 0;
  store(late);
  EXPECT_TRUE(b.leads("scheduler"));
  EXPECT_FALSE(a.leads("scheduler"));
}

TEST_F(Candidates, SilenceOfAllSilencesNoHolder) {
  LeaseTable& a = add("a");
  LeaseTable& b = add("b");
  store(a.next_heartbeat());
  store(b.next_heartbeat());
  // However long the log is unreachable: no heartbeat is read, and nothing is claimed.
  EXPECT_TRUE(b.next_heartbeat().claims.empty());
  store(b.next_heartbeat());
  store(a.next_heartbeat());
  EXPECT_TRUE(a.leads("scheduler"));
}

TEST_F(Candidates, OneThatLeavesIsReplacedAtOnce) {
  LeaseTable& a = add("a");
  LeaseTable& b = add("b");
  LeaseTable& c = add("c");
  store(a.next_heartbeat());
  leave("a");
  const Heartbeat of_b = b.next_heartbeat();
  const Heartbeat of_c = c.next_heartbeat();
  EXPECT_EQ(of_b.claims.size(), 1U);
  store(of_b);
  store(of_c);
  EXPECT_TRUE(b.leads("scheduler"));
  EXPECT_FALSE(c.leads("scheduler"));
}

TEST_F(Candidates, OneThatReadsOnlyTheEndOfTheLogLearnsTheHolderFromItsHeartbeats) {
  LeaseTable& a = add("a");
  store(a.next_heartbeat());
  store(a.next_heartbeat());
  LeaseTable late{"late", kPatience};
  late.campaign("scheduler");
  late.fold(Offset{1}, log_[1]);
  EXPECT_TRUE(late.next_heartbeat().claims.empty());
  // And a claim from before its time is judged as everybody does: by what it had read.
  Heartbeat claim;
  claim.from = "b";
  claim.claims["scheduler"] = -1;
  late.fold(Offset{2}, claim);
  a.fold(Offset{2}, claim);
  EXPECT_TRUE(a.leads("scheduler"));
  EXPECT_TRUE(late.next_heartbeat().claims.empty());
}

TEST_F(Candidates, WhatRefersToALogThatThisOneHasReplacedCountsNothing) {
  LeaseTable& a = add("a");
  store(a.next_heartbeat());
  ASSERT_TRUE(a.leads("scheduler"));
  Heartbeat holds, claims;
  holds.from = claims.from = "of another log";
  holds.holds["scheduler"] = 3866;
  claims.claims["scheduler"] = 3866;
  store(holds);
  store(claims);
  EXPECT_TRUE(a.leads("scheduler"));
  store(a.next_heartbeat());
  EXPECT_TRUE(a.leads("scheduler"));
}

TEST_F(Candidates, AfterTheLogWasReplacedItsReadersBeginAnewAndKeepWhatTheyWant) {
  LeaseTable self{"self", kPatience};
  self.campaign("scheduler");
  self.fold(Offset{4711}, self.next_heartbeat());
  ASSERT_TRUE(self.leads("scheduler"));
  self.forget();
  EXPECT_FALSE(self.leads("scheduler"));
  EXPECT_FALSE(self.fold_version_of_all());
  Heartbeat other;
  other.from = "other";
  other.claims["scheduler"] = -1;
  self.fold(Offset{0}, other);
  EXPECT_TRUE(self.led("scheduler"));
  for (int64_t at = 1; at <= kPatience; ++at) self.fold(Offset{at}, self.next_heartbeat());
  self.fold(Offset{kPatience + 1}, self.next_heartbeat());
  EXPECT_TRUE(self.leads("scheduler")) << "the other one has fallen silent";
}

TEST_F(Candidates, AReleasedLeaseIsFreeForTheNextClaim) {
  LeaseTable& a = add("a");
  store(a.next_heartbeat());
  ASSERT_TRUE(a.leads("scheduler"));
  LeaseTable& b = add("b");
  EXPECT_TRUE(b.next_heartbeat().claims.empty());
  a.withdraw("scheduler");
  EXPECT_TRUE(a.is_urgent());
  store(a.next_heartbeat());
  EXPECT_FALSE(a.leads("scheduler"));
  EXPECT_FALSE(a.is_urgent()) << "it is released once";
  EXPECT_TRUE(b.is_urgent()) << "without waiting until the holder counts as silent";
  store(b.next_heartbeat());
  EXPECT_TRUE(b.leads("scheduler"));
}

TEST_F(Candidates, AReleaseByAFormerHolderDoesNotEndTheNewLease) {
  LeaseTable& a = add("a");
  store(a.next_heartbeat());
  a.withdraw("scheduler");
  const Heartbeat late = a.next_heartbeat();
  store(late);
  LeaseTable& b = add("b");
  store(b.next_heartbeat());
  ASSERT_TRUE(b.leads("scheduler"));
  store(late);
  EXPECT_TRUE(b.leads("scheduler"));
}

TEST_F(Candidates, ForSlotsAreTheProcessesThatHaveAnnouncedTheRoleAndAreNotSilent) {
  LeaseTable& a = add("a");
  LeaseTable& b = add("b");
  LeaseTable& c = add("c");
  a.announce("dispatcher");
  b.announce("dispatcher");
  EXPECT_TRUE(a.candidates("dispatcher").empty()) << "not even its own announcement has been read";
  for (LeaseTable* table : {&a, &b, &c}) store(table->next_heartbeat());
  EXPECT_EQ(c.candidates("dispatcher"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(c.candidates("collector").empty());
  for (int beat = 0; beat < kPatience; ++beat) store(a.next_heartbeat());
  EXPECT_EQ(a.candidates("dispatcher"), std::vector<std::string>{"a"}) << "b has fallen silent";
  store(b.next_heartbeat());
  EXPECT_EQ(a.candidates("dispatcher"), (std::vector<std::string>{"a", "b"}));
  leave("b");
  EXPECT_EQ(a.candidates("dispatcher"), std::vector<std::string>{"a"});
}

TEST(Heartbeat, IsTheSameAfterWritingAndReading) {
  const Heartbeat heartbeat{"host_1_ab", {{"scheduler", 17}}, {{"binder", -1}}, true};
  EXPECT_EQ(heartbeat_from(to_text(heartbeat)).value(), heartbeat);
  Heartbeat of_slots = heartbeat;
  of_slots.releases = {"dispatcher:1"};
  of_slots.roles = {"collector", "dispatcher"};
  EXPECT_EQ(heartbeat_from(to_text(of_slots)).value(), of_slots);
  EXPECT_EQ(heartbeat_from("{}").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(heartbeat_from("what").error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace shiplog
