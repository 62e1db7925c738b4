#include "services/roles/descheduler/decide.h"

#include <map>

#include "events/state/eviction.h"
#include "services/adapters/estimators/operations.h"
#include "tests/support/scheduling.h"

namespace shiplog::descheduler {
namespace {

using scheduler::History;
using scheduler::in_words;
using scheduler::json;
using scheduler::kBinding;

constexpr Millis kInterval{2 * 60 * 1000};
constexpr Millis kPast{kInterval.value + 1};

void switch_on(History& history, std::vector<OptionSetting> more = {}) {
  more.push_back({"controllers", {"*", kController}});
  history.accept({OptionsSet{more}});
}

void report(History& history, const std::vector<std::pair<std::string, std::string>>& status) {
  Value binding = history.state().value_of(kBinding);
  Value items = Value::array();
  for (const auto& [cluster, text] : status) {
    items.push_back(Value::object({{"clusterName", cluster}, {"status", json(text)}}));
  }
  binding.edit("status").set("aggregatedStatus", items);
  history.accept({StatusUpdated{kBinding, std::move(binding)}});
}

std::string ready(int64_t replicas) { return R"({"readyReplicas":)" + std::to_string(replicas) + "}"; }

/// a has 5 replicas of which 2 are ready, b has 3 that are; placed at noon.
History lacking(const std::string& scheduling = scheduler::kDynamic) {
  History history = scheduler::history_of({8, scheduling, {{"a", 90}, {"b", 90}}, {{"a", 5}, {"b", 3}}});
  history.accept({FoldVersionActivated{7}});
  switch_on(history);
  Value binding = history.state().value_of(kBinding);
  binding.edit("status").set("lastScheduledTime", "2026-01-02T12:00:00Z");
  history.accept({StatusUpdated{kBinding, std::move(binding)}});
  report(history, {{"a", ready(2)}, {"b", ready(3)}});
  return history;
}

Decided at(const History& history, Millis later) {
  const auto decided = decide(history.state(), kBinding, history.now() + later);
  EXPECT_TRUE(decided) << decided.error().message;
  return decided ? decided.value() : Decided{Nothing{}};
}

QuestionPtr asked(const History& history, Millis later = kPast) {
  const Decided decided = at(history, later);
  const auto* needs = std::get_if<NeedsAnswers>(&decided);
  return needs == nullptr ? nullptr : needs->questions.at(0);
}

bool does_nothing(const History& history) { return std::holds_alternative<Nothing>(at(history, kPast)); }

/// The estimators answer the question that is asked once the interval has passed. Their answer is recorded at
/// `history.now()`, so that what follows happens within the interval after it.
void say(History& history, const std::string& answers) {
  const auto question = asked(history);
  ASSERT_TRUE(question);
  history.accept(
      {QuestionAnswered{question->object, question->operation, question->source, question->basis,
                        Value::object({{question->qualifier, Value::object({{"answer", json(answers)}})}})}});
}

std::string taken(const History& history, std::string* message = nullptr) {
  const Decided decided = at(history, Millis{0});
  const auto* decision = std::get_if<Decision>(&decided);
  if (decision == nullptr) return "nothing";
  EXPECT_EQ(decision->expects, (std::vector<Expect>{{kBinding, history.state().revision_of(kBinding)}}));
  const auto& event = std::get<ReplicasDescheduled>(decision->events.at(0));
  if (message != nullptr) *message = event.message;
  return in_words(event.targets);
}

TEST(Descheduler, AsksAboutClustersWithFewerReadyThanAssigned_5_4_2) {
  History history = lacking();
  const auto question = asked(history);
  ASSERT_TRUE(question);
  EXPECT_EQ(question->operation, "GetUnschedulableReplicas");
  EXPECT_EQ(question->request, json(R"({"clusters":["a"],"object":"kind=Deployment, name=default/web",
      "resource":{"apiVersion":"apps/v1","kind":"Deployment","namespace":"default","name":"web"},
      "unschedulableThreshold":300000000000})"));
  EXPECT_EQ(question->timeout, Millis{3'000});
  report(history, {{"a", ready(5)}, {"b", ready(3)}});
  EXPECT_FALSE(asked(history));
  report(history, {{"a", ready(5)}, {"b", "{}"}});
  EXPECT_EQ(asked(history)->request["clusters"], json(R"(["b"])")) << "none is ready where the field is missing";
  report(history, {{"b", ready(3)}});
  EXPECT_EQ(asked(history)->request["clusters"], json(R"(["a"])")) << "nor where nothing was reported";
}

TEST(Descheduler, TheOptionsSayHowLongPodsWait_5_4_2) {
  History history = lacking();
  switch_on(history, {{"unschedulable-threshold", {"30s"}}, {"descheduling-interval", {"1h"}}});
  EXPECT_FALSE(asked(history)) << "the interval is an hour";
  const auto question = asked(history, Millis{60 * 60 * 1000});
  ASSERT_TRUE(question);
  EXPECT_EQ(question->request["unschedulableThreshold"].as_int(), 30'000'000'000);
}

TEST(Descheduler, IsOffUnlessAnOptionNamesIt) {
  History history = lacking();
  history.accept({OptionsSet{}});
  EXPECT_TRUE(does_nothing(history));
  history.accept({OptionsSet{{{"controllers", {"*"}}}}});
  EXPECT_TRUE(does_nothing(history));
  history.accept({OptionsSet{{{"controllers", {"*", "-descheduler"}}}}});
  EXPECT_TRUE(does_nothing(history));
  switch_on(history);
  EXPECT_TRUE(asked(history));
}

TEST(Descheduler, WaitsForTheFoldVersionThatKnowsItsEvent) {
  History history = scheduler::history_of({8, scheduler::kDynamic, {{"a", 90}}, {{"a", 8}}});
  switch_on(history);
  EXPECT_TRUE(std::holds_alternative<LookAgain>(at(history, kPast)));
  history.accept({FoldVersionActivated{7}});
  EXPECT_TRUE(asked(history));
}

TEST(Descheduler, OnlyDeploymentsThatWerePlacedByRoom_5_4_1) {
  EXPECT_TRUE(asked(lacking(scheduler::kAggregated)));
  for (const std::string& scheduling : {std::string{scheduler::kDuplicated}, std::string{scheduler::kEqualWeights},
                                        scheduler::static_weights({{"a", 1}, {"b", 1}}), std::string{}}) {
    EXPECT_TRUE(does_nothing(lacking(scheduling))) << scheduling;
  }
  const auto ignored = [](const char* field, const char* value) {
    History history = lacking();
    history.edit(kBinding, [&](Value& binding) { binding.edit("spec").edit("resource").set(field, value); });
    return does_nothing(history);
  };
  EXPECT_TRUE(ignored("kind", "StatefulSet"));
  EXPECT_TRUE(ignored("apiVersion", "apps.example.com/v1"));
  EXPECT_FALSE(ignored("kind", "Deployment"));
}

TEST(Descheduler, ThePlacementThatWasAppliedCounts_5_4_1) {
  History history = lacking();
  history.edit(kBinding, [](Value& binding) {
    binding.edit("spec").edit("placement").set("replicaScheduling", json(scheduler::kDuplicated));
  });
  EXPECT_TRUE(asked(history)) << "the policy has changed, the scheduler has not used that yet";
  history.edit(kBinding, [](Value& binding) {
    binding.edit("metadata").edit("annotations").erase("policy.karmada.io/applied-placement");
  });
  EXPECT_TRUE(does_nothing(history));
  history.edit(kBinding, [](Value& binding) {
    binding.edit("metadata").edit("annotations").set("policy.karmada.io/applied-placement", "no JSON");
  });
  EXPECT_TRUE(does_nothing(history));
}

TEST(Descheduler, LeavesWhatTheSchedulerMayNotPlaceAgain) {
  History history = lacking();
  history.edit(kBinding, [](Value& binding) { binding.edit("spec").edit("suspension").set("scheduling", true); });
  EXPECT_TRUE(does_nothing(history));
  History leaving = lacking();
  leaving.edit(kBinding, [](Value& binding) {
    binding.edit("metadata").set("finalizers", Value::array({Value{"example.com/hold"}}));
  });
  leaving.remove(kBinding);
  EXPECT_TRUE(does_nothing(leaving));
  leaving.accept({ObjectRemoved{kBinding}});
  EXPECT_TRUE(does_nothing(leaving));
}

TEST(Descheduler, TakesOffWhatCannotBeScheduled_5_4_3) {
  History history = lacking();
  say(history, R"({"a":{"replicas":3}})");
  std::string message;
  EXPECT_EQ(taken(history, &message), "a:2 b:3");
  EXPECT_EQ(message, "Binding has been descheduled, 3 total descheduled replica(s), 3 replica(s) in cluster(a)");
  EXPECT_EQ(history.settle(decide, kBinding), 1) << "once";
  EXPECT_EQ(history.state().value_of(kBinding)["spec"]["clusters"],
            json(R"([{"name":"a","replicas":2},{"name":"b","replicas":3}])"));
}

TEST(Descheduler, NeverBelowWhatIsReady_5_4_3) {
  History history = lacking();
  say(history, R"({"a":{"replicas":4}})");
  EXPECT_EQ(taken(history), "a:2 b:3") << "4 cannot be scheduled, but 2 of the 5 are ready";
  report(history, {{"a", ready(4)}, {"b", ready(3)}});
  EXPECT_EQ(taken(history), "a:4 b:3") << "what has become ready since the question stays";
  report(history, {{"a", ready(5)}, {"b", ready(3)}});
  EXPECT_EQ(taken(history), "nothing");
}

TEST(Descheduler, AHostileAnswerMovesNothingElse_5_4_3) {
  for (const char* replicas : {"-1", "0", "-2147483648", "6", "2147483647", "\"3\"", "null"}) {
    History history = lacking();
    say(history, std::string{R"({"a":{"replicas":)"} + replicas + R"(},"b":{"replicas":3}})");
    EXPECT_EQ(taken(history), "nothing") << replicas << "; and no question was asked about b";
  }
  History failed = lacking();
  say(failed, R"({"a":{"failure":"no route to host"}})");
  EXPECT_EQ(taken(failed), "nothing");
}

TEST(Descheduler, AllReplicasOfAClusterMayGo_5_4_3) {
  History history = lacking();
  report(history, {{"a", "{}"}, {"b", ready(3)}});
  say(history, R"({"a":{"replicas":5}})");
  EXPECT_EQ(taken(history), "a:0 b:3");
}

// What is pending in the member is so until it has removed the pods: the same ones must not count again.
TEST(Descheduler, WhatAnAnswerReportsIsTakenOffOnce_5_4_3) {
  History history = scheduler::history_of({10, scheduler::kDynamic, {{"a", 90}, {"b", 90}}, {{"a", 10}}});
  history.accept({FoldVersionActivated{7}});
  switch_on(history);
  report(history, {{"a", ready(4)}});
  say(history, R"({"a":{"replicas":3}})");
  ASSERT_EQ(taken(history), "a:7");
  ASSERT_EQ(history.settle(decide, kBinding), 1);
  EXPECT_EQ(taken(history), "nothing");
  EXPECT_FALSE(asked(history, Millis{60'000})) << "the member has an interval to remove them";
  EXPECT_TRUE(asked(history));
}

TEST(Descheduler, AnAnswerToAnEarlierGenerationDoesNotCount_5_4_3) {
  History history = lacking();
  say(history, R"({"a":{"replicas":3}})");
  history.edit(kBinding, [](Value& binding) { binding.edit("spec").set("replicas", 9); });
  EXPECT_EQ(taken(history), "nothing");
  EXPECT_FALSE(asked(history, Millis{1000})) << "and is not asked for again within the interval";
}

TEST(Descheduler, AsksOnceInAnInterval_5_4_1) {
  History history = lacking();
  say(history, R"({"a":{"replicas":0}})");
  const UtcMillis answered = history.now();
  const Decided decided = at(history, Millis{5'000});
  ASSERT_TRUE(std::holds_alternative<LookAgain>(decided));
  EXPECT_EQ(std::get<LookAgain>(decided).at, answered + kInterval);
  EXPECT_TRUE(asked(history, kInterval));
}

TEST(Descheduler, ANewPlacementHasAnIntervalToBecomeReady_5_4_1) {
  History history = lacking();
  const auto placed = parse_rfc3339("2026-01-02T12:00:00Z").value();
  const Decided decided = at(history, Millis{0});
  ASSERT_TRUE(std::holds_alternative<LookAgain>(decided));
  EXPECT_EQ(std::get<LookAgain>(decided).at, placed + kInterval);
  EXPECT_TRUE(asked(history, placed + kInterval - history.now()));
}

TEST(Descheduler, ThoseThatAreReadyAreLookedAtOnceInAnInterval_5_4_1) {
  History history = lacking();
  report(history, {{"a", ready(5)}, {"b", ready(3)}});
  UtcMillis now = history.now() + kPast;
  const auto next = [&] {
    const auto decided = decide(history.state(), kBinding, now);
    return std::get<LookAgain>(decided.value()).at;
  };
  const UtcMillis first = next();
  EXPECT_GT(first, now);
  EXPECT_LE(first, now + kInterval);
  now = first;
  EXPECT_EQ(next(), first + kInterval);
}

// The whole loop in the state: the scheduler places elsewhere what was taken off.
TEST(Descheduler, TheSchedulerPlacesTheMissingReplicasElsewhere_5_4_3) {
  History history = lacking();
  // a has room for none by its estimator and its summary.
  history.put(scheduler::cluster_key("a"), scheduler::cluster("a", 0));
  say(history, R"({"a":{"replicas":3}})");
  ASSERT_EQ(history.settle(decide, kBinding), 1);
  EXPECT_EQ(scheduler::answer(history), "a:2 b:6");
  ASSERT_EQ(history.settle(scheduler::decide, kBinding), 1);
  report(history, {{"a", ready(2)}, {"b", ready(6)}});
  EXPECT_FALSE(asked(history));
}

TEST(Descheduler, WithoutRoomElsewhereTheRestRunsOn_5_4_3) {
  History history = lacking();
  history.put(scheduler::cluster_key("a"), scheduler::cluster("a", 0));
  history.put(scheduler::cluster_key("b"), scheduler::cluster("b", 0));
  say(history, R"({"a":{"replicas":3}})");
  ASSERT_EQ(history.settle(decide, kBinding), 1);
  EXPECT_TRUE(scheduler::answer(history).starts_with("Unschedulable: ")) << scheduler::answer(history);
  history.settle(scheduler::decide, kBinding);
  EXPECT_EQ(in_words(binding_from(kBinding, history.state().value_of(kBinding)).targets), "a:2 b:3");
}

}  // namespace
}  // namespace shiplog::descheduler
