#include "services/runtime/lease_table.h"

#include <list>
#include <vector>

#include <gtest/gtest.h>

namespace shiplog {
namespace {

constexpr int kPatience = 3;

/// A log of beats and who reads it, by hand.
class Candidates : public ::testing::Test {
 protected:
  LeaseTable& add(const std::string& name) {
    tables_.emplace_back(name, kPatience);
    tables_.back().campaign("scheduler");
    for (size_t at = 0; at < log_.size(); ++at) tables_.back().fold(Offset{static_cast<int64_t>(at)}, log_[at]);
    return tables_.back();
  }
  void store(const Beat& beat) {
    log_.push_back(beat);
    for (LeaseTable& table : tables_) table.fold(Offset{static_cast<int64_t>(log_.size()) - 1}, beat);
  }
  void leave(const std::string& name) {
    Beat beat;
    beat.from = name;
    beat.leaving = true;
    store(beat);
  }

  std::vector<Beat> log_;
  std::list<LeaseTable> tables_;
};

TEST_F(Candidates, OfTwoClaimsTheFirstInTheLogWins) {
  LeaseTable& a = add("a");
  LeaseTable& b = add("b");
  const Beat of_a = a.next_beat();
  const Beat of_b = b.next_beat();
  store(of_b);
  store(of_a);
  EXPECT_TRUE(b.leads("scheduler"));
  EXPECT_FALSE(a.leads("scheduler"));
  EXPECT_TRUE(a.next_beat().claims.empty());
}

TEST_F(Candidates, WhetherSomebodyLeadsIsKnownToAllAndNotForASilentHolder) {
  LeaseTable& a = add("a");
  LeaseTable watching{"watching", kPatience};
  EXPECT_FALSE(watching.led("scheduler"));
  const auto read = [&](const Beat& beat) {
    store(beat);
    watching.fold(Offset{static_cast<int64_t>(log_.size()) - 1}, beat);
  };
  read(a.next_beat());
  EXPECT_TRUE(watching.led("scheduler"));
  EXPECT_TRUE(a.led("scheduler"));
  for (int i = 0; i < kPatience; ++i) read(watching.next_beat());
  EXPECT_FALSE(watching.led("scheduler"));
  read(a.next_beat());
  EXPECT_TRUE(watching.led("scheduler"));
}

TEST_F(Candidates, AHolderThatBeatsKeepsIt) {
  LeaseTable& a = add("a");
  LeaseTable& b = add("b");
  store(a.next_beat());
  for (int i = 0; i < 20; ++i) {
    store(b.next_beat());
    store(a.next_beat());
  }
  EXPECT_TRUE(a.leads("scheduler"));
  EXPECT_FALSE(b.leads("scheduler"));
}

TEST_F(Candidates, ASilentHolderIsReplacedAfterSoManyBeatsOfOurOwn) {
  LeaseTable& a = add("a");
  LeaseTable& b = add("b");
  store(a.next_beat());
  for (int i = 0; i < kPatience; ++i) {
    EXPECT_TRUE(b.next_beat().claims.empty());
    store(b.next_beat());
  }
  store(b.next_beat());
  EXPECT_TRUE(b.leads("scheduler"));
  // The old one was only asleep. It still says that it holds; having read on, it knows better.
  Beat late;
  late.from = "a";
  late.holds["scheduler"] = 0;
  store(late);
  EXPECT_TRUE(b.leads("scheduler"));
  EXPECT_FALSE(a.leads("scheduler"));
}

TEST_F(Candidates, SilenceOfAllMakesNobodySilent) {
  LeaseTable& a = add("a");
  LeaseTable& b = add("b");
  store(a.next_beat());
  store(b.next_beat());
  // However long the log is away: no beat comes back, and nothing is claimed.
  EXPECT_TRUE(b.next_beat().claims.empty());
  store(b.next_beat());
  store(a.next_beat());
  EXPECT_TRUE(a.leads("scheduler"));
}

TEST_F(Candidates, OneThatLeavesIsReplacedAtOnce) {
  LeaseTable& a = add("a");
  LeaseTable& b = add("b");
  LeaseTable& c = add("c");
  store(a.next_beat());
  leave("a");
  const Beat of_b = b.next_beat();
  const Beat of_c = c.next_beat();
  EXPECT_EQ(of_b.claims.size(), 1U);
  store(of_b);
  store(of_c);
  EXPECT_TRUE(b.leads("scheduler"));
  EXPECT_FALSE(c.leads("scheduler"));
}

TEST_F(Candidates, OneThatReadsOnlyTheEndOfTheLogLearnsTheHolderFromItsBeats) {
  LeaseTable& a = add("a");
  store(a.next_beat());
  store(a.next_beat());
  LeaseTable late{"late", kPatience};
  late.campaign("scheduler");
  late.fold(Offset{1}, log_[1]);
  EXPECT_TRUE(late.next_beat().claims.empty());
  // And a claim from before its time is judged as everybody does: by what it had read.
  Beat claim;
  claim.from = "b";
  claim.claims["scheduler"] = -1;
  late.fold(Offset{2}, claim);
  a.fold(Offset{2}, claim);
  EXPECT_TRUE(a.leads("scheduler"));
  EXPECT_TRUE(late.next_beat().claims.empty());
}

TEST(Beat, ComesBackFromItsTextAsItWas) {
  const Beat beat{"host_1_ab", {{"scheduler", 17}}, {{"binder", -1}}, true};
  EXPECT_EQ(beat_from(to_text(beat)).value(), beat);
  EXPECT_EQ(beat_from("{}").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(beat_from("what").error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace shiplog
