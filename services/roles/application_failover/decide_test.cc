// Application failover: rules 3.2.1 to 3.2.9, and the state that it preserves (3.4.1 to 3.4.4).
#include "services/roles/application_failover/decide.h"

#include <gtest/gtest.h>

#include "events/state/binding.h"
#include "events/state/failover_record.h"
#include "services/roles/application_failover/role.h"
#include "services/roles/failover_evictions.h"
#include "tests/support/given.h"
#include "tests/support/stage.h"

namespace shiplog {
namespace {

using namespace given;
using application_failover::decide;

const ObjectKey kBinding{type::kResourceBinding, "default", "web-deployment"};
const ObjectKey kWeb{"deployments.apps", "default", "web"};

constexpr const char* kDirectly = R"({"decisionConditions": {"tolerationSeconds": 30}, "purgeMode": "Directly"})";

class ApplicationFailover : public ::testing::Test {
 protected:
  void begin(const char* application = kDirectly, const char* more = "") {
    history.accept({FoldVersionActivated{kFoldVersion}});
    history.object(kWeb, R"({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 3}})");
    history.object(kBinding, R"({"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding", "spec": {
        "resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "web"},
        "propagateDeps": true, "clusters": [{"name": "m1", "replicas": 2}, {"name": "m2", "replicas": 1}],
        "failover": {"application": )" +
                                 std::string{application} + "}" + more + "}}");
  }
  void report(const char* m1, const char* m2, const char* m1_status = R"({"job": {"id": "a1"}})") {
    StatusAggregated event;
    event.binding = kBinding;
    event.aggregated_status =
        Value::array({Value::object({{"clusterName", "m1"}, {"health", m1}, {"status", json(m1_status)}}),
                      Value::object({{"clusterName", "m2"}, {"health", m2}})});
    history.accept({event});
  }
  Result<Decided> decided(Millis later = {}) { return decide(history.state(), kBinding, history.now() + later); }
  std::vector<Event> events(Millis later = {}) {
    const auto made = decided(later);
    const Decision* decision = decision_of(made);
    return decision == nullptr ? std::vector<Event>{} : decision->events;
  }
  std::optional<UtcMillis> since(const char* cluster) { return unhealthy_since(history.state(), kBinding, cluster); }
  const Value& spec() { return history.state().value_of(kBinding)["spec"]; }
  /// A timer runs in m1, of which `EvictionStarted` is due right after that.
  EvictionStarted evicted() {
    report("Unhealthy", "Healthy");
    history.accept(*decision_of(decided()));
    const auto made = events(Millis{31'000});
    for (const Event& event : made) {
      if (const auto* started = std::get_if<EvictionStarted>(&event)) return *started;
    }
    ADD_FAILURE() << "nothing was evicted";
    return {};
  }

  History history;
};

TEST_F(ApplicationFailover, TheFirstObservationOnlyStartsATimer_3_2_3_3_2_4) {
  begin(R"({"decisionConditions": {"tolerationSeconds": 0}, "purgeMode": "Directly"})");
  report("Unhealthy", "Healthy");
  EXPECT_EQ(events(), (std::vector<Event>{FailoverTimerStarted{kBinding, "m1", "the workload is Unhealthy"}}));
  history.accept(*decision_of(decided()));
  EXPECT_EQ(since("m1"), history.now());
  EXPECT_EQ(std::get<LookAgain>(decided().value()).at, history.now() + Millis{1}) << "0 s are over later than at once";
  EXPECT_EQ(events(Millis{1}).size(), 2U);
}

TEST_F(ApplicationFailover, EvictsStrictlyLaterThanTolerationSeconds_3_2_4) {
  begin();
  report("Unhealthy", "Healthy");
  history.accept(*decision_of(decided()));
  const UtcMillis started = history.now();
  EXPECT_EQ(std::get<LookAgain>(decided(Millis{30'000}).value()).at, started + Millis{30'001});
  const auto due = events(Millis{30'001});
  ASSERT_EQ(due.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<FailoverTimerStopped>(due[0]));
  EXPECT_EQ(std::get<EvictionStarted>(due[1]).cluster, "m1");
  history.edit(kBinding, [](Value& binding) {
    binding.edit("spec").edit("failover").edit("application").edit("decisionConditions").set("tolerationSeconds", 60);
  });
  EXPECT_TRUE(events(Millis{40'000}).empty()) << "the toleration of the present policy counts";
}

TEST_F(ApplicationFailover, HealthyAndUnknownClearTheTimer_3_2_3) {
  for (const char* health : {"Healthy", "Unknown"}) {
    history = {};
    begin();
    report("Unhealthy", "Healthy");
    history.accept(*decision_of(decided()));
    report(health, "Healthy");
    EXPECT_EQ(events(Millis{100'000}),
              (std::vector<Event>{FailoverTimerStopped{kBinding, "m1", "the workload is " + std::string{health}}}));
    history.accept(*decision_of(decided()));
    EXPECT_FALSE(since("m1"));
    report("Unhealthy", "Healthy");
    history.accept(*decision_of(decided()));
    EXPECT_EQ(since("m1"), history.now()) << "it counts from the beginning again";
  }
}

TEST_F(ApplicationFailover, NothingIsCountedDownForAnUnreachableCluster_3_2_3) {
  for (const auto& [status, reason] :
       {std::pair{"Unknown", "ClusterStatusUnknown"}, std::pair{"False", "ClusterNotReachable"}}) {
    history = {};
    begin();
    history.object({type::kCluster, "", "m1"}, "{}");
    const auto ready = [&](const char* now, const char* because) {
      history.accept({ClusterConditionChanged{{type::kCluster, "", "m1"}, "Ready", now, because, ""}});
    };
    ready("False", "ClusterNotReady");
    report("Unhealthy", "Healthy");
    history.accept(*decision_of(decided()));
    EXPECT_TRUE(since("m1")) << "its API server answers";
    ready(status, reason);
    const std::vector<Event> stopped{FailoverTimerStopped{kBinding, "m1", "the cluster is unreachable"}};
    EXPECT_EQ(events(), stopped);
    EXPECT_EQ(events(Millis{100'000}), stopped) << "even if its time is over";
    history.accept(*decision_of(decided()));
    EXPECT_TRUE(std::holds_alternative<Nothing>(decided().value())) << "none starts";
    ready("True", "ClusterReady");
    history.accept(*decision_of(decided()));
    EXPECT_EQ(since("m1"), history.now()) << "it counts what is observed";
  }
}

TEST_F(ApplicationFailover, AFurtherObservationDoesNotMoveTheTimer_3_2_3) {
  begin();
  report("Unhealthy", "Healthy");
  history.accept(*decision_of(decided()));
  const auto started = since("m1");
  report("Unhealthy", "Unhealthy");
  EXPECT_EQ(events(), (std::vector<Event>{FailoverTimerStarted{kBinding, "m2", "the workload is Unhealthy"}}));
  history.accept(*decision_of(decided()));
  EXPECT_EQ(since("m1"), started);
}

TEST_F(ApplicationFailover, IsSkippedAndItsTimersDropped_3_2_2) {
  const auto dropped_by = [&](const std::function<void(Value&)>& change) {
    history = {};
    begin();
    report("Unhealthy", "Healthy");
    history.accept(*decision_of(decided()));
    history.edit(kBinding, change);
    const auto stopped = events(Millis{100'000});
    EXPECT_EQ(stopped.size(), 1U);
    return stopped.size() == 1 ? std::get<FailoverTimerStopped>(stopped[0]).reason : "";
  };
  EXPECT_EQ(dropped_by([](Value& binding) { binding.edit("spec").erase("failover"); }),
            "the policy asks for no application failover any more");
  EXPECT_EQ(dropped_by([](Value& binding) { binding.edit("spec").set("propagateDeps", false); }),
            "propagateDeps is not true");
  EXPECT_EQ(dropped_by([](Value& binding) { binding.edit("status").set("aggregatedStatus", Value::array()); }),
            "no status is collected");
  EXPECT_EQ(dropped_by([](Value& binding) {
              binding.edit("spec").edit("resource").set("kind", "ConfigMap");
              binding.edit("spec").edit("resource").set("apiVersion", "v1");
            }),
            "no rule determines the health of its kind");
  EXPECT_EQ(dropped_by([](Value& binding) {
              binding.edit("spec")
                  .edit("clusters")
                  .edit_items()
                  .erase(binding.edit("spec").edit("clusters").edit_items().begin());
            }),
            "the workload is not placed there");
}

TEST_F(ApplicationFailover, RunsUnlessControllersLeavesItOut_3_2_1) {
  begin();
  report("Unhealthy", "Healthy");
  EXPECT_FALSE(history.state().gates().failover) << "independent of the gate";
  const auto starts = [&](std::vector<std::string> controllers) {
    history.accept({OptionsSet{{{"controllers", std::move(controllers)}}}});
    return !events().empty();
  };
  EXPECT_TRUE(starts({"*"}));
  EXPECT_TRUE(starts({"*", "hpaScaleTargetMarker"}));
  EXPECT_FALSE(starts({"*", "-applicationFailover"}));
  EXPECT_TRUE(starts({"applicationFailover", "*"}));
}

TEST_F(ApplicationFailover, AnEvictedClusterHasNoTimer_3_2_3) {
  begin(kDirectly, R"(, "gracefulEvictionTasks": [{"fromCluster": "m1", "reason": "TaintUntolerated"}])");
  report("Unhealthy", "Healthy");
  EXPECT_TRUE(events(Millis{100'000}).empty());
}

TEST_F(ApplicationFailover, BuildsTheTaskOfEachPurgeMode_3_2_6) {
  begin();
  EvictionStarted task = evicted();
  EXPECT_EQ(task.producer, "resource-binding-application-failover-controller");
  EXPECT_EQ(task.reason, "ApplicationFailure");
  EXPECT_EQ(task.purge_mode, "Directly");
  EXPECT_EQ(task.grace_seconds, 0);
  EXPECT_FALSE(task.suppress_deletion);
  EXPECT_EQ(task.clusters_before, (std::vector<std::string>{"m1", "m2"}));
  EXPECT_TRUE(task.preserved_labels.is_null());

  history = {};
  begin(R"({"decisionConditions": {"tolerationSeconds": 30}, "purgeMode": "Gracefully", "gracePeriodSeconds": 90})");
  task = evicted();
  EXPECT_EQ(task.purge_mode, "Gracefully");
  EXPECT_EQ(task.grace_seconds, 90);
  EXPECT_FALSE(task.suppress_deletion);

  history = {};
  begin(R"({"decisionConditions": {"tolerationSeconds": 30}, "purgeMode": "Never"})");
  task = evicted();
  EXPECT_EQ(task.purge_mode, "Never");
  EXPECT_EQ(task.grace_seconds, 0);
  EXPECT_TRUE(task.suppress_deletion);
}

TEST_F(ApplicationFailover, ABindingWithoutTheFieldsHasUpstreamsDefaults_3_2_4_3_2_6) {
  begin("{}");
  report("Unhealthy", "Healthy");
  history.accept(*decision_of(decided()));
  EXPECT_EQ(std::get<LookAgain>(decided().value()).at, history.now() + Millis{300'001});
  const auto due = events(Millis{300'001});
  ASSERT_EQ(due.size(), 2U);
  EXPECT_EQ(std::get<EvictionStarted>(due[1]).purge_mode, "Gracefully");

  history = {};
  begin(R"({"decisionConditions": {"tolerationSeconds": -5}, "purgeMode": "Directly", "gracePeriodSeconds": 90})");
  report("Unhealthy", "Healthy");
  history.accept(*decision_of(decided()));
  EXPECT_EQ(std::get<LookAgain>(decided().value()).at, history.now() + Millis{1}) << "never before it was observed";
  EXPECT_EQ(std::get<EvictionStarted>(events(Millis{1})[1]).grace_seconds, 0) << "of Gracefully alone";
}

TEST_F(ApplicationFailover, TheProducerIsTheControllerOfTheBindingsKind_3_2_6) {
  const auto producer = [](const ObjectKey& key) {
    return application_failover::eviction_of(key, json(R"({"spec": {"clusters": [{"name": "m1"}]}})"), "m1", kNoon)
        .producer;
  };
  EXPECT_EQ(producer(kBinding), "resource-binding-application-failover-controller");
  EXPECT_EQ(producer({type::kClusterResourceBinding, "", "role"}),
            "cluster-resource-binding-application-failover-controller");
}

TEST_F(ApplicationFailover, TheFoldMovesTheTargetToItsTask_2_6_1) {
  begin(R"({"decisionConditions": {"tolerationSeconds": 30}, "purgeMode": "Never"})");
  history.accept({evicted()});
  EXPECT_EQ(spec()["clusters"], json(R"([{"name": "m2", "replicas": 1}])"));
  const Value& task = spec()["gracefulEvictionTasks"][0];
  EXPECT_EQ(task["fromCluster"], Value{"m1"});
  EXPECT_EQ(task["replicas"], Value{2});
  EXPECT_EQ(task["suppressDeletion"], Value{true});
  EXPECT_EQ(task["clustersBeforeFailover"], json(R"(["m1", "m2"])"));
  EXPECT_FALSE(task.contains("gracePeriodSeconds"));
}

TEST_F(ApplicationFailover, EvictsAllThatIsDueInOneEntry_3_2_8) {
  begin();
  report("Unhealthy", "Unhealthy");
  history.accept(*decision_of(decided()));
  const auto made = events(Millis{31'000});
  size_t evictions = 0;
  for (const Event& event : made) evictions += std::holds_alternative<EvictionStarted>(event) ? 1U : 0U;
  EXPECT_EQ(evictions, 2U);
  EXPECT_EQ(made.size(), 4U) << "and the timer of each is stopped";
}

TEST_F(ApplicationFailover, ADecisionFromAnOlderStateIsRefused) {
  begin();
  report("Unhealthy", "Healthy");
  const auto first = decided();
  const auto second = decided();
  history.accept(*decision_of(first));
  EXPECT_TRUE(history.fold(decision_of(second)->events, decision_of(second)->expects).refusal)
      << "the timer would begin again";
}

constexpr const char* kPreserving = R"({"decisionConditions": {"tolerationSeconds": 30}, "purgeMode": "Directly",
    "statePreservation": {"rules": [{"aliasLabelName": "job-id", "jsonPath": "{ .job.id }"}]}})";

TEST_F(ApplicationFailover, PreservesStateFromTheOldStatus_3_4_1_3_4_4) {
  begin(kPreserving);
  history.accept({FeatureGatesSet{{"StatefulFailoverInjection"}}});
  const EvictionStarted task = evicted();
  EXPECT_EQ(task.preserved_labels, json(R"({"job-id": "a1"})"));
  history.accept({task});
  EXPECT_EQ(spec()["gracefulEvictionTasks"][0]["preservedLabelState"], json(R"({"job-id": "a1"})"));
}

TEST_F(ApplicationFailover, WithoutTheGateNothingIsPreserved_3_4) {
  begin(kPreserving);
  EXPECT_TRUE(evicted().preserved_labels.is_null());
}

TEST_F(ApplicationFailover, StateThatCannotBeReadBlocksThatEvictionOnly_3_4_3) {
  begin(kPreserving);
  history.accept({FeatureGatesSet{{"StatefulFailoverInjection"}}});
  const auto refused = [&](const char* status) {
    report("Unhealthy", "Healthy", status);
    if (!since("m1")) history.accept(*decision_of(decided()));
    const auto made = decided(Millis{60'000});
    return made ? "" : made.error().message;
  };
  EXPECT_EQ(
      refused("{}"),
      "Evict from cluster m1 failed: spec.failover.application: the application status has not yet been collected "
      "from Cluster(m1)");
  EXPECT_EQ(refused(R"({"job": {}})"),
            "Evict from cluster m1 failed: spec.failover.application: statePreservation.rules[0] (label job-id): id is "
            "not found");
  EXPECT_EQ(
      refused(R"({"job": {"id": "a b"}})"),
      "Evict from cluster m1 failed: spec.failover.application: statePreservation.rules[0] (label job-id): \"a b\", "
      "from the status, is no label value: it must consist of alphanumeric characters, '-', '_' or '.', and must "
      "start and end with an alphanumeric character")
      << "3.4.7: here, and not as a refusal of the member";
  EXPECT_TRUE(since("m1")) << "the timer is kept: it is retried";
  EXPECT_EQ(refused(R"({"job": {"id": "ab"}})"), "");

  // m2 has its status: it is moved although m1 is not.
  StatusAggregated both;
  both.binding = kBinding;
  both.aggregated_status = json(R"([{"clusterName": "m1", "health": "Unhealthy", "status": {"x": 1}},
      {"clusterName": "m2", "health": "Unhealthy", "status": {"job": {"id": "b2"}}}])");
  history.accept({both});
  history.accept(*decision_of(decided()));
  const auto made = events(Millis{60'000});
  ASSERT_EQ(made.size(), 2U);
  EXPECT_EQ(std::get<EvictionStarted>(made[1]).cluster, "m2");
}

TEST_F(ApplicationFailover, KeepsPreservedStateAcrossASecondFailover) {  // upstream issue 6232
  begin(kPreserving);
  history.accept({FeatureGatesSet{{"StatefulFailoverInjection"}}});
  history.edit(kBinding, [](Value& binding) {
    binding.edit("spec").set("clusters", json(R"([{"name": "m3", "replicas": 3}])"));
    binding.edit("spec").set("gracefulEvictionTasks", json(R"([{"fromCluster": "m1", "purgeMode": "Directly",
        "reason": "ApplicationFailure", "producer": "p", "creationTimestamp": "2026-01-02T12:00:00Z",
        "preservedLabelState": {"job-id": "a1"}, "clustersBeforeFailover": ["m1", "m2"]}])"));
  });
  const auto again = [&](const char* status) {
    StatusAggregated event;
    event.binding = kBinding;
    event.aggregated_status =
        Value::array({Value::object({{"clusterName", "m3"}, {"health", "Unhealthy"}, {"status", json(status)}})});
    history.accept({event});
    if (!since("m3")) history.accept(*decision_of(decided()));
    const auto made = events(Millis{60'000});
    return made.size() == 2 ? std::get<EvictionStarted>(made[1]).preserved_labels : Value{};
  };
  EXPECT_EQ(again(R"({"starting": true})"), json(R"({"job-id": "a1"})")) << "it has no state of its own yet";
  EXPECT_EQ(again(R"({"job": {"id": "c3"}})"), json(R"({"job-id": "a1"})"))
      << "nothing has been saved under the id of a copy that never was healthy";
  history.edit(kBinding, [](Value& binding) { binding.edit("spec").erase("gracefulEvictionTasks"); });
  EXPECT_EQ(again(R"({"job": {"id": "c3"}})"), json(R"({"job-id": "c3"})")) << "its task is over: it was healthy";
}

TEST_F(ApplicationFailover, ALabelOfTheControlPlaneIsNeverTaken) {
  begin(R"({"decisionConditions": {"tolerationSeconds": 30}, "purgeMode": "Directly", "statePreservation": {"rules": [
      {"aliasLabelName": "resourcebinding.karmada.io/permanent-id", "jsonPath": "{ .job.id }"}]}})");
  history.accept({FeatureGatesSet{{"StatefulFailoverInjection"}}});
  report("Unhealthy", "Healthy");
  history.accept(*decision_of(decided()));
  const auto made = decided(Millis{60'000});
  ASSERT_FALSE(made.has_value());
  EXPECT_NE(made.error().message.find("this label belongs to the control plane"), std::string::npos);
}

TEST_F(ApplicationFailover, AnEvictionFromBeforeARecoveryIsRefused) {
  begin();
  report("Unhealthy", "Healthy");
  history.accept(*decision_of(decided()));
  const auto due = decided(Millis{31'000});
  ASSERT_EQ(decision_of(due)->events.size(), 2U);
  report("Healthy", "Healthy");
  EXPECT_TRUE(history.fold(decision_of(due)->events, decision_of(due)->expects).refusal);
}

TEST_F(ApplicationFailover, ABindingThatIsBeingDeletedIsLeftAlone) {
  begin();
  history.edit(kBinding, [](Value& binding) { binding.edit("metadata").set("finalizers", Value::array({"a/b"})); });
  report("Unhealthy", "Healthy");
  history.accept(*decision_of(decided()));
  history.remove(kBinding);
  ASSERT_TRUE(deleting(history.state().value_of(kBinding)));
  EXPECT_TRUE(std::holds_alternative<Nothing>(decided(Millis{100'000}).value()));
}

TEST_F(ApplicationFailover, OlderJournalsAreNotActedOn) {
  history.object(kBinding, "{}");
  EXPECT_TRUE(std::holds_alternative<Nothing>(decided().value()));
  EXPECT_TRUE(
      std::holds_alternative<Nothing>(decide(history.state(), {kBinding.type, "default", "gone"}, kNoon).value()));
}

/// The role itself, in virtual time, with restarts.
class ApplicationFailoverRoleTest : public ::testing::Test {
 protected:
  ApplicationFailoverRoleTest() {
    stage.write({FoldVersionActivated{kFoldVersion}});
    stage.add(make_application_failover_role());
    stage.put(kWeb, testing::deployment("default", "web", 3));
    Value made = testing::binding(testing::deployment("default", "web", 3), {{"m1", 2}, {"m2", 1}});
    made.edit("spec").set("propagateDeps", true);
    made.edit("spec").edit("failover").set("application", json(kDirectly));
    stage.put(kBinding, made);
  }
  void report(const char* health) {
    StatusAggregated event;
    event.binding = kBinding;
    event.aggregated_status = Value::array({Value::object({{"clusterName", "m1"}, {"health", health}})});
    stage.write({event});
  }
  size_t tasks() { return stage.state().value_of(kBinding)["spec"]["gracefulEvictionTasks"].size(); }

  testing::Stage stage;
};

TEST_F(ApplicationFailoverRoleTest, ARestartNeitherLosesNorRestartsATimer_3_2_5) {
  report("Unhealthy");
  stage.run(Millis{20'000});
  EXPECT_EQ(stage.count<FailoverTimerStarted>(), 1U);
  stage.stop("application-failover");
  stage.run(Millis{5'000});
  stage.add(make_application_failover_role());
  stage.run(Millis{4'900});
  EXPECT_EQ(tasks(), 0U);
  stage.run(Millis{300});
  EXPECT_EQ(tasks(), 1U) << "30 s after the first observation, not after the restart";
  EXPECT_EQ(stage.count<FailoverTimerStarted>(), 1U);
  EXPECT_EQ(stage.count<EvictionStarted>(), 1U);
  stage.run(Millis{300'000});
  EXPECT_EQ(stage.count<EvictionStarted>(), 1U);
  EXPECT_EQ(stage.count<FailoverTimerStopped>(), 1U);
}

TEST_F(ApplicationFailoverRoleTest, ATimerThatRanOutDuringAnOutageIsActedOnAtTheStart_3_2_5) {
  report("Unhealthy");
  stage.run(Millis{1000});
  stage.stop("application-failover");
  stage.run(Millis{100'000});
  EXPECT_EQ(tasks(), 0U);
  stage.add(make_application_failover_role());
  stage.run(Millis{100});
  EXPECT_EQ(tasks(), 1U);
}

TEST_F(ApplicationFailoverRoleTest, FollowsTheStatusAndThePolicyOfTheBinding_3_2_4) {
  stage.run(Millis{1000});
  report("Unhealthy");
  stage.run(Millis{5000});
  EXPECT_EQ(stage.count<FailoverTimerStarted>(), 1U);
  EXPECT_EQ(tasks(), 0U);
  Value hasty = stage.state().value_of(kBinding);
  hasty.edit("spec").edit("failover").edit("application").edit("decisionConditions").set("tolerationSeconds", 3);
  stage.put(kBinding, hasty);
  stage.run(Millis{100});
  EXPECT_EQ(tasks(), 1U);
}

TEST_F(ApplicationFailoverRoleTest, FollowsWhetherTheClusterIsReached_3_2_3) {
  const ObjectKey m1 = testing::cluster_key("m1");
  stage.put(m1, testing::cluster_object("m1"));
  stage.write({ClusterConditionChanged{m1, "Ready", "True", "ClusterReady", ""}});
  report("Unhealthy");
  stage.run(Millis{10'000});
  stage.write({ClusterConditionChanged{m1, "Ready", "False", "ClusterNotReachable", ""}});
  stage.run(Millis{100'000});
  EXPECT_EQ(stage.count<FailoverTimerStopped>(), 1U);
  EXPECT_EQ(tasks(), 0U);
  stage.write({ClusterConditionChanged{m1, "Ready", "True", "ClusterReady", ""}});
  stage.run(Millis{29'000});
  EXPECT_EQ(tasks(), 0U) << "what was before the loss does not count";
  stage.run(Millis{1100});
  EXPECT_EQ(tasks(), 1U);
}

TEST_F(ApplicationFailoverRoleTest, FollowsTheOption_3_2_1) {
  stage.write({OptionsSet{{{"controllers", {"*", "-applicationFailover"}}}}});
  report("Unhealthy");
  stage.run(Millis{100'000});
  EXPECT_EQ(stage.count<FailoverTimerStarted>(), 0U);
  stage.write({OptionsSet{{{"controllers", {"*"}}}}});
  stage.run(Millis{100});
  EXPECT_EQ(stage.count<FailoverTimerStarted>(), 1U);
  EXPECT_EQ(tasks(), 0U) << "it counts from now on";
}

}  // namespace
}  // namespace shiplog
