#include "services/interpreter/native/native.h"
#include "tests/support/interpreting.h"

namespace shiplog::interpreter {
namespace {

using testing::kNoon;
using testing::yaml;

/// A template of generation 4.
Value object_of(const std::string& api_version, const std::string& kind, const std::string& status = "{}",
                const std::string& spec = "{}") {
  return yaml("{apiVersion: " + api_version + ", kind: " + kind +
              ", metadata: {name: x, generation: 4}, spec: " + spec + ", status: " + status + "}");
}
/// The items of clusters m1, m2, ..., one per status; "null" for a cluster that has none yet.
Value items_of(const std::vector<std::string>& statuses) {
  Value items = Value::array();
  for (const std::string& status : statuses) {
    Value item = Value::object({{"clusterName", "m" + std::to_string(items.size() + 1)}});
    if (status != "null") item.set("status", yaml(status));
    items.push_back(std::move(item));
  }
  return items;
}
Value aggregated(const Value& object, const std::vector<std::string>& statuses) {
  return native::aggregate_status(object, items_of(statuses), kNoon, native::Conditions::kNone).value().value();
}
/// The same from fold version 4 on.
Value with_conditions(const Value& object, const std::vector<std::string>& statuses) {
  return native::aggregate_status(object, items_of(statuses), kNoon, native::Conditions::kOfMembers).value().value();
}
/// "status reason: message" of a condition.
std::string condition_text(const Value& status, std::string_view type) {
  for (const Value& condition : status["conditions"].items()) {
    if (condition["type"].as_string() != type) continue;
    return condition["status"].str() + " " + condition["reason"].str() + ": " + condition["message"].str();
  }
  return "";
}

TEST(InterpreterAggregate, DeploymentSumsAndKeepsTheRest_T_18) {  // T-12
  const Value web =
      object_of("apps/v1", "Deployment", "{conditions: [1], unavailableReplicas: 3, observedGeneration: 2}");
  EXPECT_EQ(aggregated(web, {"{replicas: 2, readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1}",
                             "{replicas: 3, readyReplicas: 3, updatedReplicas: 1, availableReplicas: 2}", "null"}),
            yaml(R"({conditions: [1], observedGeneration: 2, replicas: 5, readyReplicas: 4, updatedReplicas: 3,
                     availableReplicas: 3})"));
}

TEST(InterpreterAggregate, GenerationIsObservedOnceAllHaveSeenIt_T_13) {  // TRAP-13
  const std::string current = "{observedGeneration: 7, generation: 7, resourceTemplateGeneration: 4}";
  const std::string old_template = "{observedGeneration: 7, generation: 7, resourceTemplateGeneration: 3}";
  const std::string old_member = "{observedGeneration: 6, generation: 7, resourceTemplateGeneration: 4}";
  for (const char* kind : {"Deployment", "ReplicaSet", "DaemonSet"}) {
    const Value object = object_of("apps/v1", kind, "{observedGeneration: 3}");
    const auto observed = [&](const std::vector<std::string>& statuses) {
      return aggregated(object, statuses)["observedGeneration"].as_int();
    };
    EXPECT_EQ(observed({current, current}), 4) << kind;
    EXPECT_EQ(observed({current, old_template}), 3) << kind;
    EXPECT_EQ(observed({current, old_member}), 3) << kind;
    EXPECT_EQ(observed({current, "null"}), 3) << kind << ": a cluster without status holds it back";
    EXPECT_EQ(observed({}), 4) << kind;
  }
}

TEST(InterpreterAggregate, StatefulSetsObservedGenerationStops_T_14) {  // T-18, TRAP-13
  const Value set = object_of("apps/v1", "StatefulSet", "{observedGeneration: 3}");
  const Value status = aggregated(set, {R"({availableReplicas: 1, currentReplicas: 2, readyReplicas: 1, replicas: 2,
      updatedReplicas: 2, generation: 7, resourceTemplateGeneration: 9})"});
  EXPECT_EQ(status,
            yaml(R"({availableReplicas: 1, currentReplicas: 2, readyReplicas: 1, replicas: 2, updatedReplicas: 2,
      observedGeneration: 3})"));
  EXPECT_EQ(aggregated(set, {})["observedGeneration"], Value{4});
}

std::string deployed(const std::string& progressing, const std::string& available = "True", int generation = 4) {
  return "{replicas: 1, updatedReplicas: 1, availableReplicas: 1, observedGeneration: 7, generation: 7, "
         "resourceTemplateGeneration: " +
         std::to_string(generation) + ", conditions: [{type: Available, status: '" + available +
         "'}, {type: Progressing, " + progressing + "}]}";
}
const std::string kDone = "status: 'True', reason: NewReplicaSetAvailable";
const std::string kMoving = "status: 'True', reason: ReplicaSetUpdated";
const std::string kStuck = "status: 'False', reason: ProgressDeadlineExceeded";

TEST(InterpreterConditions, ADeploymentIsAvailableOnceItIsInEveryCluster) {
  const Value web = object_of("apps/v1", "Deployment", "{conditions: [{type: Mine, status: 'True'}]}");
  const Value status = with_conditions(web, {deployed(kDone), deployed(kDone)});
  EXPECT_EQ(condition_text(status, "Available"), "True MinimumReplicasAvailable: Deployment has minimum availability.");
  EXPECT_EQ(condition_text(status, "Mine"), "True : ");
  EXPECT_EQ(condition_text(with_conditions(web, {deployed(kDone), deployed(kMoving, "False"), "null"}), "Available"),
            "False MinimumReplicasUnavailable: Deployment does not have minimum availability in member clusters m2, "
            "m3.");
  EXPECT_EQ(condition_text(with_conditions(web, {}), "Available"),
            "False MinimumReplicasUnavailable: Deployment is on no member cluster.");
  EXPECT_EQ(condition_text(with_conditions(web, {"{replicas: 2, availableReplicas: 2}"}), "Available").substr(0, 4),
            "True")
      << "a status collected by an earlier build has no conditions";
}

TEST(InterpreterConditions, ADeploymentProgressesUntilEveryClusterIsDone) {
  const Value web = object_of("apps/v1", "Deployment");
  const auto progress = [&](const std::vector<std::string>& statuses) {
    return condition_text(with_conditions(web, statuses), "Progressing");
  };
  EXPECT_EQ(progress({deployed(kDone), deployed(kDone)}),
            "True NewReplicaSetAvailable: Deployment has successfully progressed.");
  EXPECT_EQ(progress({deployed(kDone), deployed(kMoving)}), "True ReplicaSetUpdated: Deployment is progressing.");
  EXPECT_EQ(progress({deployed(kDone), "null"}), "True ReplicaSetUpdated: Deployment is progressing.");
  EXPECT_EQ(progress({deployed(kDone), deployed(kStuck, "False")}),
            "False ProgressDeadlineExceeded: Deployment has timed out progressing in member clusters m2.");
  EXPECT_EQ(progress({deployed(kDone), deployed(kStuck, "False", 3)}),
            "True ReplicaSetUpdated: Deployment is progressing.")
      << "a failure of an earlier generation is not one of this";
  const Value paused = object_of("apps/v1", "Deployment", "{}", "{paused: true}");
  EXPECT_EQ(condition_text(with_conditions(paused, {deployed(kDone)}), "Progressing"),
            "Unknown DeploymentPaused: Deployment is paused");
}

TEST(InterpreterConditions, TimesMoveOnlyWithWhatChanges) {
  const char* before = R"({conditions: [
      {type: Available, status: 'True', reason: MinimumReplicasAvailable, message: Deployment has minimum availability.,
       lastTransitionTime: '2020-01-01T00:00:00Z', lastUpdateTime: '2020-01-02T00:00:00Z'},
      {type: Progressing, status: 'True', reason: ReplicaSetUpdated, message: Deployment is progressing.,
       lastTransitionTime: '2020-01-01T00:00:00Z', lastUpdateTime: '2020-01-02T00:00:00Z'}]})";
  const Value status = with_conditions(object_of("apps/v1", "Deployment", before), {deployed(kDone)});
  const Value& available = status["conditions"][0];
  EXPECT_EQ(available["lastTransitionTime"].str(), "2020-01-01T00:00:00Z");
  EXPECT_EQ(available["lastUpdateTime"].str(), "2020-01-02T00:00:00Z");
  const Value& progressing = status["conditions"][1];
  EXPECT_EQ(progressing["lastTransitionTime"].str(), "2020-01-01T00:00:00Z") << "its status has not changed";
  EXPECT_EQ(progressing["lastUpdateTime"].str(), rfc3339(kNoon));
}

TEST(InterpreterConditions, AStatefulSetObservesGenerationsAndRevisions) {
  const auto member = [](const std::string& current, const std::string& update, int generation) {
    return "{replicas: 1, observedGeneration: 2, generation: 2, resourceTemplateGeneration: " +
           std::to_string(generation) + ", currentRevision: " + current + ", updateRevision: " + update + "}";
  };
  const Value set = object_of("apps/v1", "StatefulSet", "{observedGeneration: 3, currentRevision: x-old}");
  const Value moving = with_conditions(set, {member("a", "b", 4), member("b", "b", 4)});
  EXPECT_EQ(moving["observedGeneration"], Value{4});
  EXPECT_EQ(moving["currentRevision"].str(), "x-old");
  EXPECT_TRUE(moving["updateRevision"].as_string().starts_with("x-"));
  EXPECT_NE(moving["updateRevision"], moving["currentRevision"]);
  const Value done = with_conditions(set, {member("b", "b", 4), member("c", "c", 4)});
  EXPECT_EQ(done["currentRevision"], done["updateRevision"]);
  const Value behind = with_conditions(set, {member("b", "b", 4), member("a", "a", 3)});
  EXPECT_EQ(behind["observedGeneration"], Value{3});
  EXPECT_EQ(behind["currentRevision"].str(), "x-old");
}

TEST(InterpreterConditions, APodIsReadyOnceItIsInEveryCluster) {
  const Value pod = object_of("v1", "Pod");
  const std::string up = "{phase: Running, conditions: [{type: Ready, status: 'True'}]}";
  EXPECT_EQ(condition_text(with_conditions(pod, {up, up}), "Ready"), "True : ");
  EXPECT_EQ(condition_text(
                with_conditions(pod, {up, "{conditions: [{type: Ready, status: 'False', reason: R, message: why}]}"}),
                "Ready"),
            "False R: m2: why");
  EXPECT_EQ(condition_text(with_conditions(pod, {up, "null"}), "Ready"),
            "Unknown NotReported: no status of member cluster m2");
}

TEST(InterpreterConditions, AnAutoscalerIsLimitedWhenOneClusterLimitsIt) {
  const Value scaler = object_of("autoscaling/v2", "HorizontalPodAutoscaler");
  const std::string able =
      "{desiredReplicas: 1, conditions: [{type: AbleToScale, status: 'True', reason: A, message: mm},"
      " {type: ScalingLimited, status: 'False', reason: F, message: fine}]}";
  const std::string limited =
      "{conditions: [{type: AbleToScale, status: 'False', reason: B, message: o},"
      " {type: ScalingLimited, status: 'True', reason: T, message: p}]}";
  EXPECT_EQ(condition_text(with_conditions(scaler, {able, able}), "AbleToScale"), "True A: mm");
  EXPECT_EQ(condition_text(with_conditions(scaler, {able, "null"}), "ScalingLimited"), "False F: fine");
  EXPECT_EQ(condition_text(with_conditions(scaler, {able, limited}), "AbleToScale"), "False B: m2: o");
  EXPECT_EQ(condition_text(with_conditions(scaler, {able, limited}), "ScalingLimited"), "True T: m2: p");
}

TEST(InterpreterConditions, ABudgetAllowsDisruptionsWhenAllClustersDo) {
  const Value budget = object_of("policy/v1", "PodDisruptionBudget");
  const std::string allowed =
      "{disruptionsAllowed: 1, conditions: [{type: DisruptionAllowed, status: 'True', reason: SufficientPods}]}";
  const std::string refused = "{conditions: [{type: DisruptionAllowed, status: 'False', reason: InsufficientPods}]}";
  EXPECT_EQ(condition_text(with_conditions(budget, {allowed, allowed}), "DisruptionAllowed"), "True SufficientPods: ");
  EXPECT_EQ(condition_text(with_conditions(budget, {allowed, refused}), "DisruptionAllowed"),
            "False InsufficientPods: m2");
  EXPECT_TRUE(with_conditions(budget, {"{disruptionsAllowed: 1}"})["conditions"].is_null());
}

TEST(InterpreterAggregate, DaemonSetAndReplicaSetSum_T_18) {
  EXPECT_EQ(
      aggregated(object_of("apps/v1", "DaemonSet"),
                 {R"({currentNumberScheduled: 1, desiredNumberScheduled: 2, numberAvailable: 3, numberMisscheduled: 4,
                            numberReady: 5, updatedNumberScheduled: 6, numberUnavailable: 7, generation: 1})",
                  "{currentNumberScheduled: 1, numberUnavailable: 1, generation: 1}"}),
      yaml(R"({currentNumberScheduled: 2, desiredNumberScheduled: 2, numberAvailable: 3, numberMisscheduled: 4,
                     numberReady: 5, updatedNumberScheduled: 6, numberUnavailable: 8})"));
  EXPECT_EQ(aggregated(object_of("apps/v1", "ReplicaSet"),
                       {"{replicas: 2, readyReplicas: 1, availableReplicas: 1, generation: 1}",
                        "{replicas: 1, generation: 1}"}),
            yaml("{replicas: 3, readyReplicas: 1, availableReplicas: 1}"));
}

TEST(InterpreterAggregate, LoadBalancersAreUnitedAndSorted_T_18) {
  const Value service = object_of("v1", "Service", "{conditions: [1]}", "{type: LoadBalancer}");
  EXPECT_EQ(
      aggregated(service,
                 {"{loadBalancer: {ingress: [{ip: 9.9.9.9}, {hostname: b, ports: [{port: 1}]}]}}",
                  "{loadBalancer: {ingress: [{hostname: b, ports: [{port: 1}, {port: 2}]}, {hostname: a}]}}", "null"}),
      yaml(
          R"({loadBalancer: {ingress: [{hostname: a}, {hostname: b, ports: [{port: 1}, {port: 2}]}, {ip: 9.9.9.9}]}})"));
  EXPECT_FALSE(
      native::aggregate_status(object_of("v1", "Service"), Value::array(), kNoon, native::Conditions::kNone).value())
      << "its status is unchanged";
  EXPECT_EQ(aggregated(object_of("networking.k8s.io/v1", "Ingress"),
                       {"{loadBalancer: {ingress: [{ip: 2.2.2.2}]}}",
                        "{loadBalancer: {ingress: [{ip: 1.1.1.1}, {ip: 2.2.2.2}]}}"}),
            yaml("{loadBalancer: {ingress: [{ip: 1.1.1.1}, {ip: 2.2.2.2}]}}"));
}

const std::string kComplete =
    R"({succeeded: 1, startTime: "2026-01-01T02:00:00Z", completionTime: "2026-01-01T03:00:00Z",
    conditions: [{type: SuccessCriteriaMet, status: "True"}, {type: Complete, status: "True"}]})";

// Compared each with each, the ports that a member reports would take seconds each time.
TEST(InterpreterAggregate, ThousandsOfPortsTakeNoLonger_T_18) {
  Value ports = Value::array();
  for (int64_t port = 1; port <= 12'000; ++port) ports.push_back(Value::object({{"port", port}, {"protocol", "TCP"}}));
  const auto reported = [](Value some) {
    const Value point = Value::object({{"ip", "9.9.9.9"}, {"ports", std::move(some)}});
    return Value::object({{"loadBalancer", Value::object({{"ingress", Value::array({point})}})}});
  };
  const Value items =
      Value::array({Value::object({{"clusterName", "m1"}, {"status", reported(Value::array({ports[0]}))}}),
                    Value::object({{"clusterName", "m2"}, {"status", reported(ports)}})});
  const auto united = native::aggregate_status(object_of("v1", "Service", "{}", "{type: LoadBalancer}"), items, kNoon,
                                               native::Conditions::kNone);
  ASSERT_TRUE(united) << united.error().message;
  EXPECT_EQ((*united.value())["loadBalancer"]["ingress"][0]["ports"], ports);
}

TEST(InterpreterAggregate, JobCompletesWithAll_T_18) {
  const Value job = object_of("batch/v1", "Job", "{uncountedTerminatedPods: {}}");
  const Value done = aggregated(job, {kComplete, R"({succeeded: 2, failed: 1, startTime: "2026-01-01T01:00:00Z",
      completionTime: "2026-01-01T04:00:00Z", conditions: [{type: Complete, status: "True"}]})"});
  EXPECT_EQ(done,
            yaml(R"({succeeded: 3, failed: 1, startTime: "2026-01-01T01:00:00Z", completionTime: "2026-01-01T04:00:00Z",
      conditions: [{type: Complete, status: "True", reason: Completed, message: Job completed,
                    lastProbeTime: "2026-01-01T12:00:00Z", lastTransitionTime: "2026-01-01T12:00:00Z"}]})"));
  const Value met = aggregated(job, {kComplete, kComplete});
  EXPECT_EQ(met["conditions"][1]["type"], "SuccessCriteriaMet");
  EXPECT_EQ(met["conditions"][1]["reason"], "CompletionsReached");
  EXPECT_EQ(met["conditions"][1]["message"], "All member clusters have met success criteria");
}

TEST(InterpreterAggregate, JobFailsWithOneAndIsThenFrozen_T_18) {
  Value job = object_of("batch/v1", "Job");
  const Value failed =
      aggregated(job, {kComplete, "{failed: 1, conditions: [{type: Failed, status: 'True'}]}", "null"});
  EXPECT_EQ(failed["conditions"].size(), 1U);
  EXPECT_EQ(failed["conditions"][0]["reason"], "JobFailed");
  EXPECT_EQ(failed["conditions"][0]["message"], "Job executed failed in member clusters m2");
  job.set("status", failed);
  EXPECT_EQ(aggregated(job, {kComplete, kComplete}), failed);
}

TEST(InterpreterAggregate, JobIsNotCompleteWhileAClusterHasNoStatus_T_18) {
  const Value running = aggregated(object_of("batch/v1", "Job", "{startTime: then}"), {kComplete, "null"});
  EXPECT_EQ(running, yaml("{succeeded: 1, startTime: then}"));
  EXPECT_EQ(aggregated(object_of("batch/v1", "Job"), {}), yaml("{}"));
}

TEST(InterpreterAggregate, CronJobTakesTheLatest_T_18) {  // T-12
  EXPECT_EQ(
      aggregated(
          object_of("batch/v1", "CronJob"),
          {R"({active: [{name: a}], lastScheduleTime: "2026-01-01T02:00:00Z"})", "null",
           R"({active: [{name: b}], lastScheduleTime: "2026-01-01T01:00:00Z", lastSuccessfulTime: "2026-01-01T01:30:00Z"})"}),
      yaml(R"({active: [{name: a}, {name: b}], lastScheduleTime: "2026-01-01T02:00:00Z",
                     lastSuccessfulTime: "2026-01-01T01:30:00Z"})"));
}

TEST(InterpreterAggregate, PodTakesTheWorstPhase_T_18) {
  const Value pod = object_of("v1", "Pod", "{phase: Running, hostIP: 1.1.1.1}");
  const auto phase = [&](const std::vector<std::string>& statuses) { return aggregated(pod, statuses)["phase"].str(); };
  EXPECT_EQ(phase({"{phase: Running}", "{phase: Failed}", "null"}), "Failed");
  EXPECT_EQ(phase({"{phase: Running}", "null"}), "Pending");
  EXPECT_EQ(phase({"{phase: Running}", "{phase: Succeeded}"}), "Running");
  EXPECT_EQ(phase({"{phase: Succeeded}"}), "Succeeded");
  EXPECT_EQ(
      aggregated(pod,
                 {"{phase: Running, containerStatuses: [{name: a, ready: true, state: {running: {}}}]}",
                  "{phase: Running, containerStatuses: [{name: a}], initContainerStatuses: [{name: i, ready: true}]}"}),
      yaml(R"({phase: Running, containerStatuses: [{ready: true, state: {running: {}}}, {ready: false}],
                     initContainerStatuses: [{ready: true}]})"));
  EXPECT_EQ(aggregated(pod, {}), pod["status"]);
}

TEST(InterpreterAggregate, VolumesAndClaims_T_18) {
  const auto volume = [](const std::vector<std::string>& statuses) {
    return aggregated(object_of("v1", "PersistentVolume"), statuses)["phase"].str();
  };
  EXPECT_EQ(volume({"{phase: Bound}", "{phase: Failed}"}), "Failed");
  EXPECT_EQ(volume({"{phase: Bound}", "null"}), "Pending");
  EXPECT_EQ(volume({"{phase: Released}", "{phase: Bound}"}), "Bound");
  const auto claim = [](const std::vector<std::string>& statuses) {
    return aggregated(object_of("v1", "PersistentVolumeClaim"), statuses)["phase"].str();
  };
  EXPECT_EQ(claim({"{phase: Bound}", "null"}), "Bound");
  EXPECT_EQ(claim({"{phase: Pending}", "{phase: Bound}"}), "Pending");
  EXPECT_EQ(claim({"{phase: Lost}", "{phase: Pending}"}), "Lost");
}

TEST(InterpreterAggregate, BudgetsAndAutoscalers_T_18) {
  EXPECT_EQ(aggregated(object_of("policy/v1", "PodDisruptionBudget", "{disruptedPods: {gone: t}}"),
                       {"{currentHealthy: 1, desiredHealthy: 2, expectedPods: 3, disruptionsAllowed: 0, disruptedPods: "
                        "{p: '2026-01-01T01:00:00Z'}}",
                        "{currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, disruptionsAllowed: 1}"}),
            yaml("{currentHealthy: 2, desiredHealthy: 3, expectedPods: 4, disruptionsAllowed: 1, disruptedPods: {m1/p: "
                 "'2026-01-01T01:00:00Z'}}"));
  EXPECT_EQ(aggregated(object_of("autoscaling/v2", "HorizontalPodAutoscaler", "{conditions: [1]}"),
                       {"{currentReplicas: 1, desiredReplicas: 2}", "{currentReplicas: 1, desiredReplicas: 1}"}),
            yaml("{currentReplicas: 2, desiredReplicas: 3}"));
}

TEST(InterpreterAggregate, OtherKindsKeepTheirStatus_T_15) {
  EXPECT_FALSE(native::aggregate_status(yaml("{apiVersion: v1, kind: ConfigMap}"), items_of({"{a: 1}"}), kNoon,
                                        native::Conditions::kNone)
                   .value());
  EXPECT_FALSE(native::aggregate_status(yaml("{apiVersion: example.com/v1, kind: Thing}"), items_of({"{a: 1}"}), kNoon,
                                        native::Conditions::kNone)
                   .value());
}

}  // namespace
}  // namespace shiplog::interpreter
