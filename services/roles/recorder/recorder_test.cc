#include "services/roles/recorder/recorder.h"

#include <deque>
#include <set>

#include <gtest/gtest.h>

#include "events/codec/codec.h"
#include "projections/runner.h"
#include "services/runtime/log.h"
#include "services/runtime/manual_executor.h"

namespace shiplog {
namespace {

const ObjectKey kWeb{"configmaps", "default", "web"};

/// Stores at once, and hands to its replica what is stored; `held` keeps it back.
class Loopback final : public Journal {
 public:
  Replica* replica = nullptr;
  bool held = false;

  void append(std::string bytes, Appended done) override {
    waiting_.emplace_back(std::move(bytes), std::move(done));
    if (!held) release();
  }
  void release() {
    held = false;
    while (!waiting_.empty()) {
      auto [bytes, done] = std::move(waiting_.front());
      waiting_.pop_front();
      const Offset offset{next_.value++};
      done(offset);
      ++stored;
      std::vector<DecodedRecord> records;
      records.push_back({offset, decode(bytes).value()});
      replica->deliver(std::move(records), [](const Result<void>& taken) { EXPECT_TRUE(taken.has_value()); });
    }
  }
  Result<std::unique_ptr<Tail>> tail(Offset) override { return Error{ErrorCode::kUnavailable, "not read here"}; }
  Result<Offset> head() override { return next_; }
  Result<Offset> oldest() override { return Offset{}; }
  Result<void> trim(Offset) override { return Error{ErrorCode::kUnavailable, "not trimmed here"}; }
  std::string describe() const override { return "loopback"; }

  int stored = 0;

 private:
  Offset next_;
  std::deque<std::pair<std::string, Appended>> waiting_;
};

class RecorderTest : public ::testing::Test {
 protected:
  RecorderTest() {
    log::configure(log::Format::kText, log::Level::kError);
    record_journal.replica = &record;
    ephemera_journal.replica = &ephemera;
    EXPECT_TRUE(record.open().has_value());
    EXPECT_TRUE(ephemera.open().has_value());
    executor.run();
    write({ObjectCreated{{type::kNamespace, "", "default"}, object("Namespace", "", "default")}});
  }

  static Value object(const char* kind, const std::string& ns, const std::string& name) {
    Value metadata = Value::object({{"name", name}, {"uid", "uid-" + name}});
    if (!ns.empty()) metadata.set("namespace", ns);
    return Value::object({{"apiVersion", "v1"}, {"kind", kind}, {"metadata", metadata}});
  }
  void write(std::vector<Event> events) {
    Entry entry;
    entry.events = std::move(events);
    record.append(std::move(entry), [](const Result<Outcome>&) {});
    executor.run();
  }
  std::unique_ptr<Recorder> make(size_t most_waiting = 100, size_t most_kept = 100, size_t at_once = 100) {
    return std::make_unique<Recorder>(Recorder::Options{.record = &record,
                                                        .ephemera = &ephemera,
                                                        .executor = &executor,
                                                        .user_agent = "test",
                                                        .gather = Millis{200},
                                                        .at_once = at_once,
                                                        .most_waiting = most_waiting,
                                                        .most_kept = most_kept});
  }
  void record_events(Recorder& to, const std::string& message,
                     const Value& about = object("ConfigMap", "default", "web")) {
    to.record_events({{about, "tester", false, "Told", message}}, executor.now());
  }
  std::vector<Value> events(const std::string& ns = "default") {
    std::vector<Value> all;
    for (const auto& [name, one] : ephemera.state().objects("events", ns)) all.push_back(one.value);
    return all;
  }
  std::set<std::string> messages() {
    std::set<std::string> all;
    for (const Value& one : events()) all.insert(one["message"].str());
    return all;
  }

  Loopback record_journal, ephemera_journal;
  ManualExecutor executor;
  SeededRandom random{1};
  Replica record{{"journal", &record_journal, &executor, &random, nullptr}};
  Replica ephemera{{"ephemera", &ephemera_journal, &executor, &random, nullptr}};
};

TEST_F(RecorderTest, WritesAnOrdinaryEvent) {
  const auto recorder = make();
  record_events(*recorder, "hello");
  EXPECT_TRUE(events().empty()) << "it gathers first";
  executor.run(Millis{300});
  ASSERT_EQ(events().size(), 1U);
  const Value event = events().front();
  EXPECT_EQ(event["kind"].as_string(), "Event");
  EXPECT_EQ(event["message"].as_string(), "hello");
  EXPECT_EQ(event["reason"].as_string(), "Told");
  EXPECT_EQ(event["type"].as_string(), "Normal");
  EXPECT_EQ(event["count"], Value{1});
  EXPECT_EQ(event["source"]["component"].as_string(), "tester");
  EXPECT_EQ(event["involvedObject"]["kind"].as_string(), "ConfigMap");
  EXPECT_EQ(event["involvedObject"]["namespace"].as_string(), "default");
  EXPECT_EQ(event["involvedObject"]["uid"].as_string(), "uid-web");
  EXPECT_EQ(event["firstTimestamp"].as_string(), "2026-01-01T00:00:00Z");
  EXPECT_TRUE(event["metadata"]["name"].as_string().starts_with("web."));
  EXPECT_EQ(recorder->written(), 1U);
}

TEST_F(RecorderTest, CountsUpRepeatedEvents) {
  const auto recorder = make();
  record_events(*recorder, "hello");
  record_events(*recorder, "hello");
  executor.run(Millis{5'000});
  record_events(*recorder, "hello");
  record_events(*recorder, "other");
  executor.run(Millis{300});
  ASSERT_EQ(messages(), (std::set<std::string>{"hello", "other"}));
  for (const Value& event : events()) {
    const bool hello = event["message"].as_string() == "hello";
    EXPECT_EQ(event["count"], Value{hello ? 3 : 1});
    EXPECT_EQ(event["lastTimestamp"].as_string(), "2026-01-01T00:00:05Z");
    EXPECT_EQ(event["firstTimestamp"].as_string(), hello ? "2026-01-01T00:00:00Z" : "2026-01-01T00:00:05Z");
  }
}

TEST_F(RecorderTest, SimilarEventsBecomeOneWithTheNewestMessage) {
  const auto recorder = make();
  for (int i = 1; i <= 12; ++i) {
    record_events(*recorder, "try " + std::to_string(i));
    executor.run(Millis{i == 11 ? 60'000 : 1'000});
  }
  ASSERT_EQ(events().size(), 10U) << "nine, and those that are combined";
  EXPECT_TRUE(messages().contains("try 9"));
  ASSERT_TRUE(messages().contains("(combined from similar events): try 12"));
  for (const Value& event : events()) {
    const bool combined = event["message"].as_string().starts_with("(combined");
    EXPECT_EQ(event["count"], Value{combined ? 3 : 1});
    if (!combined) continue;
    EXPECT_EQ(event["firstTimestamp"].as_string(), "2026-01-01T00:00:09Z");
    EXPECT_EQ(event["lastTimestamp"].as_string(), "2026-01-01T00:01:10Z");
    EXPECT_EQ(event["reason"].as_string(), "Told");
    EXPECT_EQ(event["involvedObject"]["name"].as_string(), "web");
  }
  // Of several that are combined in one append the newest is shown.
  record_events(*recorder, "try 13");
  record_events(*recorder, "try 14");
  executor.run(Millis{1'000});
  EXPECT_TRUE(messages().contains("(combined from similar events): try 14"));
  EXPECT_EQ(events().size(), 10U);
}

TEST_F(RecorderTest, WhatIsReportedTooOftenIsCountedButSeldomWritten) {
  const auto recorder = make();
  for (int i = 0; i < 40; ++i) record_events(*recorder, "hello");
  executor.run(Millis{1'000});
  EXPECT_EQ(events().front()["count"], Value{25});
  EXPECT_EQ(recorder->filtered(), 15U);
  const int stored = ephemera_journal.stored;
  record_events(*recorder, "hello");
  executor.run(Millis{1'000});
  EXPECT_EQ(ephemera_journal.stored, stored) << "nothing is written";
  executor.run(Millis{300'000});
  record_events(*recorder, "hello");
  executor.run(Millis{1'000});
  ASSERT_EQ(events().size(), 1U);
  EXPECT_EQ(events().front()["count"], Value{42});
  EXPECT_EQ(recorder->dropped(), 0U);
}

TEST_F(RecorderTest, RecordsEntriesOnlyWhileItLeadsAndNoEarlierOnes) {
  const auto recorder = make();
  const auto service = make_recorder_role(*recorder);
  const ObjectKey cluster{type::kCluster, "", "m1"};
  write({ObjectCreated{cluster, object("Cluster", "", "m1")}, TaintAdded{cluster, {"a", "", "NoSchedule"}, ""}});
  executor.run(Millis{1'000});
  EXPECT_TRUE(events().empty());
  std::vector<ObjectKey> wake;
  service->on_start(record.state(), wake);
  executor.run(Millis{1'000});
  EXPECT_TRUE(events().empty()) << "history is not written again";
  write({TaintAdded{cluster, {"b", "", "NoSchedule"}, ""}});
  executor.run(Millis{1'000});
  ASSERT_EQ(events().size(), 1U) << "of a cluster-scoped object: in default";
  EXPECT_EQ(events().front()["reason"].as_string(), "TaintClusterSucceed");
  EXPECT_TRUE(events().front()["involvedObject"]["namespace"].is_null());
  service->on_stop();
  write({TaintRemoved{cluster, {"a", "", "NoSchedule"}, ""}});
  executor.run(Millis{1'000});
  EXPECT_EQ(events().size(), 1U);
}

TEST_F(RecorderTest, ASuccessorCountsOn) {
  auto recorder = make();
  record_events(*recorder, "hello");
  executor.run(Millis{300});
  recorder = nullptr;
  const auto successor = make();
  record_events(*successor, "hello");
  executor.run(Millis{300});
  ASSERT_EQ(events().size(), 1U);
  EXPECT_EQ(events().front()["count"], Value{2});
}

TEST_F(RecorderTest, UnderPressureTheOldestAreDroppedAndCounted) {
  const auto recorder = make(3);
  for (const char* message : {"1", "2", "3", "4", "5"}) record_events(*recorder, message);
  executor.run(Millis{300});
  EXPECT_EQ(messages(), (std::set<std::string>{"3", "4", "5"}));
  EXPECT_EQ(recorder->dropped(), 2U);
}

TEST_F(RecorderTest, OneAppendIsUnderWayAtATime) {
  const auto recorder = make(100, 100, 2);
  ephemera_journal.held = true;
  for (const char* message : {"1", "2", "3", "4", "5"}) record_events(*recorder, message);
  executor.run(Millis{2'000});
  record_events(*recorder, "6");
  executor.run(Millis{2'000});
  EXPECT_EQ(ephemera_journal.stored, 0);
  ephemera_journal.release();
  executor.run(Millis{20});
  EXPECT_EQ(ephemera_journal.stored, 1);
  EXPECT_EQ(events().size(), 2U);
  executor.run(Millis{1'000});
  EXPECT_EQ(ephemera_journal.stored, 3);
  EXPECT_EQ(events().size(), 6U);
}

TEST_F(RecorderTest, WhileMuchHappensLittleIsWrittenAndTheRestOnceItIsQuiet) {
  const auto recorder = make(1'000, 1'000, 2);
  for (int i = 0; i < 50; ++i) {
    record_events(*recorder, std::to_string(i), object("ConfigMap", "default", "c" + std::to_string(i)));
    executor.run(Millis{100});
  }
  EXPECT_GE(ephemera_journal.stored, 4) << "about one a second";
  EXPECT_LE(ephemera_journal.stored, 6);
  executor.run(Millis{2'000});
  EXPECT_EQ(events().size(), 50U);
  EXPECT_EQ(recorder->dropped(), 0U);
}

TEST_F(RecorderTest, KeepsTheNewestAndThoseOfOthers) {
  Entry foreign;
  foreign.events = {ObjectCreated{{"events", "default", "theirs"}, object("Event", "default", "theirs")}};
  ephemera.append(std::move(foreign), [](const Result<Outcome>&) {});
  auto recorder = make(100, 2);
  recorder->begin();
  for (const char* message : {"1", "2", "3", "4"}) {
    record_events(*recorder, message);
    executor.run(Millis{300});
  }
  EXPECT_EQ(messages(), (std::set<std::string>{"", "3", "4"}));
  recorder = make(100, 2);  // knows what there is
  recorder->begin();
  record_events(*recorder, "5");
  executor.run(Millis{300});
  EXPECT_EQ(messages(), (std::set<std::string>{"", "4", "5"}));
}

TEST_F(RecorderTest, WhatIsSweptMeanwhileIsMadeAnew) {
  const auto recorder = make();
  record_events(*recorder, "hello");
  executor.run(Millis{300});
  // Removed by an entry that is stored before the recorder's, which was computed from the Event.
  ephemera_journal.held = true;
  Entry sweep;
  sweep.events = {ObjectRemoved{{"events", "default", events().front()["metadata"]["name"].str()}}};
  ephemera.append(std::move(sweep), [](const Result<Outcome>&) {});
  record_events(*recorder, "hello");
  executor.run(Millis{300});
  ephemera_journal.release();
  executor.run(Millis{1'000});
  ASSERT_EQ(events().size(), 1U);
  EXPECT_EQ(events().front()["count"], Value{1});
}

TEST_F(RecorderTest, NoEventsInANamespaceThatIsDeleted) {
  const auto recorder = make();
  record_events(*recorder, "hello", object("ConfigMap", "gone", "web"));
  executor.run(Millis{300});
  EXPECT_TRUE(events("gone").empty());
}

TEST_F(RecorderTest, LongMessagesAreCutBetweenLetters) {
  const auto recorder = make();
  std::string text(1020, 'x');
  for (int i = 0; i < 10; ++i) text += "\xc3\xa4";
  record_events(*recorder, text);
  executor.run(Millis{300});
  ASSERT_EQ(events().size(), 1U);
  EXPECT_EQ(events().front()["message"].str(), std::string(1020, 'x') + "...");
}

}  // namespace
}  // namespace shiplog
