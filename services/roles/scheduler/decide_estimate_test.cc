#include "services/roles/scheduler/estimate/accurate.h"
#include "tests/support/decided.h"
#include "tests/support/scheduling.h"

namespace shiplog::scheduler {
namespace {

/// The question to the estimators; nullptr: none.
QuestionPtr question_for(const History& history, Millis later = Millis{0}) {
  const auto decided = decide_with_estimators(history.state(), kBinding, history.now() + later, Millis{3'000}).value();
  const auto* needs = std::get_if<NeedsAnswers>(&decided);
  if (needs == nullptr) return nullptr;
  EXPECT_EQ(needs->questions.size(), 1U);
  return needs->questions.front();
}

/// The answers of the estimators are recorded, as the runtime does it.
void say(History& history, const std::string& answers) {
  const auto question = question_for(history);
  ASSERT_TRUE(question);
  history.accept(
      {QuestionAnswered{question->object, question->operation, question->source, question->basis,
                        Value::object({{question->qualifier, Value::object({{"answer", json(answers)}})}})}});
}

bool asks(const History& history) { return question_for(history) != nullptr; }

template <class Kind>
Kind step(const History& history) {
  const Event event = decided(history);
  const auto* found = step_of<Kind>(std::get<PlacementDecided>(event).why);
  EXPECT_NE(found, nullptr) << Kind::kInfo.name;
  return found == nullptr ? Kind{} : *found;
}

const Case kDivided{6, kDynamic, {{"a", 4}, {"b", 4}}};

TEST(Estimators, TheSmallerEstimateCounts_S_63) {
  EXPECT_EQ(answer(kDivided), "a:3 b:3");
  History history = history_of(kDivided);
  say(history, R"({"a":{"replicas":2},"b":{"replicas":90}})");
  EXPECT_EQ(answer(history), "a:2 b:4") << "b has room for 4 by its summary";
  EXPECT_EQ(step<EstimatesUsed>(history), (EstimatesUsed{{0, 1}, {2, 90}}));
}

TEST(Estimators, MinusOneMeansUnknown_S_63) {
  History history = history_of(kDivided);
  say(history, R"({"a":{"replicas":-1},"b":{"replicas":2}})");
  EXPECT_EQ(answer(history), "a:4 b:2");
}

TEST(Estimators, OneWithoutAnAnswerMakesAllBeIgnored_S_72) {  // TRAP-11
  History history = history_of(kDivided);
  say(history, R"({"a":{"failure":"nobody there"},"b":{"replicas":0}})");
  EXPECT_EQ(answer(history), "a:3 b:3");
  EXPECT_EQ(step<EstimatesIgnored>(history), (EstimatesIgnored{"a", true, "nobody there"}));
  // Not of one that is no candidate.
  Case one = kDivided;
  one.placement = R"({"clusterAffinity":{"clusterNames":["b"]}})";
  one.replicas = 3;
  History apart = history_of(one);
  const auto question = question_for(apart);
  ASSERT_TRUE(question);
  EXPECT_EQ(question->request["clusters"], json(R"(["b"])")) << "only those that pass the filters are asked";
  say(apart, R"({"b":{"replicas":3}})");
  EXPECT_EQ(answer(apart), "b:3");
}

TEST(Estimators, AreAskedAgainFiveMinutesAfterARefusal_S_7) {
  History history = history_of(kDivided);
  say(history, R"({"a":{"replicas":0},"b":{"replicas":0}})");
  const Event refused = decided(history);
  ASSERT_TRUE(std::holds_alternative<PlacementRefused>(refused));
  history.accept({refused});
  const auto next = decide_with_estimators(history.state(), kBinding, history.now(), Millis{3'000});
  ASSERT_TRUE(next);
  ASSERT_TRUE(std::holds_alternative<LookAgain>(next.value()));
  EXPECT_EQ(std::get<LookAgain>(next.value()).at, history.now() + Millis{300'000});
  EXPECT_TRUE(question_for(history, Millis{300'000}));
}

TEST(Estimators, AreCalledOnceInACycleThatNeedsThem_S_62_S_71) {
  History history = history_of(kDivided);
  const auto question = question_for(history);
  ASSERT_TRUE(question);
  EXPECT_EQ(question->operation, "MaxAvailableReplicas");
  EXPECT_EQ(question->timeout, Millis{3'000});
  EXPECT_EQ(question->request["object"].as_string(), "kind=Deployment, name=default/web");
  EXPECT_EQ(question->request["clusters"], json(R"(["a","b"])"));
  say(history, R"({"a":{"replicas":2},"b":{"replicas":90}})");
  EXPECT_FALSE(asks(history));
  const auto decision = decide(history.state(), kBinding, history.now());
  ASSERT_TRUE(decision && decision_of(decision));
  history.accept(*decision_of(decision));
  EXPECT_FALSE(asks(history)) << "it is placed";
  history.edit(kBinding, [](Value& value) {
    value.edit("spec").set("replicas", 7);
    value.edit("metadata").set("generation", 2);
  });
  EXPECT_TRUE(asks(history)) << "another cycle";
  for (const char* scheduling : {kDuplicated, kEqualWeights}) {
    Case other = kDivided;
    other.scheduling = scheduling;
    EXPECT_FALSE(asks(history_of(other))) << "room does not matter";
  }
  Case none = kDivided;
  none.replicas = 0;
  EXPECT_FALSE(asks(history_of(none)));
}

TEST(Estimators, AnOldAnswerDoesNotCount) {
  History history = history_of({6, kDynamic, {{"a", 1}, {"b", 1}}});
  say(history, R"({"a":{"replicas":1},"b":{"replicas":1}})");
  const auto at = [&](Millis later) { return question_for(history, later) != nullptr; };
  EXPECT_FALSE(at(kEstimateGoodFor));
  EXPECT_TRUE(at(Millis{kEstimateGoodFor.value + 1}));
}

TEST(Estimators, WholeSetsAreEstimatedWhereTheyArePlaced_M_1_S_71) {
  History history;
  for (const char* name : {"a", "b"}) history.put(cluster_key(name), cluster(name, 60));
  history.accept({FeatureGatesSet{{"MultiplePodTemplatesScheduling"}}});
  Value object = binding_of(
      {.scheduling = kDynamic,
       .clusters = {},
       .placement = R"({"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 1}]})"});
  const Value components = json(R"([{"name": "jm", "replicas": 1}, {"name": "tm", "replicas": 2}])");
  object.edit("spec").set("components", components);
  history.put(kBinding, object);
  EXPECT_EQ(answer(history), "a:0") << "both have room for 20 sets";
  const auto question = question_for(history);
  ASSERT_TRUE(question);
  EXPECT_EQ(question->operation, "MaxAvailableComponentSets");
  EXPECT_EQ(question->request["components"], components);
  say(history, R"({"a":{"replicas":0},"b":{"replicas":1}})");
  EXPECT_EQ(answer(history), "b:0");
}

/// Another binding that was placed on the cluster `a` and does not run yet.
void place_another(History& history, const std::string& name) {
  const ObjectKey key{type::kResourceBinding, "default", name};
  history.object(key, R"({"spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default",
      "name": "other"}, "replicas": 2, "replicaRequirements": {"resourceRequest": {"cpu": "1"},
      "nodeClaim": {"nodeSelector": {"disk": "ssd"}}}}})");
  history.accept({PlacementDecided{key, {{"a", 2}}, 1, "{}", "", {}, {}}});
}

TEST(Estimators, AreToldWhatIsPromised_M_9) {
  History history = history_of(kDivided);
  history.accept({FoldVersionActivated{7}});
  place_another(history, "other");
  EXPECT_FALSE(question_for(history)->request.contains("assumedWorkloads")) << "without the gate";
  history.accept({FeatureGatesSet{{"SchedulingOvercommitProtection"}}});
  EXPECT_EQ(question_for(history)->request["assumedWorkloads"],
            json(R"({"a": [{"namespace": "default", "components": [{"name": "other", "replicas": 2,
                "replicaRequirements": {"resourceRequest": {"cpu": "1"},
                  "nodeClaim": {"nodeSelector": {"disk": "ssd"}}}}]}]})"));
  EXPECT_TRUE(question_for(history, Millis{6 * 60 * 1000})->request["assumedWorkloads"].is_null()) << "M-8: expired";
}

TEST(Estimators, AnAnswerFromBeforeAnotherPlacementIsNotUsed_M_8_M_9) {
  for (const bool on : {false, true}) {
    History history = history_of(kDivided);
    history.accept({FoldVersionActivated{7}});
    if (on) history.accept({FeatureGatesSet{{"SchedulingOvercommitProtection"}}});
    place_another(history, "first");
    say(history, R"({"a":{"replicas":9},"b":{"replicas":9}})");
    EXPECT_FALSE(asks(history));
    place_another(history, "second");
    EXPECT_EQ(asks(history), on);
  }
}

}  // namespace
}  // namespace shiplog::scheduler
