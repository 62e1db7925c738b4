#include "services/runtime/journal_election.h"

#include <mutex>

#include <gtest/gtest.h>

#include "events/journal/memory_journal.h"
#include "services/runtime/thread_loop.h"

namespace shiplog {
namespace {

constexpr auto kPatience = std::chrono::seconds{60};

/// A process that wants to lead for one service.
class Candidate {
 public:
  Candidate(std::shared_ptr<Journal> beats, const std::string& name) {
    election = std::make_unique<JournalElection>(JournalElection::Options{
        .beats = std::move(beats), .identity = name, .executor = &loop, .beat_every = Millis{10}, .patience = 5});
    election->campaign("scheduler", [this](bool leading) {
      const std::lock_guard lock{mutex};
      leads = leading;
      changed.notify_all();
    });
  }
  ~Candidate() {
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

TEST(JournalElection, OneLeadsAndAnotherFollowsWhenItGoesSilent) {
  const auto beats = std::shared_ptr<Journal>(make_memory_journal());
  auto first = std::make_unique<Candidate>(beats, "first");
  EXPECT_TRUE(first->comes_to(true));
  Candidate second{beats, "second"};
  EXPECT_FALSE(second.leads);
  first.reset();  // without a word
  EXPECT_TRUE(second.comes_to(true));
}

TEST(JournalElection, OneThatResignsIsReplacedAndStaysQuiet) {
  const auto beats = std::shared_ptr<Journal>(make_memory_journal());
  Candidate first{beats, "first"};
  EXPECT_TRUE(first.comes_to(true));
  first.election->resign();
  Candidate second{beats, "second"};
  EXPECT_TRUE(second.comes_to(true));
}

}  // namespace
}  // namespace shiplog
