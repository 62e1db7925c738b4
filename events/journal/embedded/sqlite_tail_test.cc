#include <atomic>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "events/journal/embedded/change_watch.h"
#include "events/journal/embedded/head_mark.h"
#include "events/journal/embedded/sqlite_journal.h"
#include "tests/journal_contract/append_and_wait.h"
#include "tests/support/test_directory.h"

namespace shiplog {
namespace {

void store(Journal& journal, const std::string& bytes) {
  const auto stored = append_and_wait(journal, bytes);
  ASSERT_TRUE(stored.has_value()) << stored.error().message;
}

/// Reads on a thread of its own, as a replica does, and notes which records came which way.
class DirectReader {
 public:
  DirectReader(Journal& journal, bool takes) : takes_{takes}, tail_{std::move(journal.tail(Offset{}).value())} {
    tail_->pass_directly([this](std::vector<JournalRecord>& records) {
      if (!takes_) return false;
      note(records, passed_);
      return true;
    });
    thread_ = std::thread{[this] {
      while (!over_) {
        auto records = tail_->next(100, Millis{100'000});
        ASSERT_TRUE(records.has_value()) << records.error().message;
        note(records.value(), returned_);
      }
    }};
  }
  ~DirectReader() {
    over_ = true;
    tail_->stop();
    thread_.join();
  }
  DirectReader(const DirectReader&) = delete;
  DirectReader& operator=(const DirectReader&) = delete;

  void wait_for(size_t count) {
    while (seen() < count) std::this_thread::yield();
  }
  /// Passes all that is appended from now on until one record came that way: the thread waits then.
  void wait_until_it_waits(Journal& journal) {
    while (passed() == 0) {
      const size_t before = seen();
      store(journal, "one more");
      wait_for(before + 1);
    }
  }
  size_t seen() const {
    const std::lock_guard lock{mutex_};
    return all_.size();
  }
  size_t passed() const {
    const std::lock_guard lock{mutex_};
    return passed_;
  }
  size_t returned() const {
    const std::lock_guard lock{mutex_};
    return returned_;
  }
  std::vector<JournalRecord> all() const {
    const std::lock_guard lock{mutex_};
    return all_;
  }

 private:
  void note(const std::vector<JournalRecord>& records, size_t& count) {
    const std::lock_guard lock{mutex_};
    count += records.size();
    all_.insert(all_.end(), records.begin(), records.end());
  }

  const bool takes_;
  mutable std::mutex mutex_;
  std::vector<JournalRecord> all_;
  size_t passed_ = 0, returned_ = 0;
  std::atomic<bool> over_{false};
  std::unique_ptr<Journal::Tail> tail_;
  std::thread thread_;
};

class SqliteTailTest : public testing::Test {
 protected:
  std::unique_ptr<Journal> open() { return std::move(open_sqlite_journal(path_, {})).value(); }

  TestDirectory directory_{"journal"};
  const std::string path_ = directory_.path() + "/journal.db";
};

TEST_F(SqliteTailTest, WhatIsAppendedIsPassedToATailThatWaits) {
  const auto journal = open();
  DirectReader reader{*journal, true};
  reader.wait_until_it_waits(*journal);
  for (int i = 0; i < 200; ++i) store(*journal, std::to_string(i));
  reader.wait_for(static_cast<size_t>(journal->head().value().value));
  const auto all = reader.all();
  for (size_t at = 0; at < all.size(); ++at) EXPECT_EQ(all[at].offset.value, static_cast<int64_t>(at));
  EXPECT_EQ(all.back().bytes, "199");
  EXPECT_GT(reader.passed(), 0U);
}

TEST_F(SqliteTailTest, WhatATailDoesNotTakeIsReturned) {
  const auto journal = open();
  DirectReader reader{*journal, false};
  for (int i = 0; i < 50; ++i) store(*journal, std::to_string(i));
  reader.wait_for(50);
  EXPECT_EQ(reader.returned(), 50U);
  EXPECT_EQ(reader.all().back().bytes, "49");
}

TEST_F(SqliteTailTest, EveryTailReadsEverything) {
  const auto journal = open();
  DirectReader first{*journal, true}, second{*journal, true}, third{*journal, false};
  for (int i = 0; i < 100; ++i) {
    store(*journal, std::to_string(i));
    if (i % 10 != 0) continue;
    for (DirectReader* one : {&first, &second, &third}) one->wait_for(static_cast<size_t>(i) + 1);
  }
  for (DirectReader* one : {&first, &second, &third}) one->wait_for(100);
}

/// What has been trimmed is not in the file any more.
std::vector<std::string> read(Journal::Tail& tail, size_t most) {
  std::vector<std::string> bytes;
  const auto records = tail.next(most, Millis{0});
  if (!records) return {"error: " + records.error().message};
  for (const JournalRecord& record : records.value()) bytes.push_back(record.bytes);
  return bytes;
}

TEST_F(SqliteTailTest, WhatThisProcessHasJustCommittedIsNotReadAgain) {
  const auto journal = open();
  const auto first = std::move(journal->tail(Offset{}).value());
  first->pass_directly([](std::vector<JournalRecord>&) { return false; });
  const auto reader = std::move(journal->tail(Offset{}).value());
  for (const char* bytes : {"a", "b", "c"}) store(*journal, bytes);
  ASSERT_TRUE(journal->trim(Offset{3}).has_value());
  EXPECT_EQ(read(*first, 2), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read(*first, 2), (std::vector<std::string>{"c"}));
  EXPECT_EQ(read(*first, 2), std::vector<std::string>{});
  EXPECT_THAT(read(*reader, 2).at(0), testing::StartsWith("error: ")) << "it takes nothing directly";
}

TEST_F(SqliteTailTest, OfSeveralTailsEachFindsWhatWasJustCommitted) {
  const auto journal = open();
  const auto first = std::move(journal->tail(Offset{}).value());
  const auto second = std::move(journal->tail(Offset{}).value());
  for (const auto* tail : {&first, &second}) (*tail)->pass_directly([](std::vector<JournalRecord>&) { return false; });
  for (const char* bytes : {"a", "b", "c"}) store(*journal, bytes);
  ASSERT_TRUE(journal->trim(Offset{3}).has_value());
  EXPECT_EQ(read(*first, 10), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(read(*second, 1), (std::vector<std::string>{"a"}));
  EXPECT_EQ(read(*second, 10), (std::vector<std::string>{"b", "c"}));
}

TEST_F(SqliteTailTest, ATailThatIsFarBehindReadsTheFileAndThenWhatWasJustCommitted) {
  const auto journal = open();
  const auto tail = std::move(journal->tail(Offset{}).value());
  tail->pass_directly([](std::vector<JournalRecord>&) { return false; });
  const std::string large(100'000, 'x');
  for (int i = 0; i < 100; ++i) store(*journal, std::to_string(i) + large);
  for (int i = 0; i < 100; i += 3) {
    const auto bytes = read(*tail, 3);
    ASSERT_EQ(bytes.size(), i == 99 ? 1U : 3U);
    for (size_t at = 0; at < bytes.size(); ++at) ASSERT_EQ(bytes[at], std::to_string(i + static_cast<int>(at)) + large);
  }
  EXPECT_EQ(read(*tail, 3), std::vector<std::string>{});
}

TEST_F(SqliteTailTest, WhatAnotherJournalHasWrittenInBetweenIsReadInItsPlace) {
  const auto journal = open();
  const auto other = open();
  const auto tail = std::move(journal->tail(Offset{}).value());
  tail->pass_directly([](std::vector<JournalRecord>&) { return false; });
  store(*journal, "a");
  store(*other, "b");
  store(*journal, "c");
  std::vector<std::string> all;
  while (all.size() < 3) {
    for (std::string& bytes : read(*tail, 10)) all.push_back(std::move(bytes));
  }
  EXPECT_EQ(all, (std::vector<std::string>{"a", "b", "c"}));
}

TEST_F(SqliteTailTest, RecordsOfTwoJournalsComeInTheirOrder) {
  const auto journal = open();
  const auto other = open();
  DirectReader reader{*journal, true};
  DirectReader watched{*other, true};
  for (int i = 0; i < 100; ++i) {
    store(*journal, "a" + std::to_string(i));
    store(*other, "b" + std::to_string(i));
  }
  for (DirectReader* one : {&reader, &watched}) {
    one->wait_for(200);
    const auto all = one->all();
    for (size_t at = 0; at < all.size(); ++at) {
      EXPECT_EQ(all[at].offset.value, static_cast<int64_t>(at));
      EXPECT_EQ(all[at].bytes, (at % 2 == 0 ? "a" : "b") + std::to_string(at / 2));
    }
  }
}

TEST_F(SqliteTailTest, AWatchThatIsAloneSeesThat) {
  const auto journal = open();
  store(*journal, "the file beside the journal exists from here on");
  const std::string presence = embedded::HeadMark::path_of(path_);
  const embedded::ChangeWatch watch{path_, presence};
  EXPECT_FALSE(watch.others_watch());
  {
    const embedded::ChangeWatch other{path_, presence};
    EXPECT_TRUE(watch.others_watch());
    EXPECT_TRUE(other.others_watch());
  }
  EXPECT_FALSE(watch.others_watch());
}

TEST_F(SqliteTailTest, AWatchWithoutThatFileDoesNotKnow) {
  const embedded::ChangeWatch watch{path_, directory_.path() + "/missing"};
  EXPECT_TRUE(watch.others_watch());
}

}  // namespace
}  // namespace shiplog
