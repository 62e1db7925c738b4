#include "services/runtime/journal_election.h"

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

constexpr auto kPatience = std::chrono::seconds{60};

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
      changed.notify_all();
    });
  }
  ~JournalElectionCandidate() {
    election.reset();
    loop.stop();
  }
  bool comes_to(bool leading) {
    std::unique_lock lock{mutex};
    return changed.wait_for(lock, kPatience, [&] { return leads == leading; });
  }

  ThreadLoop loop;
  std::mutex mutex;
  std::condition_variable changed;
  bool leads = false;
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
  ASSERT_TRUE(heartbeats->asked.wait_for(lock, kPatience, [&] { return heartbeats->patience.size() >= 4; }));
  EXPECT_EQ(heartbeats->unanswered.size(), 1U);
  for (const int64_t patience : heartbeats->patience) EXPECT_GT(patience, 0);
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
