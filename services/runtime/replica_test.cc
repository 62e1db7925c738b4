#include "services/runtime/replica.h"

#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "events/codec/codec.h"
#include "events/sqlite/connection.h"
#include "projections/runner.h"
#include "projections/store/open.h"
#include "services/runtime/log.h"
#include "services/runtime/manual_executor.h"
#include "tests/support/test_directory.h"

namespace shiplog {
namespace {

/// A journal whose answers are the test's to give.
class HeldJournal final : public Journal {
 public:
  struct Sent {
    std::string bytes;
    Appended done;
  };
  std::deque<Sent> sent;
  bool asks_another = false;  ///< answers find_head() later, with `asked`
  std::deque<std::function<void(Result<Offset>)>> asked;
  Offset first{0};
  Offset next{0};

  void append(std::string bytes, Appended done) override { sent.push_back({std::move(bytes), std::move(done)}); }
  Result<std::unique_ptr<Tail>> tail(Offset) override {
    return Error{ErrorCode::kUnavailable, "not read in this test"};
  }
  Result<Offset> head() override { return next; }
  std::optional<Result<Offset>> find_head(const std::function<void(Result<Offset>)>& then) override {
    if (!asks_another) return head();
    asked.push_back(then);
    return std::nullopt;
  }
  Result<Offset> oldest() override { return first; }
  Result<void> trim(Offset) override { return Error{ErrorCode::kUnavailable, "not trimmed in this test"}; }
  std::string describe() const override { return "held"; }

  Sent take() {
    Sent one = std::move(sent.front());
    sent.pop_front();
    return one;
  }
};

const ObjectKey kNamespace{type::kNamespace, "", "default"};

Entry creation(const ObjectKey& key) {
  Entry entry;
  entry.events = {ObjectCreated{key, Value::object({{"metadata", Value::object({{"name", key.name}})}})}};
  return entry;
}

class ReplicaTest : public ::testing::Test {
 protected:
  ReplicaTest() { log::configure(log::Format::kText, log::Level::kError); }

  HeldJournal journal;
  ManualExecutor executor;
  SeededRandom random{1};
  std::unique_ptr<Replica> replica = make();
  std::vector<std::string> answers;

  std::unique_ptr<Replica> make() {
    return std::make_unique<Replica>(Replica::Options{"journal", &journal, &executor, &random, nullptr});
  }
  void append(Entry entry) {
    replica->append(std::move(entry), [this](const Result<Outcome>& outcome) {
      answers.push_back(!outcome                  ? outcome.error().message
                        : outcome.value().refusal ? outcome.value().refusal->reason
                                                  : "revision " + std::to_string(outcome.value().revision.value));
    });
    executor.run();
  }
  void deliver(const std::string& bytes) {
    const Offset offset{journal.next.value++};
    std::vector<DecodedRecord> records;
    records.push_back({offset, decode(bytes).value()});
    replica->deliver(std::move(records), [](const Result<void>& taken) { EXPECT_TRUE(taken.has_value()); });
  }
};

TEST_F(ReplicaTest, AnswersOnceTheEntryIsFoldedAndNotBefore) {
  append(creation(kNamespace));
  auto sent = journal.take();
  sent.done(Offset{0});
  executor.run();
  EXPECT_TRUE(answers.empty());
  deliver(sent.bytes);
  EXPECT_EQ(answers, std::vector<std::string>{"revision 1"});
  EXPECT_EQ(replica->feed().revision(), Revision{1});
}

TEST_F(ReplicaTest, AnswersAlsoWhenTheEntryIsFoldedBeforeTheJournalConfirmsIt) {
  append(creation(kNamespace));
  auto sent = journal.take();
  deliver(sent.bytes);
  EXPECT_EQ(answers.size(), 1U);
  sent.done(Offset{0});
  executor.run();
  EXPECT_EQ(answers.size(), 1U);
}

TEST_F(ReplicaTest, GivesTheEntryOutOnceAndForItsOwnBytesOnly) {
  append(creation(kNamespace));
  const std::string bytes = journal.take().bytes;
  std::string other = bytes;
  other.back() = static_cast<char>(other.back() ^ 1);
  EXPECT_FALSE(replica->take_own(other));
  EXPECT_FALSE(replica->take_own(""));
  const auto own = replica->take_own(bytes);
  ASSERT_TRUE(own);
  EXPECT_EQ(*own, decode(bytes).value());
  EXPECT_FALSE(replica->take_own(bytes)) << "a twin is decoded";
  deliver(bytes);
  EXPECT_EQ(answers, std::vector<std::string>{"revision 1"});
}

TEST_F(ReplicaTest, ReportsWhatTheFoldRefused) {
  append(creation({"configmaps", "nowhere", "a"}));
  deliver(journal.take().bytes);
  EXPECT_EQ(answers, std::vector<std::string>{"namespaces \"nowhere\" not found"});
}

TEST_F(ReplicaTest, RetriesAnUnknownOutcomeWithTheSameBytesUntilTheEntryIsSeen) {
  append(creation(kNamespace));
  const auto first = journal.take();
  first.done(Error{ErrorCode::kUnknownOutcome, "the connection broke"});
  executor.run(Millis{3000});
  ASSERT_EQ(journal.sent.size(), 1U);
  const auto second = journal.take();
  EXPECT_EQ(second.bytes, first.bytes);
  deliver(first.bytes);
  deliver(second.bytes);
  EXPECT_EQ(answers, std::vector<std::string>{"revision 1"}) << "the twin is not answered";
}

TEST_F(ReplicaTest, DoesNotBelieveThatAnEntryIsNotStoredAfterItsOutcomeWasUnknown) {
  append(creation(kNamespace));
  const auto first = journal.take();
  first.done(Error{ErrorCode::kUnknownOutcome, "the connection broke"});
  executor.run(Millis{3000});
  journal.take().done(Error{ErrorCode::kUnavailable, "the journal is away"});
  executor.run(Millis{3000});
  EXPECT_TRUE(answers.empty());
  EXPECT_EQ(journal.sent.size(), 1U) << "it is tried again";
  deliver(first.bytes);
  EXPECT_EQ(answers, std::vector<std::string>{"revision 1"});
}

TEST_F(ReplicaTest, StopsRetryingOnceTheEntryIsSeen) {
  append(creation(kNamespace));
  const auto first = journal.take();
  first.done(Error{ErrorCode::kUnknownOutcome, "the connection broke"});
  executor.run();
  deliver(first.bytes);
  executor.run(Millis{60'000});
  EXPECT_TRUE(journal.sent.empty());
}

TEST_F(ReplicaTest, ReportsThatAnEntryIsCertainlyNotStored) {
  append(creation(kNamespace));
  journal.take().done(Error{ErrorCode::kTooLarge, "too large"});
  executor.run();
  EXPECT_EQ(answers, std::vector<std::string>{"too large"});
}

TEST_F(ReplicaTest, AnAnswerOfTheJournalMayArriveWhenTheReplicaIsDestroyed) {
  append(creation(kNamespace));
  auto sent = journal.take();
  replica.reset();
  sent.done(Error{ErrorCode::kUnknownOutcome, "the connection broke"});
  executor.run(Millis{3000});
  EXPECT_TRUE(answers.empty());
}

TEST_F(ReplicaTest, HasCaughtUpOnceWhatWasThereAtItsStartIsFolded) {
  Entry entry = creation(kNamespace);
  entry.id = new_entry_id(random);
  entry.time = executor.now();
  journal.next = Offset{1};
  ASSERT_TRUE(replica->open().has_value());
  EXPECT_FALSE(replica->caught_up());
  bool told = false;
  replica->when_caught_up([&] { told = true; });
  journal.next = Offset{0};
  deliver(encode(entry));
  executor.run();
  EXPECT_TRUE(replica->caught_up());
  EXPECT_TRUE(told);
}

TEST_F(ReplicaTest, WaitersForAnOffsetAreNotifiedWhenItIsFolded) {
  int told = 0;
  replica->when_folded(Offset{0}, [&] { ++told; });
  EXPECT_EQ(told, 1) << "nothing to wait for";
  replica->when_folded(Offset{1}, [&] { ++told; });
  executor.run();
  EXPECT_EQ(told, 1);
  append(creation(kNamespace));
  deliver(journal.take().bytes);
  EXPECT_EQ(told, 2);
}

TEST_F(ReplicaTest, IsCurrentWhenWhatTheJournalHadIsFolded) {
  std::vector<std::string> told;
  const auto ask = [&] {
    replica->when_current([&](const Result<void>& now) { told.push_back(now ? "current" : now.error().message); });
    executor.run();
  };
  ask();
  EXPECT_EQ(told, std::vector<std::string>{"current"}) << "the journal is empty";
  append(creation(kNamespace));
  const std::string bytes = journal.take().bytes;

  journal.asks_another = true;
  ask();
  ask();
  ask();
  ASSERT_EQ(journal.asked.size(), 3U);
  journal.asked[0](Offset{0});
  executor.run();
  EXPECT_EQ(told.size(), 2U);
  journal.asked[1](Offset{1});
  journal.asked[2](Error{ErrorCode::kUnavailable, "no broker answers"});
  EXPECT_EQ(told.size(), 2U) << "nothing happens on the journal's thread";
  executor.run();
  EXPECT_EQ(told.back(), "no broker answers");
  EXPECT_EQ(told.size(), 3U);
  deliver(bytes);
  executor.run();
  EXPECT_EQ(told.size(), 4U);
  EXPECT_EQ(told.back(), "current");
}

TEST_F(ReplicaTest, TheJournalMayTellItsHeadWhenTheReplicaIsDestroyed) {
  journal.asks_another = true;
  replica->when_current([](const Result<void>&) { FAIL() << "the replica is destroyed"; });
  replica.reset();
  journal.asked.front()(Offset{0});
  executor.run();
}

TEST_F(ReplicaTest, GoesOnFromWhatWasRestored) {
  append(creation(kNamespace));
  deliver(journal.take().bytes);
  Restored restored;
  restored.next = replica->next();
  restored.meta = replica->state().meta();
  restored.objects = {{kNamespace, *replica->state().find(kNamespace)}};
  const Hash128 hash = replica->state().hash();
  replica = make();
  const auto next = replica->open(restored);
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next.value(), Offset{1});
  EXPECT_EQ(replica->state().hash(), hash);
  EXPECT_TRUE(replica->caught_up());
}

TEST_F(ReplicaTest, StartsOverWhenWhatWasRestoredDoesNotAddUp) {
  Restored restored;
  restored.next = Offset{7};
  restored.meta.hash.lo = 1;
  const auto next = replica->open(restored);
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next.value(), Offset{0});
  EXPECT_EQ(replica->state().revision(), Revision{0});
}

TEST_F(ReplicaTest, ReportsWhatIsMissingWhenTheJournalWasTrimmed) {
  journal.first = Offset{5};
  journal.next = Offset{9};
  const auto next = replica->open();
  ASSERT_FALSE(next.has_value());
  EXPECT_EQ(next.error().code, ErrorCode::kGone);
}

TEST_F(ReplicaTest, TakesNothingMoreOnceItHasDiverged) {
  append(creation(kNamespace));
  deliver(journal.take().bytes);
  Entry hashed;
  hashed.id = new_entry_id(random);
  hashed.events = {StateHashed{Revision{1}, Hash128{1, 2}}};
  std::vector<DecodedRecord> records;
  records.push_back({Offset{1}, hashed});
  log::configure(log::Format::kText, log::Level::kError);
  replica->deliver(std::move(records), [](const Result<void>& taken) { EXPECT_FALSE(taken.has_value()); });
  append(creation({type::kNamespace, "", "other"}));
  EXPECT_EQ(answers.back(), "journal: this replica has stopped");
  EXPECT_TRUE(journal.sent.empty());
}

TEST_F(ReplicaTest, AnswersWhatIsFoldedAndTakesMoreOnceItIsInTheProjection) {
  std::deque<std::function<void()>> writes;
  replica = std::make_unique<Replica>(Replica::Options{"journal", &journal, &executor, &random, nullptr,
                                                       [&](auto write) { writes.push_back(std::move(write)); }});
  append(creation(kNamespace));
  append(creation({type::kNamespace, "", "other"}));
  bool visible = false;
  replica->when_folded(Offset{1}, [&] { visible = true; });
  std::vector<int64_t> taken;
  for (int64_t offset = 0; offset < 2; ++offset) {  // the second is folded while the first is being written
    std::vector<DecodedRecord> records;
    records.push_back({Offset{offset}, decode(journal.take().bytes).value()});
    replica->deliver(std::move(records), [&taken, offset](const Result<void>&) { taken.push_back(offset); });
  }
  executor.run();
  EXPECT_NE(replica->state().find({type::kNamespace, "", "other"}), nullptr);
  EXPECT_EQ(answers, (std::vector<std::string>{"revision 1", "revision 2"}));
  EXPECT_EQ(replica->next(), Offset{2});
  EXPECT_TRUE(visible);
  EXPECT_TRUE(taken.empty());
  writes.at(0)();
  executor.run();
  EXPECT_EQ(taken, std::vector<int64_t>{0});
  writes.at(1)();
  executor.run();
  EXPECT_EQ(taken, (std::vector<int64_t>{0, 1}));
}

TEST_F(ReplicaTest, AProjectionWrittenAfterTheReplicaIsDestroyedDoesNoHarm) {
  std::deque<std::function<void()>> writes;
  replica = std::make_unique<Replica>(Replica::Options{"journal", &journal, &executor, &random, nullptr,
                                                       [&](auto write) { writes.push_back(std::move(write)); }});
  append(creation(kNamespace));
  deliver(journal.take().bytes);
  replica.reset();
  writes.at(0)();
  executor.run();
  EXPECT_EQ(answers, std::vector<std::string>{"revision 1"});
}

TEST_F(ReplicaTest, WritesNothingAfterWhatCouldNotBeWritten) {
  const TestDirectory directory;
  const std::string file = directory.path() + "/projection.db";
  auto ours = Projections::open(file);
  ASSERT_TRUE(ours.has_value());
  std::deque<std::function<void()>> writes;
  replica = std::make_unique<Replica>(Replica::Options{"journal", &journal, &executor, &random,
                                                       ours.value().projections.get(),
                                                       [&](auto write) { writes.push_back(std::move(write)); }});
  std::vector<bool> taken;
  for (int number = 0; number < 3; ++number) {
    append(creation({type::kNamespace, "", "n" + std::to_string(number)}));
    std::vector<DecodedRecord> records;
    records.push_back({Offset{number}, decode(journal.take().bytes).value()});
    replica->deliver(std::move(records), [&](const Result<void>& done) { taken.push_back(done.has_value()); });
  }
  {
    auto connection = store::open_writer(file);
    ASSERT_TRUE(connection.has_value());
    // As where a disk is full for a moment: the first batch fails, the others would not.
    ASSERT_TRUE(connection.value()
                    ->execute("CREATE TRIGGER full BEFORE INSERT ON version WHEN NEW.revision = 1 "
                              "BEGIN SELECT RAISE(ABORT, 'no room'); END")
                    .has_value());
  }
  while (!writes.empty()) {
    writes.front()();
    writes.pop_front();
    executor.run();
  }
  EXPECT_EQ(taken, (std::vector<bool>{false, false, false}));
  EXPECT_EQ(ours.value().projections->next(), Offset{0});
  append(creation(kNamespace));
  EXPECT_EQ(answers.back(), "journal: this replica has stopped");
}

}  // namespace
}  // namespace shiplog
