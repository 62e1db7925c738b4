#include "services/roles/descheduler/role.h"

#include <gtest/gtest.h>

#include "events/state/binding.h"
#include "services/roles/descheduler/decide.h"
#include "services/runtime/log.h"
#include "services/runtime/question_resolver.h"
#include "tests/support/fake_task.h"
#include "tests/support/scheduling.h"

namespace shiplog {
namespace {

using given::History;
using given::json;
using given::woken;
using scheduler::kBinding;
using Keys = std::vector<ObjectKey>;

/// Answers at once, the same to every question.
class FixedEstimators final : public QuestionResolver {
 public:
  void ask(const State&, const QuestionPtr& question, const TraceContext&,
           std::function<void(Result<Value>)> answered) override {
    questions.push_back(question);
    answered(answer);
  }
  std::vector<QuestionPtr> questions;
  Value answer = json(R"({"a":{"replicas":3}})");
};

/// a has 5 replicas and none is ready.
History lacking(std::vector<std::string> controllers = {"*", descheduler::kController}) {
  History history = scheduler::history_of({5, scheduler::kDynamic, {{"a", 90}, {"b", 90}}, {{"a", 5}}});
  history.accept({FoldVersionActivated{7}});
  history.accept({OptionsSet{{{"controllers", std::move(controllers)}}}});
  return history;
}

Keys started(Role& role, const History& history) {
  Keys keys;
  role.on_start(history.state(), keys);
  return keys;
}

TEST(DeschedulerRole, AsksAndThenTakesOff_5_4_3) {
  History history = lacking();
  FixedEstimators estimators;
  const auto role = make_descheduler_role(&estimators, Millis{1500});
  const auto task = std::make_shared<given::FakeTask>(history, kBinding);
  role->reconcile(task);
  EXPECT_EQ(task->finished, 1);
  ASSERT_EQ(estimators.questions.size(), 1U);
  EXPECT_EQ(estimators.questions[0]->timeout, Millis{1500});
  EXPECT_EQ(task->folded.size(), 2U) << "the answer, and the decision";
  EXPECT_EQ(task->observed, 1);
  EXPECT_TRUE(task->looks_again);
  EXPECT_EQ(history.state().value_of(kBinding)["spec"]["clusters"], json(R"([{"name":"a","replicas":2}])"));
}

TEST(DeschedulerRole, WhatWasPlacedMeanwhileIsNotOverwritten_5_4_3) {
  History history = lacking();
  FixedEstimators estimators;
  const auto role = make_descheduler_role(&estimators, Millis{1500});
  const auto task = std::make_shared<given::FakeTask>(history, kBinding);
  task->before_append = [&] {
    history.edit(kBinding,
                 [](Value& binding) { binding.edit("spec").set("clusters", json(R"([{"name":"b","replicas":5}])")); });
  };
  role->reconcile(task);
  EXPECT_EQ(history.state().value_of(kBinding)["spec"]["clusters"], json(R"([{"name":"b","replicas":5}])"));
}

TEST(DeschedulerRole, APlacementTriggersAndAReportDoesNot_5_4_1) {
  History history = lacking();
  FixedEstimators estimators;
  const auto role = make_descheduler_role(&estimators, Millis{1500});
  const auto change = [&](const std::function<void(Value&)>& edit, bool status) {
    Value binding = history.state().value_of(kBinding);
    edit(binding);
    return woken(*role, history,
                 {status ? Event{StatusUpdated{kBinding, binding}} : Event{ObjectUpdated{kBinding, binding}}});
  };
  EXPECT_EQ(change([](Value& binding) { binding.edit("spec").set("replicas", 6); }, false), Keys{kBinding});
  EXPECT_EQ(change([](Value& binding) { binding.edit("status").set("aggregatedStatus", Value::array()); }, true),
            Keys{});
  EXPECT_EQ(change(
                [](Value& binding) {
                  binding.edit("metadata")
                      .edit("annotations")
                      .set(kAppliedPlacementAnnotation, R"({"replicaScheduling":{}})");
                },
                false),
            Keys{})
      << "it is not divided by room any more";
  EXPECT_EQ(change(
                [](Value& binding) {
                  binding.edit("metadata")
                      .edit("annotations")
                      .set(kAppliedPlacementAnnotation,
                           std::string{R"({"replicaScheduling":)"} + scheduler::kAggregated + "}");
                },
                false),
            Keys{kBinding});
}

TEST(DeschedulerRole, StartsWithAllThatItMayDeschedule_5_4_1) {
  History history = lacking();
  history.object({type::kResourceBinding, "default", "config-configmap"},
                 R"({"spec":{"resource":{"apiVersion":"v1","kind":"ConfigMap","name":"config"}}})");
  FixedEstimators estimators;
  const auto role = make_descheduler_role(&estimators, Millis{1500});
  EXPECT_EQ(started(*role, history), Keys{kBinding});
  EXPECT_EQ(started(*role, lacking({"*"})), Keys{}) << "it is off by default";
}

TEST(DeschedulerRole, AnOptionSwitchesItOnLater) {
  History history = lacking({"*"});
  FixedEstimators estimators;
  const auto role = make_descheduler_role(&estimators, Millis{1500});
  EXPECT_EQ(woken(*role, history, {OptionsSet{{{"controllers", {"*", descheduler::kController}}}}}), Keys{kBinding});
}

TEST(DeschedulerRole, WithoutEstimatorsItIsIdle) {
  log::configure(log::Format::kText, log::Level::kError);
  const History history = lacking();
  const auto role = make_descheduler_role(nullptr, Millis{1500});
  EXPECT_EQ(started(*role, history), Keys{});
  History changed = history;
  EXPECT_EQ(woken(*role, changed,
                  {OptionsSet{{{"controllers", {"*", descheduler::kController}}, {"descheduling-interval", {"1m"}}}}}),
            Keys{});
}

}  // namespace
}  // namespace shiplog
