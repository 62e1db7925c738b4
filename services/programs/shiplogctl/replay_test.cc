#include "services/programs/shiplogctl/replay.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "events/codec/codec.h"
#include "events/fold/fold.h"
#include "services/programs/shiplogctl/decoding_reader.h"
#include "services/programs/shiplogctl/replay_window.h"
#include "services/programs/shiplogctl/shared_work.h"

namespace shiplog::ctl {
namespace {

const ObjectKey kNamespace{type::kNamespace, "", "default"};
ObjectKey config_map(const std::string& name) { return {"configmaps", "default", name}; }

Value object_value(const ObjectKey& key, const std::string& text) {
  Value metadata = Value::object({{"name", key.name}});
  if (!key.ns.empty()) metadata.set("namespace", key.ns);
  return Value::object({{"metadata", std::move(metadata)}, {"text", text}});
}

// A role that copies "source" into the object of its key, unless it is there already.
Result<Decided> copy(const State& state, const ObjectKey& key, UtcMillis now) {
  const Object* source = state.find(config_map("source"));
  if (source == nullptr) return Error{ErrorCode::kNotFound, "there is no source"};
  const std::string text = source->value["text"].str() + "@" + std::to_string(now.value);
  Decision decision;
  decision.expects = {{key, state.revision_of(key)}};
  if (state.find(key) == nullptr) {
    decision.events = {ObjectCreated{key, object_value(key, text)}};
  } else {
    decision.events = {ObjectUpdated{key, object_value(key, text)}};
  }
  return decision;
}

Result<Decided> copy_in_capitals(const State& state, const ObjectKey& key, UtcMillis now) {
  auto decided = copy(state, key, now);
  for (Event& event : std::get<Decision>(decided.value()).events) {
    std::visit(
        [](auto& one) {
          if constexpr (requires { one.value; }) one.value.set("text", "CAPITALS");
        },
        event);
  }
  return decided;
}

/// Gives the records in batches of one, two and three.
std::function<Result<Records>()> open_of(const std::vector<ReplayRecord>& records) {
  return [&records]() -> Result<Records> {
    return Records{[&records, next = size_t{0}, most = size_t{1}]() mutable -> Result<std::vector<ReplayRecord>> {
      const auto first = records.begin() + static_cast<std::ptrdiff_t>(next);
      next = std::min(records.size(), next + most);
      most = most % 3 + 1;
      return std::vector<ReplayRecord>{first, records.begin() + static_cast<std::ptrdiff_t>(next)};
    }};
  };
}

/// A journal as in operation: decisions are made on the state as it was `behind` entries ago.
class ReplayHistory {
 public:
  ReplayHistory() {
    write({ObjectCreated{kNamespace, object_value(kNamespace, "")}});
    write({ObjectCreated{config_map("source"), object_value(config_map("source"), "one")}});
  }

  void write(std::vector<Event> events) {
    Entry entry;
    entry.events = std::move(events);
    put(std::move(entry));
  }
  void lease() { write({LeaseTaken{"copier", "host", ++epoch_}}); }

  /// Computes a decision now; `write_decision` puts it into the journal, maybe later.
  template <class Decides = decltype(&copy)>
  Entry decide(const std::string& name, Decides decides = &copy) {
    Entry entry;
    entry.time = time();
    entry.request = {"decide", to_string(config_map(name))};
    entry.fence = {"copier", epoch_};
    entry.as_of = state_.revision();
    auto decision = std::get<Decision>(decides(state_, config_map(name), entry.time).value());
    entry.events = std::move(decision.events);
    entry.expects = std::move(decision.expects);
    return entry;
  }
  Folded put(Entry entry) {
    if (entry.id.empty()) {
      entry.id.bytes[0] = static_cast<uint8_t>(records_.size() + 1);
      entry.id.bytes[1] = static_cast<uint8_t>((records_.size() + 1) >> 8U);
    }
    if (entry.time == UtcMillis{}) entry.time = time();
    records_.push_back({Offset{static_cast<int64_t>(3 * records_.size())}, std::move(entry)});
    return fold(state_, records_.back().entry);
  }
  UtcMillis time() const { return {1'000 + static_cast<int64_t>(records_.size())}; }

  std::function<Result<Records>()> open() const { return open_of(records_); }

  State state_;
  std::vector<ReplayRecord> records_;
  uint64_t epoch_ = 0;
};

struct ReplayOutcome {
  Replayed replayed;
  std::vector<Difference> differences;
};
ReplayOutcome run_from(const std::function<Result<Records>()>& open, ReplayOptions options) {
  ReplayOutcome outcome;
  options.differs = [&](const Difference& difference) { outcome.differences.push_back(difference); };
  State state;
  outcome.replayed = replay(open, options, state).value();
  return outcome;
}

/// The same records as a journal gives them: decisions are not decoded.
std::vector<ReplayRecord> undecoded(const ReplayHistory& history) {
  std::vector<ReplayRecord> records;
  for (const ReplayRecord& record : history.records_) {
    records.push_back(record_from(record.offset, encode(record.entry), true).value());
  }
  return records;
}

void expect_same(const ReplayOutcome& one, const ReplayOutcome& other) {
  EXPECT_EQ(one.differences, other.differences);
  const Replayed& a = one.replayed;
  const Replayed& b = other.replayed;
  EXPECT_EQ(a.entries, b.entries);
  EXPECT_EQ(a.accepted, b.accepted);
  EXPECT_EQ(a.refused, b.refused);
  EXPECT_EQ(a.duplicates, b.duplicates);
  EXPECT_EQ(a.decisions, b.decisions);
  EXPECT_EQ(a.unverifiable, b.unverifiable);
  EXPECT_EQ(a.differences, b.differences);
  EXPECT_EQ(a.objects, b.objects);
  EXPECT_EQ(a.revision, b.revision);
  EXPECT_EQ(a.hash, b.hash);
  EXPECT_EQ(a.last, b.last);
  EXPECT_EQ(a.stop, b.stop);
}

/// Of decoded records on one thread; the same must come of undecoded ones, and with another thread that decides.
ReplayOutcome run(const ReplayHistory& history, const Decides& decides, std::optional<Revision> to = {}) {
  ReplayOptions options;
  options.to = to;
  options.verify = &decides;
  const ReplayOutcome outcome = run_from(history.open(), options);
  const std::vector<ReplayRecord> records = undecoded(history);
  expect_same(run_from(open_of(records), options), outcome);
  SharedWork work;
  std::atomic<bool> over{false};
  std::thread helper{[&] { work.help_until([&] { return over.load(); }); }};
  options.work = &work;
  expect_same(run_from(open_of(records), options), outcome);
  over = true;
  work.wake();
  helper.join();
  return outcome;
}

TEST(CtlReplay, FoldsToTheStateThatTheFleetHad) {
  ReplayHistory history;
  history.lease();
  history.put(history.decide("a"));
  const Entry late = history.decide("a");
  history.write({ObjectUpdated{config_map("a"), object_value(config_map("a"), "first")}});
  EXPECT_TRUE(history.put(late).refusal);
  EXPECT_TRUE(history.put(history.records_[1].entry).duplicate);
  const auto [replayed, differences] = run(history, {{"copier", copy}});
  EXPECT_EQ(replayed.entries, 7U);
  EXPECT_EQ(replayed.accepted, 5U);
  EXPECT_EQ(replayed.refused, 1U);
  EXPECT_EQ(replayed.duplicates, 1U);
  EXPECT_EQ(replayed.decisions, 2U) << "refused decisions are verified too";
  EXPECT_TRUE(differences.empty());
  EXPECT_EQ(replayed.hash, history.state_.hash());
  EXPECT_EQ(replayed.revision, history.state_.revision());
  EXPECT_FALSE(replayed.stop);
}

TEST(CtlReplay, VerifiesEveryDecisionOnTheStateItWasComputedFrom) {
  ReplayHistory history;
  history.lease();
  const Entry first = history.decide("a");
  const Entry second = history.decide("b");  // both as of the same revision
  history.write({ObjectUpdated{config_map("source"), object_value(config_map("source"), "two")}});
  history.put(first);
  history.put(history.decide("c"));
  history.put(second);  // late, and accepted: no entry changed b
  history.lease();      // changes no object
  const auto [replayed, differences] = run(history, {{"copier", copy}});
  EXPECT_EQ(replayed.decisions, 3U);
  EXPECT_TRUE(differences.empty());
}

// The activation changes no object: two states have this revision.
TEST(CtlReplay, ADecisionFromAfterAnActivationIsVerifiedUnderTheNewFoldVersion) {
  const auto by_version = [](const State& state, const ObjectKey& key, UtcMillis now) {
    return state.fold_version() < kFoldVersion ? copy(state, key, now) : copy_in_capitals(state, key, now);
  };
  for (const bool late : {false, true}) {
    ReplayHistory history;
    history.lease();
    const Entry before = history.decide("a", by_version);
    history.write({FoldVersionActivated{kFoldVersion}});
    const Entry after = history.decide("b", by_version);
    Entry wrong = history.decide("c");
    if (late) {
      for (size_t entry = 0; entry < ReplayWindow::kEntries + 10; ++entry) {
        history.write({ObjectUpdated{config_map("source"), object_value(config_map("source"), std::to_string(entry))}});
      }
    }
    history.put(before);
    history.put(after);
    const auto [replayed, differences] = run(history, {{"copier", by_version}});
    EXPECT_EQ(replayed.decisions, 2U);
    EXPECT_TRUE(differences.empty());
    for (Event& event : wrong.events) std::get<ObjectCreated>(event).value.set("text", "neither");
    history.put(wrong);
    EXPECT_EQ(run(history, {{"copier", by_version}}).differences.size(), 1U);
  }
}

TEST(CtlReplay, ReportsADecisionThatDiffers) {
  ReplayHistory history;
  history.lease();
  history.put(history.decide("a"));
  const auto [replayed, differences] = run(history, {{"copier", copy_in_capitals}});
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(replayed.differences, 1U);
  EXPECT_EQ(differences[0].offset, history.records_.back().offset);
  EXPECT_EQ(differences[0].service, "copier");
  EXPECT_EQ(differences[0].key, "configmaps/default/a");
  EXPECT_NE(differences[0].recomputed, differences[0].recorded);
}

TEST(CtlReplay, DifferentExpectationsAreADifferenceToo) {
  ReplayHistory history;
  history.lease();
  Entry entry = history.decide("a");
  entry.expects.push_back({config_map("source"), history.state_.revision_of(config_map("source"))});
  history.put(entry);
  const auto [replayed, differences] = run(history, {{"copier", copy}});
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences[0].recorded,
            "expects configmaps/default/a at revision 0, configmaps/default/source at revision 2");
}

TEST(CtlReplay, DecisionsThatCannotBeRunAgainAreDifferences) {
  ReplayHistory history;
  history.lease();
  history.put(history.decide("a"));
  const auto unknown = run(history, {});
  ASSERT_EQ(unknown.differences.size(), 1U);
  EXPECT_EQ(unknown.differences[0].recomputed, "no service \"copier\" in this build can decide it again");
  const Decide fails = [](const State&, const ObjectKey&, UtcMillis) -> Result<Decided> {
    return Error{ErrorCode::kInvalid, "no placement"};
  };
  EXPECT_EQ(run(history, {{"copier", fails}}).differences[0].recomputed, "an error: no placement");
  const Decide nothing = [](const State&, const ObjectKey&, UtcMillis) -> Result<Decided> { return Nothing{}; };
  EXPECT_EQ(run(history, {{"copier", nothing}}).differences[0].recomputed, "nothing");
}

TEST(CtlReplay, ForgedRevisionIsADifferenceAndNoCrash) {
  ReplayHistory history;
  history.lease();
  Entry within = history.decide("a");
  history.write({ObjectUpdated{config_map("source"), object_value(config_map("source"), "two")},
                 ObjectCreated{config_map("x"), object_value(config_map("x"), "")}});
  within.as_of = Revision{3};  // that entry's first revision: never visible without its second
  history.put(within);
  Entry future = history.decide("b");
  future.as_of = Revision{history.state_.revision().value + 1};
  history.put(future);
  const auto [replayed, differences] = run(history, {{"copier", copy}});
  EXPECT_EQ(replayed.decisions, 2U);
  EXPECT_EQ(differences.size(), 2U);
}

TEST(CtlReplay, ARevisionThatTheJournalDoesNotReachIsADifference) {
  ReplayHistory history;
  history.lease();
  Entry future = history.decide("a");
  future.as_of = Revision{99};
  history.put(future);
  const auto [replayed, differences] = run(history, {{"copier", copy}});
  EXPECT_EQ(replayed.decisions, 1U);
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences[0].offset, history.records_.back().offset);
}

TEST(CtlReplay, DecisionsThatWereAppendedVeryLateAreVerifiedToo) {
  ReplayHistory history;
  history.lease();
  const Entry right = history.decide("a");
  Entry wrong = history.decide("b");
  wrong.expects.push_back({config_map("source"), Revision{}});
  // More than are read ahead, and than entry ids of one byte: those are remembered, and refused.
  for (int i = 0; i < 10'000; ++i) {
    Entry entry;
    entry.id.bytes = {0, 1, static_cast<uint8_t>(i >> 8), static_cast<uint8_t>(i)};
    entry.events = {ObjectUpdated{config_map("source"), object_value(config_map("source"), std::to_string(i))}};
    ASSERT_FALSE(history.put(std::move(entry)).refusal);
  }
  for (Entry late : {right, wrong}) {
    late.id.bytes[3] = 7;
    late.id.bytes[4] = late.expects.size() > 1 ? 2 : 1;
    history.put(std::move(late));
  }
  const auto [replayed, differences] = run(history, {{"copier", copy}});
  EXPECT_EQ(replayed.decisions, 2U);
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences[0].key, "configmaps/default/b");
}

TEST(CtlReplay, WhatWasVerifiedBeforeIsNotRunAgainButItsStateIsCompared) {
  ReplayHistory history;
  history.lease();
  history.put(history.decide("a"));
  const VerifiedMark mark{Offset{history.records_.back().offset.value + 1}, history.state_.revision(),
                          to_string(history.state_.hash())};
  const Entry early = history.decide("b");  // from the verified state, and recorded after it
  history.write({ObjectUpdated{config_map("source"), object_value(config_map("source"), "two")}});
  history.put(early);
  history.put(history.decide("c"));
  const auto replay_from = [&](const ReplayHistory& of, const VerifiedMark& verified) {
    const Decides decides{{"copier", copy}};
    ReplayOptions options;
    options.verify = &decides;
    options.verified = verified;
    State state;
    return replay(of.open(), options, state).value();
  };
  const Replayed again = replay_from(history, mark);
  EXPECT_FALSE(again.stop) << *again.stop;
  EXPECT_EQ(again.decisions, 2U);
  EXPECT_EQ(again.hash, history.state_.hash());

  ReplayHistory changed = history;
  std::get<ObjectCreated>(changed.records_[1].entry.events[0]).value.set("text", "ONE");
  EXPECT_TRUE(replay_from(changed, mark).stop) << "an entry was changed";
  ReplayHistory shorter = history;
  shorter.records_.resize(3);
  EXPECT_TRUE(replay_from(shorter, mark).stop) << "entries were removed";
}

TEST(CtlReplay, StopsAtARevision) {
  ReplayHistory history;
  history.lease();
  history.put(history.decide("a"));
  history.put(history.decide("b"));
  const auto [replayed, differences] = run(history, {{"copier", copy}}, Revision{3});
  EXPECT_EQ(replayed.revision, Revision{3});
  EXPECT_EQ(replayed.objects, 3U);
  ReplayOptions options;
  options.to = Revision{99};
  State state;
  EXPECT_EQ(replay(history.open(), options, state).error().message,
            "the journal ends at revision 4: there is no revision 99 yet");
}

TEST(CtlReplay, StopsWhereARecordedStateHashDiffers) {
  ReplayHistory history;
  const Hash128 right = history.state_.hash();
  Hash128 wrong = right;
  wrong.lo ^= 1;
  history.write({StateHashed{history.state_.revision(), wrong}});
  history.write({ObjectCreated{config_map("never"), object_value(config_map("never"), "")}});
  const auto [replayed, differences] = run(history, {});
  ASSERT_TRUE(replayed.stop);
  EXPECT_NE(replayed.stop->find(to_string(wrong)), std::string::npos) << *replayed.stop;
  EXPECT_NE(replayed.stop->find(to_string(right)), std::string::npos) << *replayed.stop;
  EXPECT_EQ(replayed.entries, 3U);
}

TEST(CtlReplay, ComparesEachRecordedStateHashThoughFewAreComputed) {
  ReplayHistory history;
  std::vector<StateHashed> later;
  for (int number = 0; number < 60; ++number) {
    const std::string name = "c" + std::to_string(number % 7);
    const Value value = object_value(config_map(name), std::to_string(number));
    const bool there = history.state_.find(config_map(name)) != nullptr;
    if (there && number % 5 == 0) {
      history.write({ObjectRemoved{config_map(name)}});
    } else if (there) {
      history.write({ObjectUpdated{config_map(name), value}});
    } else {
      history.write({ObjectCreated{config_map(name), value}});
    }
    if (number % 4 == 0) later.push_back({history.state_.revision(), history.state_.hash()});
    if (number % 9 == 0) {  // recorded entries later, some of one revision twice
      for (const StateHashed& hashed : later) history.write({hashed});
      if (number % 2 == 0) later.clear();
    }
  }
  const auto [right, differences] = run(history, {});
  EXPECT_FALSE(right.stop) << *right.stop;
  EXPECT_EQ(right.hash, history.state_.hash());
  EXPECT_EQ(right.entries, history.records_.size());
  for (size_t at = 0; at < history.records_.size(); ++at) {
    auto* hashed = std::get_if<StateHashed>(history.records_[at].entry.events.data());
    if (hashed == nullptr) continue;
    hashed->hash.lo ^= 4;
    const auto [wrong, none] = run(history, {});
    EXPECT_TRUE(wrong.stop);
    EXPECT_EQ(wrong.entries, at + 1);
    hashed->hash.lo ^= 4;
  }
}

TEST(CtlReplay, WhatCannotBeReadStopsOnlyWhoGetsThere) {
  ReplayHistory history;
  history.write({ObjectCreated{config_map("a"), object_value(config_map("a"), "")}});
  const auto broken = [&]() -> Result<Records> {
    SHIPLOG_TRY(const auto records, history.open()());
    return Records{[records]() -> Result<std::vector<ReplayRecord>> {
      SHIPLOG_TRY(auto next, records());
      if (next.empty()) return Error{ErrorCode::kCorrupt, "no entry"};
      return next;
    }};
  };
  ReplayOptions options;
  State state;
  EXPECT_EQ(replay(broken, options, state).error().message, "no entry");
  EXPECT_EQ(state.revision(), Revision{3}) << "what is before is folded";
  options.to = Revision{2};
  State before;
  const auto replayed = replay(broken, options, before);
  ASSERT_TRUE(replayed) << replayed.error().message;
  EXPECT_EQ(replayed.value().revision, Revision{2});
}

TEST(CtlReplay, FindsEveryDifferenceOfManyInTheOrderOfTheJournal) {
  ReplayHistory history;
  history.lease();
  for (int number = 0; number < 3'000; ++number) history.put(history.decide("d" + std::to_string(number % 50)));
  const auto [replayed, differences] = run(history, {{"copier", copy_in_capitals}});
  EXPECT_EQ(replayed.decisions, 3'000U);
  EXPECT_EQ(replayed.differences, 3'000U);
  ASSERT_EQ(differences.size(), 3'000U);
  EXPECT_TRUE(std::ranges::is_sorted(differences, {}, &Difference::offset));
  EXPECT_TRUE(run(history, {{"copier", copy}}).differences.empty());
}

TEST(CtlReplay, TextThatTheJournalRepairedIsNoDifference) {
  ReplayHistory history;
  history.lease();
  Entry entry = history.decide("a");
  const Decide broken = [](const State& state, const ObjectKey& key, UtcMillis now) {
    auto decided = copy(state, key, now);
    std::get<ObjectCreated>(std::get<Decision>(decided.value()).events[0]).value.set("text", "\xff");
    return decided;
  };
  entry.events = std::get<Decision>(broken(history.state_, config_map("a"), entry.time).value()).events;
  entry.id.bytes[1] = 1;
  history.put(decode(encode(entry)).value());
  EXPECT_TRUE(run(history, {{"copier", broken}}).differences.empty());
}

// What a role seldom decides is compared decoded; each of these differs in a field that only its bytes show.
TEST(CtlReplay, FindsADifferenceInEachPartOfADecision) {
  ReplayHistory right;
  right.lease();
  right.put(right.decide("a"));
  right.put(right.decide("a"));
  const size_t created = right.records_.size() - 2;
  EXPECT_TRUE(run(right, {{"copier", copy}}).differences.empty());
  for (const ReplayRecord& record : undecoded(right)) {
    EXPECT_EQ(!record.undecoded.empty(), record.entry.request.verb == "decide");
  }
  const auto differing = [&](const std::function<void(Entry&)>& change) {
    ReplayHistory changed = right;
    change(changed.records_[created].entry);
    const auto [replayed, differences] = run(changed, {{"copier", copy}});
    return !differences.empty() && differences[0].offset == changed.records_[created].offset;
  };
  const auto event_of = [](Entry& entry) -> ObjectCreated& { return std::get<ObjectCreated>(entry.events[0]); };
  EXPECT_TRUE(differing([&](Entry& entry) { event_of(entry).value.set("text", "one@1004"); }));
  EXPECT_TRUE(differing([&](Entry& entry) { event_of(entry).value.set("more", 1); }));
  EXPECT_TRUE(differing([&](Entry& entry) { event_of(entry).value.erase("text"); }));
  EXPECT_TRUE(differing([&](Entry& entry) { event_of(entry).object.name = "b"; }));
  EXPECT_TRUE(differing([&](Entry& entry) { entry.events.push_back(entry.events[0]); }));
  EXPECT_TRUE(differing([&](Entry& entry) { entry.events[0] = ObjectUpdated{event_of(entry).object, {}}; }));
  EXPECT_TRUE(differing([&](Entry& entry) { entry.events.clear(); }));
  EXPECT_TRUE(differing([&](Entry& entry) { entry.expects.clear(); }));
  EXPECT_TRUE(differing([&](Entry& entry) { entry.expects[0].revision.value = 1; }));
  EXPECT_TRUE(differing([&](Entry& entry) { entry.time.value += 1; }));
  EXPECT_TRUE(differing([&](Entry& entry) { entry.as_of.value -= 1; }));
  EXPECT_TRUE(differing([&](Entry& entry) { entry.request.path = "configmaps/default/b"; }));
  EXPECT_FALSE(differing([&](Entry& entry) { entry.actor.user = "another"; })) << "it is no part of the decision";
}

TEST(CtlReplay, ADecisionThatCannotBeDecodedIsAnErrorOnceTheFoldGetsThere) {
  ReplayHistory history;
  history.lease();
  history.put(history.decide("a"));
  history.put(history.decide("b"));
  std::vector<ReplayRecord> records = undecoded(history);
  std::string& bytes = records.back().undecoded;
  bytes[bytes.find("\"text\":\"one@")] = '!';
  const Decides decides{{"copier", copy}};
  ReplayOptions options;
  options.verify = &decides;
  options.journal = "memory";
  State state;
  const auto failed = replay(open_of(records), options, state);
  ASSERT_FALSE(failed);
  EXPECT_TRUE(failed.error().message.starts_with("memory, offset 12: entry ")) << failed.error().message;
  EXPECT_EQ(state.revision(), Revision{3}) << "what is before is folded";
  options.to = Revision{3};
  State before;
  EXPECT_TRUE(replay(open_of(records), options, before));
}

}  // namespace
}  // namespace shiplog::ctl
