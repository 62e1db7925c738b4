#include "services/runtime/projection_queue.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/random.h"
#include "events/sqlite/connection.h"
#include "projections/objects/object_query.h"
#include "projections/runner.h"
#include "projections/store/open.h"
#include "services/runtime/log.h"
#include "services/runtime/manual_executor.h"
#include "services/runtime/replica.h"
#include "tests/support/must.h"
#include "tests/support/test_directory.h"

namespace shiplog {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kNever{3'600'000};

ObjectKey namespace_of(uint64_t number) { return {type::kNamespace, "", "n" + std::to_string(number)}; }

Entry creation(uint64_t number) {
  const ObjectKey key = namespace_of(number);
  Entry entry;
  entry.events = {ObjectCreated{key, Value::object({{"metadata", Value::object({{"name", key.name}})}})}};
  return entry;
}

/// A projection, what is to be written to it, and a reader.
class ProjectionQueueTest : public ::testing::Test {
 protected:
  ProjectionQueueTest() { log::configure(log::Format::kText, log::Level::kError); }

  ProjectionQueue::Options options(milliseconds longest = kNever) {
    return {.name = "journal", .projections = projections.get(), .longest = longest};
  }
  /// One more namespace: revision N is number N.
  std::shared_ptr<const FoldedBatch> next_batch() {
    auto batch = std::make_shared<FoldedBatch>();
    Entry entry = creation(++number);
    entry.id = new_entry_id(random);
    batch->folded.push_back(fold(state, entry));
    batch->records.push_back({Offset{static_cast<int64_t>(number) - 1}, std::move(entry)});
    batch->after = state.meta();
    return batch;
  }
  Revision written() {
    Reader reader = must(projections->reader());
    return must(reader.view()).revision();
  }
  void wait_until_written(Revision revision) {
    while (written() < revision) std::this_thread::sleep_for(milliseconds{1});
  }
  /// As where a disk is full for a moment: this revision cannot be written, others can.
  void refuse_to_write(uint64_t revision) {
    must(must(store::open_writer(file))
             ->execute("CREATE TRIGGER full BEFORE INSERT ON version WHEN NEW.revision = " + std::to_string(revision) +
                       " BEGIN SELECT RAISE(ABORT, 'no room'); END"));
  }

  const TestDirectory directory;
  const std::string file = directory.file("projection.db");
  std::unique_ptr<Projections> projections = std::move(must(Projections::open(file)).projections);
  SeededRandom random{1};
  State state;
  uint64_t number = 0;
};

TEST_F(ProjectionQueueTest, WhatWaitsIsWrittenInOneTransactionWhenAReaderAsksForIt) {
  ProjectionQueue queue{options()};
  must(queue.flush());
  for (int batch = 0; batch < 3; ++batch) queue.add(next_batch());
  EXPECT_EQ(written(), Revision{0});
  Reader reader = must(projections->reader());
  must(queue.flush());
  EXPECT_EQ(must(reader.view()).revision(), Revision{3});
  EXPECT_EQ(projections->next(), Offset{3});
  must(queue.flush());
  EXPECT_EQ(written(), Revision{3});
}

TEST_F(ProjectionQueueTest, WritesByItselfAfterSomeTime) {
  ProjectionQueue queue{options(milliseconds{1})};
  queue.add(next_batch());
  wait_until_written(Revision{1});
  queue.add(next_batch());
  wait_until_written(Revision{2});
}

TEST_F(ProjectionQueueTest, WritesByItselfWhenEnoughEntriesWait) {
  ProjectionQueue::Options few = options();
  few.enough = 3;
  ProjectionQueue queue{few};
  for (int batch = 0; batch < 3; ++batch) queue.add(next_batch());
  wait_until_written(Revision{3});
}

TEST_F(ProjectionQueueTest, WritesByItselfWhenEnoughBytesWait) {
  ProjectionQueue::Options few = options();
  few.enough_bytes = 1;
  ProjectionQueue queue{few};
  queue.add(next_batch());
  wait_until_written(Revision{1});
}

TEST_F(ProjectionQueueTest, CallsBackOnceThereIsRoom) {
  ProjectionQueue::Options small = options();
  small.most = 2;
  ProjectionQueue queue{small};
  int called = 0;
  queue.add(next_batch());
  EXPECT_TRUE(queue.has_room());
  queue.when_room([&] { ++called; });
  EXPECT_EQ(called, 1) << "there is room";
  queue.add(next_batch());
  EXPECT_FALSE(queue.has_room());
  queue.when_room([&] { ++called; });
  EXPECT_EQ(called, 1);
  must(queue.flush());
  EXPECT_EQ(called, 2);
  EXPECT_TRUE(queue.has_room());
}

TEST_F(ProjectionQueueTest, WritesNothingAfterWhatCouldNotBeWritten) {
  refuse_to_write(2);
  ProjectionQueue queue{options()};
  std::vector<std::string> failures;
  queue.when_failed([&](const Error& error) { failures.push_back(error.message); });
  queue.add(next_batch());
  must(queue.flush());
  for (int batch = 0; batch < 2; ++batch) {
    queue.add(next_batch());
    EXPECT_FALSE(queue.flush().has_value());
  }
  EXPECT_FALSE(queue.flush().has_value()) << "also of a reader that comes later";
  EXPECT_FALSE(queue.with_projection([](Projections&) -> Result<void> { return ok(); }).has_value());
  EXPECT_EQ(failures.size(), 1U);
  EXPECT_EQ(written(), Revision{1});
}

TEST_F(ProjectionQueueTest, WhatTrimsTheProjectionFindsEverythingInIt) {
  ProjectionQueue queue{options()};
  queue.add(next_batch());
  const auto next =
      queue.with_projection([](Projections& written) -> Result<Offset> { return Offset{written.next()}; });
  EXPECT_EQ(must(next), Offset{1});
}

TEST_F(ProjectionQueueTest, WritesWhatWaitsBeforeItEnds) {
  { ProjectionQueue{options()}.add(next_batch()); }
  EXPECT_EQ(written(), Revision{1});
}

TEST_F(ProjectionQueueTest, FindsTheNewestChangeOfAnObjectAmongWhatWaits) {
  ProjectionQueue queue{options()};
  EXPECT_EQ(queue.waiting(namespace_of(1)).change, nullptr);
  queue.add(next_batch());
  queue.add(next_batch());
  auto label = std::make_shared<FoldedBatch>();
  Entry entry;
  entry.id = new_entry_id(random);
  entry.events = {ObjectUpdated{namespace_of(1), Value::object({{"metadata", Value::object({{"name", "n1"}})},
                                                                {"spec", Value::object({{"a", "b"}})}})}};
  label->folded.push_back(fold(state, entry));
  label->records.push_back({Offset{2}, std::move(entry)});
  label->after = state.meta();
  queue.add(label);
  const auto first = queue.waiting(namespace_of(1));
  ASSERT_NE(first.change, nullptr);
  EXPECT_EQ(first.change->revision, Revision{3});
  EXPECT_EQ(queue.waiting(namespace_of(2)).change->revision, Revision{2});
  const auto other = queue.waiting(namespace_of(3));
  EXPECT_EQ(other.change, nullptr);
  EXPECT_TRUE(other.known);
  must(queue.flush());
  EXPECT_EQ(queue.waiting(namespace_of(1)).change, nullptr);
}

TEST_F(ProjectionQueueTest, KnowsNothingOfObjectsOnceSomethingCouldNotBeWritten) {
  refuse_to_write(1);
  ProjectionQueue queue{options()};
  queue.add(next_batch());
  EXPECT_FALSE(queue.flush().has_value());
  EXPECT_FALSE(queue.waiting(namespace_of(1)).known) << "it is in neither";
}

/// Readers, each of which asks for a revision as soon as it has been answered, a writer, and one that uses the file.
TEST_F(ProjectionQueueTest, AReaderAlwaysSeesWhatWasAnsweredBefore) {
  constexpr uint64_t kEntries = 400;
  std::vector<std::shared_ptr<const FoldedBatch>> batches;
  while (batches.size() < kEntries) batches.push_back(next_batch());
  ProjectionQueue::Options often = options(milliseconds{1});
  often.enough = 7;
  ProjectionQueue queue{often};
  std::atomic<uint64_t> answered{0};
  std::atomic<int> behind{0};
  const auto read = [&] {
    Reader reader = must(projections->reader());
    for (uint64_t wanted = 0; wanted < kEntries;) {
      wanted = answered.load();
      must(queue.flush());
      const View view = must(reader.view());
      const bool there = wanted == 0 || must(ObjectQuery{view}.get(namespace_of(wanted))).has_value();
      if (view.revision() < Revision{wanted} || !there) ++behind;
    }
  };
  const auto look = [&] {
    Reader reader = must(projections->reader());
    for (uint64_t wanted = 1; wanted < kEntries;) {
      wanted = std::max<uint64_t>(1, answered.load());
      if (answered.load() < wanted) continue;
      const auto waiting = queue.waiting(namespace_of(wanted));
      if (waiting.change != nullptr) continue;
      const View view = must(reader.view());
      if (!must(ObjectQuery{view}.get(namespace_of(wanted)))) ++behind;
    }
  };
  const auto use = [&] {
    while (answered.load() < kEntries) {
      const uint64_t wanted = answered.load();
      must(queue.with_projection([&](Projections& used) -> Result<void> {
        if (used.next() < Offset{static_cast<int64_t>(wanted)}) ++behind;
        return ok();
      }));
    }
  };
  std::vector<std::thread> threads;
  for (int reader = 0; reader < 3; ++reader) threads.emplace_back(read);
  threads.emplace_back(look);
  threads.emplace_back(use);
  for (const auto& batch : batches) {
    queue.add(batch);
    answered.fetch_add(1);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(behind, 0);
}

/// A journal that stores at once.
class AcknowledgingJournal final : public Journal {
 public:
  std::deque<std::string> stored;

  void append(std::string bytes, Appended done) override {
    stored.push_back(std::move(bytes));
    done(Offset{static_cast<int64_t>(stored.size()) - 1});
  }
  Result<std::unique_ptr<Tail>> tail(Offset) override {
    return Error{ErrorCode::kUnavailable, "not read in this test"};
  }
  Result<Offset> head() override { return Offset{static_cast<int64_t>(stored.size())}; }
  Result<Offset> oldest() override { return Offset{}; }
  Result<void> trim(Offset) override { return Error{ErrorCode::kUnavailable, "not trimmed in this test"}; }
  std::string describe() const override { return "acknowledging"; }
};

/// A replica that answers before the projection is written.
class QueuedReplicaTest : public ProjectionQueueTest {
 protected:
  void start(ProjectionQueue::Options limits) {
    queue = std::make_unique<ProjectionQueue>(std::move(limits));
    replica = std::make_unique<Replica>(Replica::Options{.name = "journal",
                                                         .journal = &journal,
                                                         .executor = &executor,
                                                         .random = &random,
                                                         .projections = projections.get(),
                                                         .queue = queue.get()});
    must(replica->open());
    replica->when_projection_fails([this](const Error& error) { failures.push_back(error.message); });
  }
  void append() {
    replica->append(creation(++number), [this](const Result<Outcome>& outcome) {
      answers.push_back(outcome ? "revision " + std::to_string(outcome.value().revision.value)
                                : outcome.error().message);
    });
    executor.run();
  }
  /// Delivers the newest record.
  void deliver() {
    std::vector<DecodedRecord> records;
    records.push_back(
        {Offset{static_cast<int64_t>(journal.stored.size()) - 1}, replica->take_own(journal.stored.back()).value()});
    replica->deliver(std::move(records), [this](const Result<void>& done) { taken.push_back(done.has_value()); });
  }

  AcknowledgingJournal journal;
  ManualExecutor executor;
  std::unique_ptr<ProjectionQueue> queue;
  std::unique_ptr<Replica> replica;
  std::vector<std::string> answers, failures;
  std::vector<bool> taken;
};

TEST_F(QueuedReplicaTest, AnswersBeforeTheProjectionIsWritten) {
  start(options());
  append();
  deliver();
  EXPECT_EQ(answers, std::vector<std::string>{"revision 1"}) << "with no further turn of the executor";
  EXPECT_EQ(replica->next(), Offset{1});
  EXPECT_EQ(written(), Revision{0});
  must(replica->settle());
  EXPECT_EQ(written(), Revision{1});
  EXPECT_TRUE(must(projections->reader()).view().has_value());
}

TEST_F(QueuedReplicaTest, TakesNoMoreWhileTooMuchIsNotInTheProjection) {
  ProjectionQueue::Options small = options();
  small.most = 2;
  start(small);
  for (int entry = 0; entry < 2; ++entry) {
    append();
    deliver();
  }
  executor.run();
  EXPECT_EQ(answers.size(), 2U) << "answers do not wait";
  EXPECT_EQ(taken, std::vector<bool>{true});
  must(replica->settle());
  executor.run();
  EXPECT_EQ(taken, (std::vector<bool>{true, true}));
}

TEST_F(QueuedReplicaTest, StopsWhenTheProjectionCannotBeWritten) {
  refuse_to_write(1);
  start(options());
  append();
  deliver();
  EXPECT_TRUE(failures.empty());
  EXPECT_FALSE(replica->settle().has_value());
  executor.run();
  ASSERT_EQ(failures.size(), 1U);
  EXPECT_NE(failures[0].find("no room"), std::string::npos) << failures[0];
  append();
  EXPECT_EQ(answers, (std::vector<std::string>{"revision 1", "journal: this replica has stopped"}));
  EXPECT_FALSE(replica->settle().has_value());
  EXPECT_EQ(written(), Revision{0});
}

TEST_F(QueuedReplicaTest, AFailureAfterTheReplicaIsDestroyedDoesNoHarm) {
  refuse_to_write(1);
  start(options());
  append();
  deliver();
  replica.reset();
  EXPECT_FALSE(queue->flush().has_value());
  executor.run();
  EXPECT_TRUE(failures.empty());
}

}  // namespace
}  // namespace shiplog
