#include "services/runtime/file_election.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include "services/runtime/thread_loop.h"
#include "tests/support/test_directory.h"

namespace shiplog {
namespace {

/// A candidate for "scheduler" with a fold thread of its own.
class FileElectionCandidate {
 public:
  FileElectionCandidate(const TestDirectory& folder, const std::string& name) {
    election_ = std::make_unique<FileElection>(FileElection::Options{
        .folder = folder.path(), .identity = name, .executor = &loop_, .poll_every = Millis{10}, .patience = 20});
    loop_.call([this] { election_->campaign("scheduler", [this](bool leading) { leading_ = leading; }); });
  }
  ~FileElectionCandidate() {
    loop_.call([this] { election_->resign(); });
    loop_.stop();
  }
  bool leads() const { return leading_; }
  bool knows_a_leader() {
    bool known = false;
    loop_.call([&] { known = election_->led("scheduler").value_or(false); });
    return known;
  }
  bool comes_to(bool lead) const {
    for (int tries = 0; tries < 6000 && leading_ != lead; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    return leading_ == lead;
  }

 private:
  ThreadLoop loop_;
  std::atomic<bool> leading_{false};
  std::unique_ptr<FileElection> election_;
};

/// What is left of a leader that does nothing any more: its lock and its last heartbeat.
class Frozen {
 public:
  Frozen(const TestDirectory& folder, int64_t heartbeats, const std::string& service = "scheduler")
      : fd_{::open(folder.file(service).c_str(), O_RDWR | O_CREAT, 0600)} {
    EXPECT_EQ(::flock(fd_, LOCK_EX | LOCK_NB), 0);
    if (heartbeats == 0) return;
    EXPECT_EQ(::pwrite(fd_, &heartbeats, sizeof heartbeats, 0), static_cast<ssize_t>(sizeof heartbeats));
  }
  ~Frozen() { ::close(fd_); }

 private:
  int fd_;
};

TEST(FileElection, TheFoldVersionOfAllIsThatOfTheOldestLivingBuild) {
  const TestDirectory folder{"election"};
  ThreadLoop loop;
  const auto process = [&](const std::string& name, uint32_t version) {
    return std::make_unique<FileElection>(
        FileElection::Options{.folder = folder.path(), .identity = name, .executor = &loop, .fold_version = version});
  };
  const auto self = process("self", 5);
  EXPECT_EQ(self->fold_version_of_all(), 5U);
  auto older = process("older", 4);
  const auto newer = process("newer", 6);
  EXPECT_EQ(self->fold_version_of_all(), 4U);
  EXPECT_EQ(newer->fold_version_of_all(), 4U);
  older.reset();
  EXPECT_EQ(self->fold_version_of_all(), 5U);
  // What a process leaves behind that was killed.
  std::ofstream{folder.file("processes/killed")} << "3";
  EXPECT_EQ(self->fold_version_of_all(), 5U);
  EXPECT_FALSE(std::filesystem::exists(folder.file("processes/killed")));
  EXPECT_TRUE(std::filesystem::exists(folder.file("processes/newer")));
  loop.stop();
}

/// A process that shares slots: its looks are those of its own thread.
class SlotCandidate {
 public:
  SlotCandidate(const TestDirectory& folder, const std::string& name, int patience = 50)
      : election_{FileElection::Options{.folder = folder.path(),
                                        .identity = name,
                                        .executor = &loop_,
                                        .poll_every = Millis{10},
                                        .patience = patience}} {
    loop_.call([this] { election_.announce("dispatcher"); });
  }
  ~SlotCandidate() {
    loop_.call([this] { election_.resign(); });
    loop_.stop();
  }
  void campaign(const std::string& lease) {
    loop_.call([&] { election_.campaign(lease, [this](bool leading) { leading_ = leading; }); });
  }
  void withdraw(const std::string& lease) {
    loop_.call([&] { election_.withdraw(lease); });
  }
  bool comes_to_see(const std::vector<std::string>& names) {
    std::vector<std::string> seen;
    for (int tries = 0; tries < 6000; ++tries) {
      loop_.call([&] { seen = election_.candidates("dispatcher"); });
      if (seen == names) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return false;
  }
  bool comes_to_lead() const {
    for (int tries = 0; tries < 6000 && !leading_; ++tries) std::this_thread::sleep_for(std::chrono::milliseconds{5});
    return leading_;
  }
  bool leads() const { return leading_; }

 private:
  ThreadLoop loop_;
  std::atomic<bool> leading_{false};
  FileElection election_;
};

TEST(FileElection, ProcessesSeeWhoElseSharesSlots) {
  const TestDirectory folder{"election"};
  SlotCandidate one{folder, "one"};
  EXPECT_TRUE(one.comes_to_see({"one"}));
  {
    SlotCandidate two{folder, "two"};
    EXPECT_TRUE(one.comes_to_see({"one", "two"}));
    EXPECT_TRUE(two.comes_to_see({"one", "two"}));
  }
  EXPECT_TRUE(one.comes_to_see({"one"})) << "the other one has ended";
}

TEST(FileElection, AProcessThatIsFrozenOrOfAnOlderBuildSharesNoSlots) {
  const TestDirectory folder{"election"};
  SlotCandidate one{folder, "one"};
  // They keep their locks, and the file of the first is never counted up again.
  std::vector<int> locked;
  for (const auto& [name, text] : {std::pair{"frozen", "6\n00000000000000000017\ndispatcher\n"}, {"older", "5"}}) {
    const std::string path = folder.file("processes/" + std::string{name}), draft = path + ".draft";
    std::ofstream{draft} << text;
    locked.push_back(::open(draft.c_str(), O_RDONLY));
    ASSERT_EQ(::flock(locked.back(), LOCK_EX | LOCK_NB), 0);
    std::filesystem::rename(draft, path);
  }
  EXPECT_TRUE(one.comes_to_see({"frozen", "one"}));
  EXPECT_TRUE(one.comes_to_see({"one"}));
  for (const int fd : locked) ::close(fd);
}

TEST(FileElection, ALeaseThatIsGivenUpGoesToTheNextOneWhileItsHolderLives) {
  const TestDirectory folder{"election"};
  constexpr int kForEver = 1'000'000;  // no holder counts as frozen
  SlotCandidate one{folder, "one", kForEver};
  SlotCandidate two{folder, "two", kForEver};
  one.campaign("dispatcher:1");
  ASSERT_TRUE(one.comes_to_lead());
  two.campaign("dispatcher:1");
  std::this_thread::sleep_for(std::chrono::milliseconds{100});
  EXPECT_FALSE(two.leads());
  one.withdraw("dispatcher:1");
  EXPECT_TRUE(two.comes_to_lead());
}

TEST(FileElection, OneOfSeveralLeadsAndTheNextOneFollowsWhenItEnds) {
  const TestDirectory folder{"election"};
  auto first = std::make_unique<FileElectionCandidate>(folder, "first");
  ASSERT_TRUE(first->comes_to(true));
  FileElectionCandidate second{folder, "second"};
  EXPECT_TRUE(first->knows_a_leader());
  EXPECT_TRUE(second.knows_a_leader());
  std::this_thread::sleep_for(std::chrono::milliseconds{300});
  EXPECT_TRUE(first->leads()) << "it is not frozen";
  EXPECT_FALSE(second.leads());
  first.reset();
  EXPECT_TRUE(second.comes_to(true));
}

TEST(FileElection, AFrozenLeaderIsReplacedAndTheNextOneStays) {
  const TestDirectory folder{"election"};
  auto frozen = std::make_unique<Frozen>(folder, 41);
  const FileElectionCandidate next{folder, "next"};
  EXPECT_TRUE(next.comes_to(true));
  const FileElectionCandidate another{folder, "another"};
  frozen.reset();  // killed at last: its lock is free, but on a file that no longer counts
  std::this_thread::sleep_for(std::chrono::milliseconds{300});
  EXPECT_TRUE(next.leads());
  EXPECT_FALSE(another.leads());
}

TEST(FileElection, OfSeveralThatReplaceAFrozenLeaderOneLeads) {
  const TestDirectory folder{"election"};
  const Frozen frozen{folder, 41};
  const FileElectionCandidate a{folder, "a"};
  const FileElectionCandidate b{folder, "b"};
  const FileElectionCandidate c{folder, "c"};
  for (int tries = 0; tries < 6000 && !(a.leads() || b.leads() || c.leads()); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  std::this_thread::sleep_for(std::chrono::milliseconds{300});
  EXPECT_EQ(int{a.leads()} + int{b.leads()} + int{c.leads()}, 1);
}

TEST(FileElection, AResumedLeaderFindsThatItWasReplaced) {
  const TestDirectory folder{"election"};
  const FileElectionCandidate resumed{folder, "resumed"};
  ASSERT_TRUE(resumed.comes_to(true));
  // As a process does that found it silent.
  const int made = ::open(folder.file("scheduler.1").c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  ASSERT_EQ(::flock(made, LOCK_EX | LOCK_NB), 0);
  EXPECT_TRUE(resumed.comes_to(false));
  ::close(made);
  EXPECT_TRUE(resumed.comes_to(true)) << "it goes on as a candidate";
  EXPECT_FALSE(std::filesystem::exists(folder.file("scheduler"))) << "older files are cleared away";
}

TEST(FileElection, LooksInQuickSuccessionDoNotMakeAHolderSilent) {
  const TestDirectory folder{"election"};
  const Frozen scheduler{folder, 1};
  const Frozen binder{folder, 1, "binder"};
  ThreadLoop loop;
  std::atomic<bool> leading{false};
  // The next heartbeat is expected in an hour.
  FileElection election{
      {.folder = folder.path(), .identity = "new", .executor = &loop, .poll_every = Millis{3'600'000}}};
  const auto campaign = [&](const std::string& service) {
    loop.call([&] { election.campaign(service, [&](bool leads) { leading = leads; }); });
  };
  campaign("scheduler");
  for (int i = 0; i < 50; ++i) {  // each wakes the thread that looks, which sleeps again meanwhile
    campaign("binder");
    loop.call([&] { election.withdraw("binder"); });
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
  EXPECT_FALSE(leading);
  loop.call([&] { election.resign(); });
  loop.stop();
}

TEST(FileElection, AHolderWithoutHeartbeatsIsOfAnOlderBuildAndStays) {
  const TestDirectory folder{"election"};
  const Frozen older{folder, 0};
  const FileElectionCandidate candidate{folder, "new"};
  std::this_thread::sleep_for(std::chrono::milliseconds{500});
  EXPECT_FALSE(candidate.leads());
}

int64_t heartbeats_in(const std::string& path) {
  int64_t heartbeats = 0;
  std::ifstream{path, std::ios::binary}.read(reinterpret_cast<char*>(&heartbeats), sizeof heartbeats);
  return heartbeats;
}

TEST(FileElection, AProcessThatIsAloneWritesFewHeartbeatsAndKeepsItsLeaseWhenAnotherComes) {
  const TestDirectory folder{"election"};
  SlotCandidate alone{folder, "alone", 20};
  alone.campaign("scheduler");
  ASSERT_TRUE(alone.comes_to_lead());
  const std::string lease = folder.file("scheduler");
  const int64_t at_first = heartbeats_in(lease);
  ASSERT_GT(at_first, 0);
  const auto begun = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds{500});
  const int64_t written = heartbeats_in(lease) - at_first;
  // One of ten looks, which are 120 ms apart while nothing arrives; and one after each pause of the process that is
  // longer than 220 ms, on a busy machine.
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
  EXPECT_LE(written, waited.count() / 200 + 2);
  SlotCandidate other{folder, "other", 20};
  other.campaign("scheduler");
  const int64_t with_other = heartbeats_in(lease);
  for (int tries = 0; tries < 6000 && heartbeats_in(lease) - with_other < 60; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  EXPECT_GE(heartbeats_in(lease) - with_other, 60) << "three times as many as the other one has patience for";
  EXPECT_TRUE(alone.leads());
  EXPECT_FALSE(other.leads());
}

TEST(FileElection, WhatAKilledProcessLeftBehindDoesNotCountAsAnother) {
  const TestDirectory folder{"election"};
  SlotCandidate alone{folder, "alone", 20};
  alone.campaign("scheduler");
  ASSERT_TRUE(alone.comes_to_lead());
  std::ofstream{folder.file("processes/killed")} << "3\n00000000000000000001\ndispatcher\n";
  for (int tries = 0; tries < 6000 && std::filesystem::exists(folder.file("processes/killed")); ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  EXPECT_FALSE(std::filesystem::exists(folder.file("processes/killed")));
}

TEST(FileElection, WhereItsFilesCannotBeOpenedNoProcessLeads) {
  const TestDirectory directory{"election"};
  const std::string folder = directory.file("leases");
  std::ofstream{folder} << "no folder";
  ThreadLoop loop;
  FileElection election{
      {.folder = folder, .identity = "a", .executor = &loop, .poll_every = Millis{10}, .patience = 20}};
  loop.call([&] {
    election.campaign("scheduler", [](bool) { ADD_FAILURE() << "it leads"; });
    EXPECT_EQ(election.led("scheduler"), std::optional{false});
  });
  election.resign();
  loop.stop();
}

}  // namespace
}  // namespace shiplog
