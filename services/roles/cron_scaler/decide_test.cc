#include "services/roles/cron_scaler/decide.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/given.h"

namespace shiplog::cron_scaler {
namespace {

using given::History;
using given::json;

const ObjectKey kKey{kCronFederatedHpa, "default", "hours"};
const ObjectKey kWeb{"deployments.apps", "default", "web"};
const ObjectKey kAutoscaler{"federatedhpas.autoscaling.karmada.io", "default", "web"};

UtcMillis at(const std::string& time) { return parse_rfc3339("2026-01-02T" + time + "Z").value(); }

Result<std::shared_ptr<const cron::TimeZone>> zones(const std::string& name) {
  if (name == "Mars/X") return Error{ErrorCode::kNotFound, "unknown time zone Mars/X"};
  return std::make_shared<const cron::TimeZone>();
}

class CronScaler : public testing::Test {
 protected:
  CronScaler() { history_.object(kWeb, R"({"spec":{"replicas":1}})"); }

  /// With these rules, for this target.
  void rules(const std::string& text,
             const std::string& target = R"({"apiVersion":"apps/v1","kind":"Deployment","name":"web"})") {
    history_.object(kKey, R"({"spec":{"scaleTargetRef":)" + target + R"(,"rules":[)" + text + "]}}");
  }
  /// Decides as of that time; what it decides is folded. Returns the time when it looks again; "": never.
  std::string decide_at(const std::string& time) {
    const auto decided = decide(history_.state(), kKey, at(time), zones);
    EXPECT_TRUE(decided);
    std::optional<UtcMillis> again;
    if (const auto* later = std::get_if<LookAgain>(&decided.value())) again = later->at;
    if (const auto* decision = std::get_if<Decision>(&decided.value())) {
      history_.accept(*decision);
      again = decision->look_again;
    }
    return again ? rfc3339(*again) : "";
  }
  const Value& history_of_rule(size_t rule = 0) {
    return history_.state().value_of(kKey)["status"]["executionHistories"][rule];
  }
  int64_t replicas() { return history_.state().value_of(kWeb)["spec"]["replicas"].as_int(); }

  History history_;
};

constexpr const char* kMorning = R"({"name":"morning","schedule":"0 9 * * *","targetReplicas":5})";

TEST_F(CronScaler, RecordsWhenEachRuleIsDueNextAndScalesThen_5_9_1_5_9_2_5_9_3) {
  rules(std::string{kMorning} + R"(,{"name":"evening","schedule":"0 18 * * *","targetReplicas":2})");
  EXPECT_EQ(decide_at("08:00:00"), "2026-01-02T09:00:00Z");
  EXPECT_EQ(history_of_rule(), json(R"({"ruleName":"morning","nextExecutionTime":"2026-01-02T09:00:00Z"})"));
  EXPECT_EQ(history_of_rule(1), json(R"({"ruleName":"evening","nextExecutionTime":"2026-01-02T18:00:00Z"})"));
  EXPECT_EQ(replicas(), 1);
  EXPECT_EQ(decide_at("08:59:59"), "2026-01-02T09:00:00Z");
  EXPECT_EQ(replicas(), 1) << "not before its time";
  EXPECT_EQ(decide_at("09:00:02"), "2026-01-02T18:00:00Z");
  EXPECT_EQ(replicas(), 5);
  EXPECT_EQ(history_of_rule(), json(R"({"ruleName":"morning","nextExecutionTime":"2026-01-03T09:00:00Z",
      "successfulExecutions":[{"scheduleTime":"2026-01-02T09:00:00Z","executionTime":"2026-01-02T09:00:02Z",
      "appliedReplicas":5}]})"));
  EXPECT_EQ(decide_at("09:00:03"), "2026-01-02T18:00:00Z");
  EXPECT_EQ(history_of_rule()["successfulExecutions"].size(), 1U) << "each run is made once";
}

TEST_F(CronScaler, ATargetThatHasTheReplicasIsNotWritten_5_9_3) {
  rules(R"({"name":"morning","schedule":"0 9 * * *","targetReplicas":1})");
  decide_at("08:00:00");
  const auto decided = decide(history_.state(), kKey, at("09:00:00"), zones);
  ASSERT_EQ(std::get<Decision>(decided.value()).events.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<StatusUpdated>(std::get<Decision>(decided.value()).events[0]));
}

TEST_F(CronScaler, ARunIsMadeUpForMinutesAndNotForHours_5_9_4) {
  rules(kMorning);
  decide_at("08:00:00");
  EXPECT_EQ(decide_at("09:05:00"), "2026-01-03T09:00:00Z");
  EXPECT_EQ(replicas(), 5) << "nothing led at that moment";
  rules(kMorning);  // replaced: without its status
  history_.edit(kWeb, [](Value& web) { web.edit("spec").set("replicas", 1); });
  decide_at("08:00:00");
  EXPECT_EQ(decide_at("09:05:01"), "2026-01-03T09:00:00Z");
  EXPECT_EQ(replicas(), 1);
  EXPECT_TRUE(history_of_rule()["successfulExecutions"].is_null());
}

TEST_F(CronScaler, ARuleThatIsSuspendedHasNoNextTimeAndKeepsItsHistory_5_9_4) {
  rules(kMorning);
  decide_at("08:00:00");
  decide_at("09:00:00");
  history_.edit(kKey, [](Value& object) { object.edit("spec").edit("rules").edit_items()[0].set("suspend", true); });
  EXPECT_EQ(decide_at("09:01:00"), "");
  EXPECT_TRUE(history_of_rule()["nextExecutionTime"].is_null());
  EXPECT_EQ(history_of_rule()["successfulExecutions"].size(), 1U);
}

TEST_F(CronScaler, AChangedScheduleCountsFromNowOn) {
  rules(kMorning);
  decide_at("08:00:00");
  const auto reschedule = [&](const char* schedule) {
    history_.edit(kKey,
                  [&](Value& object) { object.edit("spec").edit("rules").edit_items()[0].set("schedule", schedule); });
  };
  reschedule("30 8 * * *");
  EXPECT_EQ(decide_at("08:10:00"), "2026-01-02T08:30:00Z");
  reschedule("30 10 * * *");
  EXPECT_EQ(decide_at("08:31:00"), "2026-01-02T10:30:00Z");
  EXPECT_EQ(replicas(), 1) << "the time that was recorded is not one of the new schedule";
  reschedule("@every 10m");
  EXPECT_EQ(decide_at("08:32:00"), "2026-01-02T08:42:00Z");
  EXPECT_EQ(decide_at("08:35:00"), "2026-01-02T08:42:00Z") << "it does not begin again with each look";
  EXPECT_EQ(decide_at("08:42:00"), "2026-01-02T08:52:00Z");
  EXPECT_EQ(replicas(), 5);
}

TEST_F(CronScaler, AClockThatGoesBackRepeatsNothing) {
  rules(kMorning);
  decide_at("08:00:00");
  decide_at("09:00:00");
  history_.edit(kWeb, [](Value& web) { web.edit("spec").set("replicas", 3); });
  EXPECT_EQ(decide_at("08:59:58"), "2026-01-03T09:00:00Z");
  EXPECT_EQ(decide_at("09:00:00"), "2026-01-03T09:00:00Z");
  EXPECT_EQ(replicas(), 3) << "another process leads, whose clock is two seconds behind";
}

TEST_F(CronScaler, OfRulesThatAreDueTogetherTheLaterTimeIsCarriedOutLast) {
  rules(R"({"name":"late","schedule":"2 9 * * *","targetReplicas":7},
           {"name":"early","schedule":"1 9 * * *","targetReplicas":5})");
  decide_at("08:00:00");
  decide_at("09:03:00");
  EXPECT_EQ(replicas(), 7);
  EXPECT_EQ(history_of_rule(1)["successfulExecutions"][0]["appliedReplicas"].as_int(), 5);
}

TEST_F(CronScaler, WhatFailsIsInTheStatusNewestFirstUpToTheLimit_5_9_2) {
  rules(R"({"name":"often","schedule":"* * * * *","targetReplicas":5,"failedHistoryLimit":2})",
        R"({"apiVersion":"apps/v1","kind":"Deployment","name":"none"})");
  for (const char* time : {"08:00:30", "08:01:00", "08:02:00", "08:03:00"}) decide_at(time);
  const Value& failures = history_of_rule()["failedExecutions"];
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_EQ(failures[0], json(R"({"scheduleTime":"2026-01-02T08:03:00Z","executionTime":"2026-01-02T08:03:00Z",
      "message":"deployments.apps \"none\" not found"})"));
  EXPECT_EQ(failures[1]["scheduleTime"].str(), "2026-01-02T08:02:00Z");
}

TEST_F(CronScaler, AFailedHistoryLimitOfZeroKeepsNoFailure_5_9_2) {
  rules(R"({"name":"often","schedule":"* * * * *","targetReplicas":5,"failedHistoryLimit":0})",
        R"({"apiVersion":"v1","kind":"ConfigMap","name":"web"})");
  decide_at("08:00:30");
  EXPECT_EQ(decide_at("08:01:00"), "2026-01-02T08:02:00Z");
  EXPECT_EQ(history_of_rule()["failedExecutions"].size(), 0U);
}

TEST_F(CronScaler, TheTargetHasToBeScalable_5_9_3) {
  const auto failure = [&](const std::string& target) {
    rules(R"({"name":"often","schedule":"* * * * *","targetReplicas":5})", target);
    decide_at("08:00:30");
    decide_at("08:01:00");
    return history_of_rule()["failedExecutions"][0]["message"].str();
  };
  EXPECT_EQ(failure(R"({"apiVersion":"v1","kind":"ConfigMap","name":"web"})"),
            "configmaps cannot be scaled: the kind has no scale subresource");
  EXPECT_EQ(failure(R"({"apiVersion":"apps/v2","kind":"Deployment","name":"web"})"),
            "no matches for kind \"Deployment\" in version \"apps/v2\"");
  EXPECT_EQ(failure(R"({"apiVersion":"autoscaling.karmada.io/v1alpha1","kind":"CronFederatedHPA","name":"hours"})"),
            "CronFederatedHPA(default/hours) do not support scale target "
            "autoscaling.karmada.io/v1alpha1/CronFederatedHPA");
}

TEST_F(CronScaler, OfAFederatedHpaTheBoundsAreSet_5_9_3) {
  history_.object(kAutoscaler, R"({"spec":{"minReplicas":1,"maxReplicas":4}})");
  const char* const target = R"({"apiVersion":"autoscaling.karmada.io/v1alpha1","kind":"FederatedHPA","name":"web"})";
  rules(R"({"name":"morning","schedule":"0 9 * * *","targetMinReplicas":3,"targetMaxReplicas":9},
           {"name":"noon","schedule":"0 12 * * *","targetMinReplicas":20})",
        target);
  decide_at("08:00:00");
  decide_at("09:00:00");
  EXPECT_EQ(history_.state().value_of(kAutoscaler)["spec"], json(R"({"minReplicas":3,"maxReplicas":9})"));
  EXPECT_EQ(history_of_rule()["successfulExecutions"][0]["appliedMinReplicas"].as_int(), 3);
  EXPECT_EQ(history_of_rule()["successfulExecutions"][0]["appliedMaxReplicas"].as_int(), 9);
  decide_at("12:00:00");
  EXPECT_EQ(history_.state().value_of(kAutoscaler)["spec"], json(R"({"minReplicas":3,"maxReplicas":9})"));
  EXPECT_EQ(history_of_rule(1)["failedExecutions"][0]["message"].str(),
            "federatedhpas.autoscaling.karmada.io \"web\" would be invalid: minReplicas 20 is above maxReplicas 9");
}

TEST_F(CronScaler, ACustomResourceIsScaledAtThePathOfItsDefinition) {
  history_.object({type::kCustomResourceDefinition, "", "games.example.com"}, R"({"spec":{"group":"example.com",
      "names":{"kind":"Game","plural":"games"},"scope":"Namespaced","versions":[{"name":"v1","served":true,
      "subresources":{"scale":{"specReplicasPath":".spec.servers.count"}}}]}})");
  const ObjectKey game{"games.example.com", "default", "chess"};
  history_.object(game, R"({"spec":{"servers":{"count":1,"size":"s"}}})");
  rules(kMorning, R"({"apiVersion":"example.com/v1","kind":"Game","name":"chess"})");
  decide_at("08:00:00");
  decide_at("09:00:00");
  EXPECT_EQ(history_.state().value_of(game)["spec"], json(R"({"servers":{"count":5,"size":"s"}})"));
}

TEST_F(CronScaler, ARuleThatCannotBeStartedIsReportedOnceAndTheOthersGoOn_5_9_5) {
  rules(R"({"name":"mars","schedule":"0 9 * * *","timeZone":"Mars/X","targetReplicas":5},
           {"name":"odd","schedule":"0 9 * *","targetReplicas":5},)" +
        std::string{kMorning});
  decide_at("08:00:00");
  EXPECT_EQ(decide_at("09:00:00"), "2026-01-03T09:00:00Z");
  EXPECT_EQ(replicas(), 5);
  ASSERT_EQ(history_of_rule(0)["failedExecutions"].size(), 1U);
  EXPECT_EQ(history_of_rule(0)["failedExecutions"][0]["message"].str(), "timeZone: unknown time zone Mars/X");
  EXPECT_EQ(history_of_rule(1)["failedExecutions"][0]["message"].str(),
            "schedule: expected exactly 5 fields, found 4: [0 9 * *]");
}

TEST_F(CronScaler, WhatHasNoRuleAnyMoreHasNoHistory) {
  rules(std::string{kMorning} + R"(,{"name":"evening","schedule":"0 18 * * *","targetReplicas":2})");
  decide_at("08:00:00");
  history_.edit(kKey, [](Value& object) {
    auto& all = object.edit("spec").edit("rules").edit_items();
    all.erase(all.begin());
  });
  decide_at("08:01:00");
  EXPECT_EQ(history_.state().value_of(kKey)["status"]["executionHistories"].size(), 1U);
  EXPECT_EQ(history_of_rule()["ruleName"].str(), "evening");
}

TEST_F(CronScaler, NothingIsScaledThatIsBeingDeletedOrSwitchedOff) {
  rules(kMorning);
  decide_at("08:00:00");
  history_.accept({OptionsSet{{{"controllers", {"*", std::string{"-"} + kController}}}}});
  EXPECT_EQ(decide_at("09:00:00"), "");
  EXPECT_EQ(replicas(), 1);
  history_.accept({OptionsSet{{{"controllers", {"*"}}}}});
  history_.edit(kKey, [](Value& object) { object.edit("metadata").set("finalizers", Value::array({"a.example/b"})); });
  history_.remove(kKey);
  EXPECT_EQ(decide_at("09:00:00"), "");
  EXPECT_EQ(replicas(), 1);
}

}  // namespace
}  // namespace shiplog::cron_scaler
