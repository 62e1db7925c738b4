#include "services/runtime/append_without_lease.h"

#include <gtest/gtest.h>

#include "events/codec/codec.h"
#include "events/journal/memory_journal.h"
#include "events/state/object.h"
#include "services/runtime/log.h"
#include "services/runtime/manual_executor.h"

namespace shiplog {
namespace {

const ObjectKey kOurs{type::kNamespace, "", "ours"};
const ObjectKey kTheirs{type::kNamespace, "", "theirs"};

Value value_named(const ObjectKey& key) { return Value::object({{"metadata", Value::object({{"name", key.name}})}}); }

/// A process on a journal that others append to as well.
class AppendWithoutLease : public ::testing::Test {
 protected:
  AppendWithoutLease() {
    log::configure(log::Format::kText, log::Level::kError);
    const auto from = replica_.open();
    tail_ = std::move(journal_->tail(from.value()).value());
  }

  /// Folds what the journal holds, until nothing is under way.
  void run() {
    for (int rounds = 0; rounds < 50; ++rounds) {
      executor_.run();
      auto batch = tail_->next(512, Millis{0});
      ASSERT_TRUE(batch) << batch.error().message;
      std::vector<DecodedRecord> records;
      for (const auto& record : batch.value()) {
        entries_.push_back(decode(record.bytes).value());
        records.push_back({record.offset, entries_.back()});
      }
      replica_.deliver(std::move(records), [](const Result<void>& taken) { EXPECT_TRUE(taken); });
    }
    executor_.run();
  }
  static DecisionStep creates(const ObjectKey& key) {
    return {"creates", [key](const State& state) -> Decided {
              if (state.find(key) != nullptr) return Nothing{};
              return decide_one(ObjectCreated{key, value_named(key)}, {key, Revision{}});
            }};
  }
  /// As another process would, which has not seen what this one has folded.
  void append_elsewhere(const ObjectKey& key) {
    Entry entry;
    entry.id.bytes[0] = 77;
    entry.events = {ObjectCreated{key, value_named(key)}};
    journal_->append(encode(entry), [](const Result<Offset>&) {});
  }

  ManualExecutor executor_;
  SeededRandom random_{1};
  std::shared_ptr<Journal> journal_ = make_memory_journal({.acknowledge_inside_append = true});
  Replica replica_{{"journal", journal_.get(), &executor_, &random_, nullptr}};
  std::unique_ptr<Journal::Tail> tail_;
  std::vector<Entry> entries_;
};

TEST_F(AppendWithoutLease, TheEntryNamesItsOriginAndCarriesTheExpectations) {
  std::optional<Refusal> refusal;
  const EntryOrigin origin{.service = "control", .user_agent = "shiplogd/1", .time = UtcMillis{5}};
  append_without_lease(replica_, origin, {{ObjectCreated{kOurs, value_named(kOurs)}}, {{kOurs, Revision{9}}}},
                       [&](const Result<Outcome>& outcome) { refusal = outcome.value().refusal; });
  run();
  ASSERT_EQ(entries_.size(), 1U);
  EXPECT_EQ(entries_[0].actor.service, "control");
  EXPECT_EQ(entries_[0].actor.user, "system:shiplog");
  EXPECT_EQ(entries_[0].actor.user_agent, "shiplogd/1");
  EXPECT_EQ(entries_[0].time, UtcMillis{5});
  EXPECT_TRUE(entries_[0].fence.service.empty());
  EXPECT_TRUE(refusal.has_value()) << "no object was at that revision";
}

TEST_F(AppendWithoutLease, StepsFollowEachOtherAndThoseWithoutADecisionAreSkipped) {
  int done = 0;
  append_in_turn(replica_, {}, {creates(kOurs), creates(kOurs), creates(kTheirs)}, [&] { ++done; });
  EXPECT_EQ(done, 0) << "not before everything is folded";
  run();
  EXPECT_EQ(done, 1);
  EXPECT_EQ(entries_.size(), 2U);
}

TEST_F(AppendWithoutLease, ARefusedStepIsDecidedAgainAndWritesNothingTwice) {
  int done = 0;
  append_elsewhere(kOurs);  // folded before our entry, and not known here when it is decided
  append_in_turn(replica_, {}, {creates(kOurs), creates(kTheirs)}, [&] { ++done; });
  run();
  EXPECT_EQ(done, 1);
  EXPECT_EQ(replica_.state().revision(), Revision{2});
  EXPECT_EQ(entries_.size(), 3U) << "one of the other process, one refused, one of the next step";
}

TEST_F(AppendWithoutLease, AStepThatIsAlwaysRefusedDoesNotBlockTheOthers) {
  int done = 0;
  const DecisionStep refused{"refused", [](const State&) -> Decided {
                               return decide_one(ObjectCreated{kOurs, value_named(kOurs)}, {kOurs, Revision{9}});
                             }};
  append_in_turn(replica_, {}, {refused, creates(kTheirs)}, [&] { ++done; });
  for (int rounds = 0; rounds < 5; ++rounds) run();
  EXPECT_EQ(done, 1);
  EXPECT_EQ(replica_.state().find(kOurs), nullptr);
  EXPECT_NE(replica_.state().find(kTheirs), nullptr);
}

}  // namespace
}  // namespace shiplog
