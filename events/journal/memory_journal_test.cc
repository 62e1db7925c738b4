#include "events/journal/memory_journal.h"

#include <thread>

#include <gtest/gtest.h>

namespace shiplog {
namespace {

void append(Journal& journal, std::string bytes) {
  journal.append(std::move(bytes), [](const Result<Offset>& stored) { EXPECT_TRUE(stored.has_value()); });
}

TEST(MemoryJournal, DeletesTheOldestRecordsAboveItsBound) {
  const auto journal = make_memory_journal({.max_records = 3});
  const auto slow = journal->tail({}).value();
  for (int i = 0; i < 10; ++i) append(*journal, std::to_string(i));
  EXPECT_EQ(journal->oldest().value(), Offset{7});
  EXPECT_EQ(journal->head().value(), Offset{10});
  const auto lost = slow->next(1, Millis{0});
  ASSERT_FALSE(lost.has_value());
  EXPECT_EQ(lost.error().code, ErrorCode::kGone);
  const auto held = journal->tail({}).value()->next(10, Millis{0}).value();
  ASSERT_EQ(held.size(), 3U);
  EXPECT_EQ(held[0].bytes, "7");
}

TEST(MemoryJournal, DeletesTheOldestBytesAboveItsBoundButNeverTheNewestRecord) {
  const auto journal = make_memory_journal({.max_bytes = 10});
  for (int i = 0; i < 5; ++i) append(*journal, "1234");
  EXPECT_EQ(journal->oldest().value(), Offset{3});
  append(*journal, std::string(1000, 'x'));
  EXPECT_EQ(journal->oldest().value(), Offset{5});
  EXPECT_EQ(journal->head().value(), Offset{6});
}

TEST(MemoryJournal, AcknowledgesInsideAppendIfConfigured) {
  const auto journal = make_memory_journal({.acknowledge_inside_append = true});
  std::vector<int64_t> answered;
  for (int i = 0; i < 3; ++i) {
    journal->append("x", [&](const Result<Offset>& stored) {
      EXPECT_EQ(journal->head().value().value, stored.value().value + 1);  // the journal is not locked here
      answered.push_back(stored.value().value);
    });
    EXPECT_EQ(answered.size(), static_cast<size_t>(i) + 1);
  }
}

TEST(MemoryJournal, AcknowledgesEverythingBeforeItEndsAndItsTailsFindOut) {
  auto journal = make_memory_journal();
  const auto tail = journal->tail({}).value();
  int answered = 0;
  for (int i = 0; i < 100; ++i) journal->append("x", [&](const Result<Offset>&) { ++answered; });
  journal.reset();
  EXPECT_EQ(answered, 100);
  EXPECT_EQ(tail->next(1000, Millis{0}).value().size(), 100U);
  const auto closed = tail->next(1, Millis{60'000});
  ASSERT_FALSE(closed.has_value());
  EXPECT_EQ(closed.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace shiplog
