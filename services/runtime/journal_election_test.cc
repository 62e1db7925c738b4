#include "services/runtime/journal_election.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "events/journal/memory_journal.h"
#include "services/runtime/thread_loop.h"

namespace shiplog {
namespace {

constexpr auto kLongestWait = std::chrono::seconds{60};

/// A process that wants to lead for one service.
class JournalElectionCandidate {
 public:
  JournalElectionCandidate(std::shared_ptr<Journal> heartbeats, const std::string& name) {
    election = std::make_unique<JournalElection>(JournalElection::Options{.heartbeats = std::move(heartbeats),
                                                                          .identity = name,
                                                                          .executor = &loop,
                                                                          .heartbeat_every = Millis{10},
                                                                          .patience = 5});
    election->campaign("scheduler", [this](bool leading) {
      const std::lock_guard lock{mutex};
      leads = leading;
      told.push_back(leading);
      changed.notify_all();
    });
  }
  ~JournalElectionCandidate() {
    election.reset();
    loop.stop();
  }
  bool comes_to(bool leading) {
    std::unique_lock lock{mutex};
    return changed.wait_for(lock, kLongestWait, [&] { return leads == leading; });
  }
  bool comes_to_have_been_told(const std::vector<bool>& all) {
    std::unique_lock lock{mutex};
    return changed.wait_for(lock, kLongestWait, [&] {
      return told.size() >= all.size() && std::equal(all.begin(), all.end(), told.begin());
    });
  }

  ThreadLoop loop;
  std::mutex mutex;
  std::condition_variable changed;
  bool leads = false;
  std::vector<bool> told;
  std::unique_ptr<JournalElection> election;
};

/// A journal whose broker is frozen: it takes appends and answers none.
class FrozenJournal final : public Journal {
 public:
  void append(std::string /*bytes*/, Appended done) override {
    const std::lock_guard lock{mutex};
    unanswered.push_back(std::move(done));
  }
  Result<std::unique_ptr<Tail>> tail(Offset from) override {
    SHIPLOG_TRY(auto inner, journal->tail(from));
    return std::unique_ptr<Tail>{std::make_unique<CountingTail>(*this, std::move(inner))};
  }
  Result<Offset> head() override { return journal->head(); }
  Result<Offset> oldest() override { return journal->oldest(); }
  Result<void> trim(Offset before) override { return journal->trim(before); }
  std::string describe() const override { return "frozen"; }

  std::mutex mutex;
  std::condition_variable asked;
  std::vector<Appended> unanswered;
  std::vector<int64_t> patience;  ///< of each read since the first append, in milliseconds

 private:
  struct CountingTail final : Tail {
    CountingTail(FrozenJournal& all, std::unique_ptr<Tail> one) : owner{all}, inner{std::move(one)} {}
    Result<std::vector<JournalRecord>> next(size_t max_records, Millis timeout) override {
      {
        const std::lock_guard lock{owner.mutex};
        if (!owner.unanswered.empty()) owner.patience.push_back(timeout.value);
        owner.asked.notify_all();
      }
      return inner->next(max_records, timeout);
    }
    void stop() override { inner->stop(); }

    FrozenJournal& owner;
    std::unique_ptr<Tail> inner;
  };

  std::shared_ptr<Journal> journal = make_memory_journal();
};

TEST(JournalElection, AHeartbeatThatIsNotStoredYetIsWaitedForWithoutTakingTheProcessor) {
  const auto heartbeats = std::make_shared<FrozenJournal>();
  const JournalElectionCandidate candidate{heartbeats, "first"};
  std::unique_lock lock{heartbeats->mutex};
  ASSERT_TRUE(heartbeats->asked.wait_for(lock, kLongestWait, [&] { return heartbeats->patience.size() >= 4; }));
  EXPECT_EQ(heartbeats->unanswered.size(), 1U);
  for (const int64_t patience : heartbeats->patience) EXPECT_GT(patience, 0);
}

/// A topic that is deleted and created again: reading it fails, as its records are lost.
class ReplacedJournal final : public Journal {
 public:
  void append(std::string bytes, Appended done) override { now()->append(std::move(bytes), std::move(done)); }
  Result<std::unique_ptr<Tail>> tail(Offset from) override {
    auto journal = now();
    SHIPLOG_TRY(auto inner, journal->tail(from));
    return std::unique_ptr<Tail>{std::make_unique<LossyTail>(*this, std::move(journal), std::move(inner))};
  }
  Result<Offset> head() override { return now()->head(); }
  Result<Offset> oldest() override { return now()->oldest(); }
  Result<void> trim(Offset before) override { return now()->trim(before); }
  std::string describe() const override { return "replaced"; }

  void replace(std::shared_ptr<Journal> by) {
    const std::lock_guard lock{mutex_};
    journal_ = std::move(by);
  }

 private:
  struct LossyTail final : Tail {
    LossyTail(ReplacedJournal& all, std::shared_ptr<Journal> read, std::unique_ptr<Tail> one)
        : owner{all}, journal{std::move(read)}, inner{std::move(one)} {}
    Result<std::vector<JournalRecord>> next(size_t max_records, Millis timeout) override {
      if (owner.now() != journal) return Error{ErrorCode::kCorrupt, "the brokers have lost acknowledged entries"};
      return inner->next(max_records, timeout);
    }
    void stop() override { inner->stop(); }

    ReplacedJournal& owner;
    std::shared_ptr<Journal> journal;
    std::unique_ptr<Tail> inner;
  };

  std::shared_ptr<Journal> now() {
    const std::lock_guard lock{mutex_};
    return journal_;
  }

  std::mutex mutex_;
  std::shared_ptr<Journal> journal_ = make_memory_journal();
};

TEST(JournalElection, BeginsAnewWhenTheLogOfHeartbeatsWasReplaced) {
  const auto replaced = std::make_shared<ReplacedJournal>();
  JournalElectionCandidate first{replaced, "first"};
  ASSERT_TRUE(first.comes_to(true));
  const auto fresh = std::shared_ptr<Journal>(make_memory_journal());
  auto second = std::make_unique<JournalElectionCandidate>(fresh, "second");
  ASSERT_TRUE(second->comes_to(true));
  replaced->replace(fresh);
  EXPECT_TRUE(first.comes_to_have_been_told({true, false}));
  second.reset();  // without a word
  EXPECT_TRUE(first.comes_to(true)) << "it takes part in the new log";
}

TEST(JournalElection, SaysSoWhenItsOwnHeartbeatsAreNotReadForLong) {
  ThreadLoop loop;
  const auto frozen = std::make_shared<FrozenJournal>();
  const auto elect = [&](std::shared_ptr<Journal> heartbeats, Millis unheard_after) {
    return std::make_unique<JournalElection>(JournalElection::Options{.heartbeats = std::move(heartbeats),
                                                                      .identity = "first",
                                                                      .executor = &loop,
                                                                      .heartbeat_every = Millis{10},
                                                                      .unheard_after = unheard_after});
  };
  const auto unheard = elect(frozen, Millis{1});
  const auto deadline = std::chrono::steady_clock::now() + kLongestWait;
  while (unheard->trouble().empty() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  EXPECT_NE(unheard->trouble().find("has read no heartbeat of its own for"), std::string::npos) << unheard->trouble();
  const auto heard = elect(make_memory_journal(), Millis{3'600'000});
  EXPECT_EQ(heard->trouble(), "");
}

TEST(JournalElection, OneLeadsAndAnotherFollowsWhenItGoesSilent) {
  const auto heartbeats = std::shared_ptr<Journal>(make_memory_journal());
  auto first = std::make_unique<JournalElectionCandidate>(heartbeats, "first");
  EXPECT_TRUE(first->comes_to(true));
  JournalElectionCandidate second{heartbeats, "second"};
  EXPECT_FALSE(second.leads);
  first.reset();  // without a word
  EXPECT_TRUE(second.comes_to(true));
}

TEST(JournalElection, OneThatResignsIsReplacedAndStaysQuiet) {
  const auto heartbeats = std::shared_ptr<Journal>(make_memory_journal());
  JournalElectionCandidate first{heartbeats, "first"};
  EXPECT_TRUE(first.comes_to(true));
  first.election->resign();
  JournalElectionCandidate second{heartbeats, "second"};
  EXPECT_TRUE(second.comes_to(true));
}

TEST(JournalElection, ALeaseThatIsGivenUpGoesToTheNextOneWhileItsHolderLives) {
  const auto heartbeats = std::shared_ptr<Journal>(make_memory_journal());
  JournalElectionCandidate first{heartbeats, "first"};
  EXPECT_TRUE(first.comes_to(true));
  JournalElectionCandidate second{heartbeats, "second"};
  first.election->withdraw("scheduler");
  EXPECT_TRUE(second.comes_to(true));
}

TEST(JournalElection, ProcessesSeeWhoElseSharesSlots) {
  const auto heartbeats = std::shared_ptr<Journal>(make_memory_journal());
  JournalElectionCandidate first{heartbeats, "first"};
  auto second = std::make_unique<JournalElectionCandidate>(heartbeats, "second");
  first.election->announce("dispatcher");
  second->election->announce("dispatcher");
  const auto comes_to_see = [&](const std::vector<std::string>& names) {
    for (int tries = 0; tries < 6000; ++tries) {
      if (first.election->candidates("dispatcher") == names) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return false;
  };
  EXPECT_TRUE(comes_to_see({"first", "second"}));
  second.reset();  // without a word
  EXPECT_TRUE(comes_to_see({"first"}));
}

}  // namespace
}  // namespace shiplog
