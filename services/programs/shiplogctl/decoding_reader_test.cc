#include "services/programs/shiplogctl/decoding_reader.h"

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "events/codec/codec.h"
#include "events/journal/memory_journal.h"

namespace shiplog::ctl {
namespace {

constexpr size_t kEntries = 3'000;  // many batches

Entry numbered(size_t number) {
  Entry entry;
  entry.id.bytes[0] = static_cast<uint8_t>(number + 1);
  entry.id.bytes[1] = static_cast<uint8_t>((number + 1) >> 8U);
  entry.request.verb = number % 3 == 0 ? "observe" : "decide";
  const ObjectKey key{"configmaps", "default", "c" + std::to_string(number)};
  entry.events = {ObjectUpdated{key, Value::object({{"number", number}})}};
  return entry;
}

Offset append(Journal& journal, std::string bytes) {
  std::promise<Offset> appended;
  journal.append(std::move(bytes), [&](Result<Offset> offset) { appended.set_value(offset.value()); });
  return appended.get_future().get();
}

std::shared_ptr<Journal> journal_of(size_t entries) {
  auto journal = make_memory_journal();
  for (size_t number = 0; number < entries; ++number) append(*journal, encode(numbered(number)));
  return journal;
}

Result<std::vector<ReplayRecord>> all(const Records& records) {
  std::vector<ReplayRecord> found;
  while (true) {
    SHIPLOG_TRY(auto next, records());
    if (next.empty()) return found;
    for (ReplayRecord& record : next) found.push_back(std::move(record));
  }
}

TEST(CtlDecodingReader, GivesAllInTheirOrderWithAnyNumberOfThreads) {
  const auto journal = journal_of(kEntries);
  for (const size_t threads : {size_t{0}, size_t{1}, size_t{3}}) {
    DecodingOptions options;
    options.threads = threads;
    const auto read = all(read_decoded(*journal, Offset{}, options).value());
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read.value().size(), kEntries);
    for (size_t number = 0; number < kEntries; ++number) {
      EXPECT_EQ(read.value()[number].offset, Offset{static_cast<int64_t>(number)});
      EXPECT_TRUE(read.value()[number].entry == numbered(number)) << number;
      EXPECT_TRUE(read.value()[number].undecoded.empty()) << number;
    }
  }
}

TEST(CtlDecodingReader, LeavesDecisionsUndecodedFromAnOffsetOn) {
  const auto journal = journal_of(600);
  DecodingOptions options;
  options.undecoded_from = Offset{300};
  const auto read = all(read_decoded(*journal, Offset{10}, options).value());
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read.value().size(), 590U);
  for (const ReplayRecord& record : read.value()) {
    const Entry whole = numbered(static_cast<size_t>(record.offset.value));
    const bool later = record.offset >= *options.undecoded_from && whole.request.verb == "decide";
    EXPECT_EQ(record.undecoded, later ? encode(whole) : "");
    EXPECT_EQ(record.entry.events.empty(), later);
    EXPECT_EQ(record.entry.id, whole.id);
    EXPECT_EQ(record.bytes, encode(whole).size());
  }
}

TEST(CtlDecodingReader, WhatIsAppendedLaterIsNotRead) {
  const auto journal = journal_of(5);
  const Records records = read_decoded(*journal, Offset{}).value();
  append(*journal, encode(numbered(5)));
  EXPECT_EQ(all(records).value().size(), 5U);
  EXPECT_TRUE(all(read_decoded(*journal, Offset{6}).value()).value().empty());
}

TEST(CtlDecodingReader, AnEntryThatCannotBeReadIsAnErrorAfterAllBeforeIt) {
  const auto journal = journal_of(400);
  append(*journal, "no entry");
  append(*journal, encode(numbered(401)));
  const Records records = read_decoded(*journal, Offset{}).value();
  size_t read = 0;
  while (true) {
    const auto next = records();
    if (next) {
      read += next.value().size();
      continue;
    }
    EXPECT_TRUE(next.error().message.starts_with(journal->describe() + ", offset 400: ")) << next.error().message;
    break;
  }
  EXPECT_EQ(read, 400U);
  EXPECT_FALSE(records()) << "nor is there more";
}

TEST(CtlDecodingReader, ItsThreadsHelpWhileTheyHaveNothingToDecode) {
  const auto journal = journal_of(kEntries);
  SharedWork work;
  DecodingOptions options;
  options.work = &work;
  options.threads = 1;
  const Records records = read_decoded(*journal, Offset{}, options).value();
  // The first waits for the second, which the other thread must begin.
  std::atomic<int> begun{0};
  work.for_each(2, [&](size_t) {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  });
  EXPECT_EQ(all(records).value().size(), kEntries);
}

TEST(CtlDecodingReader, MayBeLeftInTheMiddle) {
  const auto journal = journal_of(kEntries);
  for (const size_t threads : {size_t{1}, size_t{3}}) {
    DecodingOptions options;
    options.threads = threads;
    const Records records = read_decoded(*journal, Offset{}, options).value();
    EXPECT_FALSE(records().value().empty());
  }
}

}  // namespace
}  // namespace shiplog::ctl
