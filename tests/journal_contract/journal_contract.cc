#include "tests/journal_contract/journal_contract.h"

#include <atomic>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

namespace shiplog {

std::shared_ptr<Journal> JournalContract::open() {
  auto opened = place_->open();
  if (!opened) {
    ADD_FAILURE() << opened.error().message;
    std::abort();  // no test can continue, and a null journal would hide the cause
  }
  return std::move(opened).value();
}

std::future<Result<Offset>> append(Journal& journal, std::string bytes) {
  auto promise = std::make_shared<std::promise<Result<Offset>>>();
  auto answer = promise->get_future();
  journal.append(std::move(bytes), [promise](Result<Offset> stored) { promise->set_value(std::move(stored)); });
  return answer;
}

Offset append_now(Journal& journal, std::string bytes) {
  const auto stored = append(journal, std::move(bytes)).get();
  if (stored) return stored.value();
  ADD_FAILURE() << stored.error().message;
  return Offset{-1};
}

std::vector<JournalRecord> read(Journal::Tail& tail, size_t count) {
  std::vector<JournalRecord> all;
  while (all.size() < count) {
    auto some = tail.next(count - all.size(), kPatience);
    if (!some) {
      ADD_FAILURE() << some.error().message;
      break;
    }
    if (some.value().empty()) {
      ADD_FAILURE() << "timed out after " << all.size() << " of " << count << " records";
      break;
    }
    for (auto& record : some.value()) all.push_back(std::move(record));
  }
  return all;
}

std::vector<JournalRecord> read_all(Journal& journal, Offset from) {
  std::vector<JournalRecord> all;
  auto tail = journal.tail(from);
  const auto head = journal.head();
  if (!tail || !head) {
    ADD_FAILURE() << (tail ? head.error().message : tail.error().message);
    return all;
  }
  while (true) {
    // Records before head are stored already, so none of these waits takes long.
    auto some = tail.value()->next(1000, Millis{100});
    if (!some) {
      ADD_FAILURE() << some.error().message;
      return all;
    }
    if (some.value().empty()) return all;
    for (auto& record : some.value()) all.push_back(std::move(record));
    if (all.back().offset.value + 1 >= head.value().value) return all;
  }
}

std::vector<std::string> bytes_of(const std::vector<JournalRecord>& records) {
  std::vector<std::string> all;
  for (const auto& record : records) all.push_back(record.bytes);
  return all;
}

namespace {

using Strings = std::vector<std::string>;

TEST_P(JournalContract, IsEmptyAtFirst) {
  const auto journal = open();
  EXPECT_EQ(journal->head().value(), Offset{0});
  EXPECT_EQ(journal->oldest().value(), Offset{0});
  EXPECT_TRUE(journal->tail({}).value()->next(10, Millis{0}).value().empty());
  EXPECT_FALSE(journal->describe().empty());
}

TEST_P(JournalContract, KeepsTheOrderOfTheAppends) {
  const auto journal = open();
  std::vector<std::future<Result<Offset>>> answers;
  Strings sent;
  for (int i = 0; i < 1000; ++i) {
    sent.push_back("entry " + std::to_string(i));
    answers.push_back(append(*journal, sent.back()));
  }
  std::vector<Offset> offsets;
  for (auto& answer : answers) offsets.push_back(answer.get().value());
  const auto stored = read_all(*journal);
  EXPECT_EQ(bytes_of(stored), sent);
  ASSERT_EQ(stored.size(), offsets.size());
  for (size_t i = 0; i < stored.size(); ++i) {
    EXPECT_EQ(stored[i].offset, offsets[i]);
    if (i > 0) {
      EXPECT_LT(offsets[i - 1], offsets[i]);
    }
  }
  EXPECT_GT(journal->head().value(), offsets.back());
  EXPECT_LE(journal->oldest().value(), offsets.front());
}

TEST_P(JournalContract, StoresTheEntriesOfConcurrentAppendersOnceAndInTheirOwnOrder) {
  constexpr int kAppenders = 8;
  constexpr int kEach = 200;
  const auto journal = open();
  std::vector<std::thread> appenders;
  for (int who = 0; who < kAppenders; ++who) {
    appenders.emplace_back([&journal, who] {
      std::vector<std::future<Result<Offset>>> answers;
      for (int i = 0; i < kEach; ++i) {
        answers.push_back(append(*journal, std::to_string(who) + ":" + std::to_string(i)));
      }
      for (auto& answer : answers) EXPECT_TRUE(answer.get().has_value());
    });
  }
  for (auto& appender : appenders) appender.join();
  std::vector<int> seen(kAppenders, 0);
  for (const auto& bytes : bytes_of(read_all(*journal))) {
    const size_t colon = bytes.find(':');
    int& count = seen.at(std::stoul(bytes.substr(0, colon)));
    EXPECT_EQ(bytes.substr(colon + 1), std::to_string(count++));
  }
  EXPECT_EQ(seen, std::vector<int>(kAppenders, kEach));
}

TEST_P(JournalContract, AcknowledgesOnAThreadOfItsOwnInTheOrderOfTheAppends) {
  const auto journal = open();
  std::vector<int64_t> offsets;  // acknowledgements come one at a time
  std::set<std::thread::id> threads;
  std::promise<void> last;
  for (int i = 0; i < 100; ++i) {
    journal->append("x", [&, i](Result<Offset> stored) {
      offsets.push_back(stored.value().value);
      threads.insert(std::this_thread::get_id());
      if (i == 99) last.set_value();
    });
  }
  last.get_future().wait();
  EXPECT_TRUE(std::is_sorted(offsets.begin(), offsets.end()));
  EXPECT_EQ(offsets.size(), 100U);
  EXPECT_FALSE(threads.contains(std::this_thread::get_id()));
}

TEST_P(JournalContract, AnAcknowledgementMayAppendAndReadAndTrim) {
  if (!GetParam().trims) GTEST_SKIP() << "this broker cannot delete records";
  const auto journal = open();
  std::promise<Result<Offset>> second;
  journal->append("first", [&](Result<Offset> stored) {
    EXPECT_GT(journal->head().value(), stored.value());
    EXPECT_TRUE(journal->trim(Offset{stored.value().value + 1}).has_value());
    journal->append("second", [&](Result<Offset> next) { second.set_value(std::move(next)); });
  });
  EXPECT_TRUE(second.get_future().get().has_value());
  EXPECT_EQ(bytes_of(read_all(*journal)), Strings{"second"});
}

TEST_P(JournalContract, WhatIsAcknowledgedCanBeReadAtOnce) {
  const auto journal = open();
  for (int i = 0; i < 50; ++i) {
    const Offset at = append_now(*journal, std::to_string(i));
    EXPECT_GT(journal->head().value(), at);
    const auto read_back = journal->tail(at).value()->next(1, Millis{0}).value();
    ASSERT_EQ(read_back.size(), 1U);
    EXPECT_EQ(read_back[0].bytes, std::to_string(i));
  }
}

TEST_P(JournalContract, StoresEveryByteOfEntriesFrom0BytesTo4MiB) {
  const auto journal = open();
  Strings sent;
  for (const size_t size : {size_t{0}, size_t{1}, size_t{4061}, size_t{4096}, size_t{65537}, size_t{1'500'000},
                            kMaxEntryBytes - 1, kMaxEntryBytes, size_t{0}}) {
    std::string bytes(size, '\0');
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>((i * 31 + i / 256) & 0xFF);
    append_now(*journal, bytes);
    sent.push_back(std::move(bytes));
  }
  const auto stored = bytes_of(read_all(*journal));
  ASSERT_EQ(stored.size(), sent.size());
  for (size_t i = 0; i < sent.size(); ++i)
    EXPECT_TRUE(stored[i] == sent[i]) << "entry of " << sent[i].size() << " bytes";
}

TEST_P(JournalContract, RefusesAnEntryOfMoreThan4MiBAndStoresItsNeighbours) {
  const auto journal = open();
  auto before = append(*journal, "before");
  auto above = append(*journal, std::string(kMaxEntryBytes + 1, 'x'));
  auto after = append(*journal, "after");
  EXPECT_TRUE(before.get().has_value());
  const auto refused = above.get();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kTooLarge);
  EXPECT_NE(refused.error().message.find("4194304"), std::string::npos) << refused.error().message;
  EXPECT_TRUE(after.get().has_value());
  EXPECT_EQ(bytes_of(read_all(*journal)), (Strings{"before", "after"}));
}

TEST_P(JournalContract, ARetryAfterALostAcknowledgementIsASecondRecord) {
  const auto journal = open();
  journal->append("same id, same bytes", [](const Result<Offset>&) {});  // this acknowledgement is discarded
  append_now(*journal, "same id, same bytes");
  EXPECT_EQ(bytes_of(read_all(*journal)), Strings(2, "same id, same bytes"));
}

TEST_P(JournalContract, TailsFromAnyOffset) {
  const auto journal = open();
  std::vector<Offset> offsets;
  for (int i = 0; i < 20; ++i) offsets.push_back(append_now(*journal, std::to_string(i)));
  for (size_t start = 0; start < offsets.size(); ++start) {
    const auto records = read_all(*journal, offsets[start]);
    ASSERT_EQ(records.size(), offsets.size() - start);
    EXPECT_EQ(records.front().offset, offsets[start]);
  }
  EXPECT_EQ(read_all(*journal, Offset{}).size(), offsets.size());
}

TEST_P(JournalContract, ATailReturnsAtMostMaxRecordsAndThenContinues) {
  const auto journal = open();
  for (int i = 0; i < 10; ++i) append_now(*journal, std::to_string(i));
  const auto tail = journal->tail({}).value();
  const auto first = tail->next(3, kPatience).value();
  ASSERT_GE(first.size(), 1U);
  ASSERT_LE(first.size(), 3U);
  Strings three = bytes_of(first);
  for (auto& bytes : bytes_of(read(*tail, 3 - first.size()))) three.push_back(std::move(bytes));
  EXPECT_EQ(three, (Strings{"0", "1", "2"}));
  EXPECT_EQ(bytes_of(read(*tail, 4)), (Strings{"3", "4", "5", "6"}));
  EXPECT_EQ(bytes_of(read(*tail, 3)), (Strings{"7", "8", "9"}));
  EXPECT_TRUE(tail->next(3, Millis{1}).value().empty());
  append_now(*journal, "10");
  EXPECT_EQ(bytes_of(read(*tail, 1)), Strings{"10"});
}

TEST_P(JournalContract, AWaitingTailGetsTheNextAppend) {
  const auto journal = open();
  append_now(*journal, "old");
  const auto tail = journal->tail(journal->head().value()).value();
  for (int i = 0; i < 50; ++i) {
    auto waiting = std::async(std::launch::async, [&] { return read(*tail, 1); });
    append_now(*journal, std::to_string(i));
    EXPECT_EQ(bytes_of(waiting.get()), Strings{std::to_string(i)});
  }
}

TEST_P(JournalContract, ATailFromAFutureOffsetSkipsEarlierEntries) {
  const auto journal = open();
  const Offset first = append_now(*journal, "first");
  const Offset start{first.value + 5};
  const auto tail = journal->tail(start).value();
  EXPECT_TRUE(tail->next(1, Millis{0}).value().empty());
  Offset last = first;
  std::vector<JournalRecord> expected;
  for (int i = 0; last.value < start.value + 2; ++i) {
    last = append_now(*journal, std::to_string(i));
    if (last >= start) expected.push_back({last, std::to_string(i)});
  }
  const auto got = read(*tail, expected.size());
  EXPECT_EQ(bytes_of(got), bytes_of(expected));
  EXPECT_GE(got.at(0).offset, start);
}

TEST_P(JournalContract, StopEndsAWaitingTail) {
  const auto journal = open();
  const auto tail = journal->tail({}).value();
  const auto other = journal->tail({}).value();
  auto waiting = std::async(std::launch::async, [&] { return tail->next(1, kPatience); });
  tail->stop();
  EXPECT_TRUE(waiting.get().value().empty());
  append_now(*journal, "later");
  EXPECT_TRUE(tail->next(1, kPatience).value().empty());
  EXPECT_EQ(bytes_of(read(*other, 1)), Strings{"later"});
}

TEST_P(JournalContract, EveryTailSeesTheSameWhileAppendsGoOn) {
  constexpr size_t kRecords = 500;
  const auto journal = open();
  std::vector<std::future<std::vector<JournalRecord>>> tails;
  for (int i = 0; i < 4; ++i) {
    tails.push_back(std::async(std::launch::async, [&] { return read(*journal->tail({}).value(), kRecords); }));
  }
  Strings sent;
  for (size_t i = 0; i < kRecords; ++i) {
    sent.push_back(std::to_string(i));
    journal->append(sent.back(), [](const Result<Offset>& stored) { EXPECT_TRUE(stored.has_value()); });
  }
  for (auto& tail : tails) EXPECT_EQ(bytes_of(tail.get()), sent);
}

TEST_P(JournalContract, TrimDeletesOnlyEarlierRecords) {
  if (!GetParam().trims) GTEST_SKIP() << "this broker cannot delete records";
  const auto journal = open();
  std::vector<Offset> offsets;
  for (int i = 0; i < 10; ++i) offsets.push_back(append_now(*journal, std::to_string(i)));
  const auto behind = journal->tail(offsets[2]).value();
  const auto from_oldest = journal->tail({}).value();
  const auto ahead = journal->tail(offsets[5]).value();
  const Offset head = journal->head().value();

  ASSERT_TRUE(journal->trim(offsets[4]).has_value());
  EXPECT_EQ(journal->head().value(), head);
  EXPECT_EQ(journal->oldest().value(), offsets[4]);
  EXPECT_EQ(bytes_of(read_all(*journal)), (Strings{"4", "5", "6", "7", "8", "9"}));
  EXPECT_EQ(bytes_of(read(*ahead, 2)), (Strings{"5", "6"}));
  for (const auto& tail : {behind.get(), from_oldest.get()}) {  // neither may skip records that it has not read
    const auto lost = tail->next(1, kPatience);
    ASSERT_FALSE(lost.has_value());
    EXPECT_EQ(lost.error().code, ErrorCode::kGone);
  }
  const auto gone_again = journal->tail(offsets[1]).value()->next(1, kPatience);
  ASSERT_FALSE(gone_again.has_value());
  EXPECT_EQ(gone_again.error().code, ErrorCode::kGone);

  ASSERT_TRUE(journal->trim(offsets[1]).has_value()) << "trimming less than before changes nothing";
  EXPECT_EQ(journal->oldest().value(), offsets[4]);
}

TEST_P(JournalContract, TrimmingAllKeepsTheHeadAndOffsetsAreNotUsedAgain) {
  if (!GetParam().trims) GTEST_SKIP() << "this broker cannot delete records";
  auto journal = open();
  Offset last;
  for (int i = 0; i < 5; ++i) last = append_now(*journal, std::to_string(i));
  const Offset head = journal->head().value();
  ASSERT_TRUE(journal->trim(Offset{head.value + 100}).has_value());
  EXPECT_EQ(journal->head().value(), head);
  EXPECT_EQ(journal->oldest().value(), head);
  EXPECT_TRUE(journal->tail({}).value()->next(1, Millis{0}).value().empty());
  journal.reset();

  journal = open();
  EXPECT_EQ(journal->head().value(), head);
  EXPECT_EQ(journal->oldest().value(), head);
  EXPECT_GT(append_now(*journal, "after"), last);
  EXPECT_EQ(bytes_of(read_all(*journal)), Strings{"after"});
}

TEST_P(JournalContract, TrimWhileOthersAppendAndTail) {
  if (!GetParam().trims) GTEST_SKIP() << "this broker cannot delete records";
  constexpr int kRecords = 3000;
  const auto journal = open();
  std::atomic<int64_t> stored{0};
  std::promise<void> all_stored;
  auto reading = std::async(std::launch::async, [&, tail = std::shared_ptr(journal->tail({}).value())] {
    size_t seen = 0;
    while (seen < kRecords) {
      const auto some = read(*tail, 1);
      if (some.empty()) break;
      if (++seen % 100 == 0) {
        EXPECT_TRUE(journal->trim(some[0].offset).has_value());
      }
    }
    return seen;
  });
  for (int i = 0; i < kRecords; ++i) {
    journal->append(std::string(300, 'x'), [&](const Result<Offset>& answer) {
      EXPECT_TRUE(answer.has_value());
      if (++stored == kRecords) all_stored.set_value();
    });
  }
  all_stored.get_future().wait();
  EXPECT_EQ(reading.get(), static_cast<size_t>(kRecords));
  EXPECT_EQ(read_all(*journal).size(), 1U);
}

TEST_P(JournalContract, ASecondHolderContinuesWhereTheFirstEnded) {
  auto journal = open();
  const Offset first = append_now(*journal, "first");
  journal.reset();
  journal = open();
  EXPECT_GT(append_now(*journal, "second"), first);
  EXPECT_EQ(bytes_of(read_all(*journal)), (Strings{"first", "second"}));
}

TEST_P(JournalContract, TwoHoldersShareOneOrder) {
  const auto left = open();
  const auto right = open();
  const auto left_tail = left->tail({}).value();
  const auto right_tail = right->tail({}).value();
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) append_now(*right, "right " + std::to_string(i));
  });
  for (int i = 0; i < 100; ++i) append_now(*left, "left " + std::to_string(i));
  other.join();
  const auto seen_left = read(*left_tail, 200);
  EXPECT_EQ(bytes_of(seen_left), bytes_of(read(*right_tail, 200)));
  const auto seen = bytes_of(seen_left);
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 200U);
}

TEST_P(JournalContract, ADamagedRecordIsNamedAndAllBeforeItIsReadable) {
  auto journal = open();
  std::vector<Offset> offsets;
  for (int i = 0; i < 9; ++i) offsets.push_back(append_now(*journal, "entry " + std::to_string(i) + " of nine"));
  journal.reset();
  if (!place_->damage(offsets[6])) GTEST_SKIP() << "a test cannot modify the stored bytes of this backend";

  journal = open();
  const auto tail = journal->tail({}).value();
  EXPECT_EQ(read(*tail, 6).size(), 6U);
  for (int again = 0; again < 2; ++again) {
    const auto damaged = tail->next(10, kPatience);
    ASSERT_FALSE(damaged.has_value());
    EXPECT_EQ(damaged.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(damaged.error().message.find("offset " + std::to_string(offsets[6].value)), std::string::npos)
        << damaged.error().message;
  }
  EXPECT_EQ(bytes_of(read_all(*journal, offsets[7])), (Strings{"entry 7 of nine", "entry 8 of nine"}));
}

}  // namespace
}  // namespace shiplog
