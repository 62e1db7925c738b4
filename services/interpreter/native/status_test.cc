#include "services/interpreter/native/native.h"
#include "tests/support/interpreting.h"

namespace shiplog::interpreter {
namespace {

using testing::yaml;

/// A member's object of generation 4, written from generation 3 of its template.
Value reported_object(const std::string& api_version, const std::string& kind, const std::string& status,
                      const std::string& spec = "{}") {
  return yaml(
      "{apiVersion: " + api_version + ", kind: " + kind +
      ", metadata: {name: x, generation: 4, annotations: {resourcetemplate.karmada.io/generation: '3'}}, spec: " +
      spec + ", status: " + status + "}");
}
Value reflected(const std::string& api_version, const std::string& kind, const std::string& status,
                const std::string& spec = "{}") {
  return native::reflect_status(reported_object(api_version, kind, status, spec)).value();
}
bool healthy(const std::string& api_version, const std::string& kind, const std::string& status,
             const std::string& spec = "{}") {
  return native::health(reported_object(api_version, kind, status, spec)).value();
}

TEST(InterpreterStatus, WorkloadsCarryBothGenerations_T_5) {
  EXPECT_EQ(
      reflected("apps/v1", "Deployment", R"({replicas: 2, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1,
      unavailableReplicas: 1, observedGeneration: 4, collisionCount: 9,
      conditions: [{type: Available, status: 'True', lastUpdateTime: t, lastTransitionTime: u}, {type: Mine}]})"),
      yaml(R"({replicas: 2, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1, unavailableReplicas: 1,
      observedGeneration: 4, generation: 4, resourceTemplateGeneration: 3,
      conditions: [{type: Available, status: 'True', lastTransitionTime: u}]})"));
  EXPECT_EQ(reflected("apps/v1", "ReplicaSet", "{replicas: 0, observedGeneration: 4, fullyLabeledReplicas: 2}"),
            yaml("{replicas: 0, observedGeneration: 4, generation: 4, resourceTemplateGeneration: 3}"));
  EXPECT_EQ(reflected("apps/v1", "DaemonSet", "{desiredNumberScheduled: 3, numberAvailable: 2, observedGeneration: 4}"),
            yaml(R"({currentNumberScheduled: 0, desiredNumberScheduled: 3, numberAvailable: 2, numberMisscheduled: 0,
      numberReady: 0, observedGeneration: 4, generation: 4, resourceTemplateGeneration: 3})"));
  EXPECT_EQ(reflected("apps/v1", "StatefulSet",
                      "{replicas: 2, currentReplicas: 1, observedGeneration: 4, updateRevision: r}"),
            yaml(R"({replicas: 2, currentReplicas: 1, availableReplicas: 0, observedGeneration: 4, updateRevision: r,
      generation: 4, resourceTemplateGeneration: 3})"))
      << "unlike upstream with its observedGeneration";
}

TEST(InterpreterStatus, WithoutTheTemplatesGenerationThereIsNone_T_5) {
  for (const char* kind : {"Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"}) {
    Value object = reported_object("apps/v1", kind, "{replicas: 1, desiredNumberScheduled: 1}");
    object.edit("metadata").edit("annotations").set("resourcetemplate.karmada.io/generation", "three");
    const auto status = native::reflect_status(object);
    ASSERT_FALSE(status) << kind;
    EXPECT_NE(status.error().message.find("\"three\", not a whole number"), std::string::npos)
        << status.error().message;
  }
}

TEST(InterpreterStatus, AnEmptyResultIsNoStatus_T_17) {
  for (const char* kind : {"Deployment", "ReplicaSet"}) EXPECT_TRUE(reflected("apps/v1", kind, "{}").is_null()) << kind;
  EXPECT_TRUE(reflected("v1", "ConfigMap", "null").is_null());
}

TEST(InterpreterStatus, OtherKinds_T_17) {
  EXPECT_EQ(reflected("batch/v1", "Job",
                      "{active: 1, ready: 1, startTime: '2026-01-01T01:00:00Z', conditions: [{type: Complete}]}"),
            yaml("{active: 1, startTime: '2026-01-01T01:00:00Z', conditions: [{type: Complete}]}"));
  const char* balanced = "{loadBalancer: {ingress: [{ip: 1.2.3.4}]}, conditions: [1]}";
  EXPECT_TRUE(reflected("v1", "Service", balanced, "{type: ClusterIP}").is_null());
  EXPECT_EQ(reflected("v1", "Service", balanced, "{type: LoadBalancer}"),
            yaml("{loadBalancer: {ingress: [{ip: 1.2.3.4}]}}"));
  EXPECT_EQ(reflected("policy/v1", "PodDisruptionBudget",
                      "{expectedPods: 3, disruptedPods: {a: '2026-01-01T01:00:00Z'}, conditions: [{type: Mine}, "
                      "{type: DisruptionAllowed}]}"),
            yaml("{expectedPods: 3, disruptedPods: {a: '2026-01-01T01:00:00Z'}, disruptionsAllowed: 0, desiredHealthy: "
                 "0, currentHealthy: 0, conditions: [{type: DisruptionAllowed}]}"));
  EXPECT_EQ(reflected("autoscaling/v2", "HorizontalPodAutoscaler",
                      "{currentReplicas: 3, desiredReplicas: 0, conditions: [{type: AbleToScale}, {type: Mine}]}"),
            yaml("{currentReplicas: 3, desiredReplicas: 0, conditions: [{type: AbleToScale}]}"));
}

TEST(InterpreterStatus, AnyOtherKindGivesItsWholeStatus_L_3) {  // T-3, T-17
  EXPECT_EQ(reflected("networking.k8s.io/v1", "Ingress", "{loadBalancer: {}}"), yaml("{loadBalancer: {}}"));
  EXPECT_EQ(reflected("v1", "PersistentVolumeClaim", "{phase: Bound, extra: 1}"), yaml("{phase: Bound, extra: 1}"));
  EXPECT_EQ(reflected("example.com/v1", "Thing", "{any: [1]}"), yaml("{any: [1]}"));
}

TEST(InterpreterHealth, DeploymentsAndStatefulSets_T_17) {
  for (const char* kind : {"Deployment", "StatefulSet"}) {
    EXPECT_TRUE(
        healthy("apps/v1", kind, "{observedGeneration: 4, updatedReplicas: 2, availableReplicas: 2}", "{replicas: 2}"));
    EXPECT_FALSE(
        healthy("apps/v1", kind, "{observedGeneration: 3, updatedReplicas: 2, availableReplicas: 2}", "{replicas: 2}"));
    EXPECT_FALSE(
        healthy("apps/v1", kind, "{observedGeneration: 4, updatedReplicas: 1, availableReplicas: 2}", "{replicas: 2}"));
    EXPECT_FALSE(
        healthy("apps/v1", kind, "{observedGeneration: 4, updatedReplicas: 2, availableReplicas: 1}", "{replicas: 2}"));
    EXPECT_TRUE(healthy("apps/v1", kind, "{observedGeneration: 4}")) << "spec.replicas is not set";
  }
}

TEST(InterpreterHealth, ReplicaSetsAndDaemonSets_T_17) {
  EXPECT_TRUE(healthy("apps/v1", "ReplicaSet", "{observedGeneration: 4, availableReplicas: 2}", "{replicas: 2}"));
  EXPECT_FALSE(healthy("apps/v1", "ReplicaSet", "{observedGeneration: 4, availableReplicas: 1}", "{replicas: 2}"));
  EXPECT_FALSE(healthy("apps/v1", "ReplicaSet", "{observedGeneration: 3, availableReplicas: 2}", "{replicas: 2}"));
  const char* good =
      "{observedGeneration: 4, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2}";
  const char* updating =
      "{observedGeneration: 4, desiredNumberScheduled: 2, updatedNumberScheduled: 1, numberAvailable: 2}";
  const char* starting =
      "{observedGeneration: 4, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 1}";
  EXPECT_TRUE(healthy("apps/v1", "DaemonSet", good));
  EXPECT_FALSE(healthy("apps/v1", "DaemonSet", updating));
  EXPECT_FALSE(healthy("apps/v1", "DaemonSet", starting));
}

TEST(InterpreterHealth, AddressesPhasesAndBudgets_T_17) {
  EXPECT_TRUE(healthy("v1", "Service", "{}", "{type: ClusterIP}"));
  EXPECT_FALSE(healthy("v1", "Service", "{loadBalancer: {ingress: [{ports: []}]}}", "{type: LoadBalancer}"));
  EXPECT_TRUE(healthy("v1", "Service", "{loadBalancer: {ingress: [{hostname: h}]}}", "{type: LoadBalancer}"));
  EXPECT_FALSE(healthy("networking.k8s.io/v1", "Ingress", "{}"));
  EXPECT_TRUE(healthy("networking.k8s.io/v1", "Ingress", "{loadBalancer: {ingress: [{ip: 1.2.3.4}]}}"));
  EXPECT_TRUE(healthy("v1", "PersistentVolumeClaim", "{phase: Bound}"));
  EXPECT_FALSE(healthy("v1", "PersistentVolumeClaim", "{phase: Pending}"));
  EXPECT_TRUE(healthy("v1", "Pod", "{phase: Succeeded}"));
  EXPECT_TRUE(healthy("v1", "Pod", "{phase: Running, conditions: [{type: Ready, status: 'True'}]}"));
  EXPECT_FALSE(healthy("v1", "Pod", "{phase: Running, conditions: [{type: Ready, status: 'False'}]}"));
  EXPECT_FALSE(healthy("v1", "Pod", "{phase: Pending, conditions: [{type: Ready, status: 'True'}]}"));
  EXPECT_TRUE(healthy("policy/v1", "PodDisruptionBudget", "{currentHealthy: 2, desiredHealthy: 2}"));
  EXPECT_FALSE(healthy("policy/v1", "PodDisruptionBudget", "{currentHealthy: 1, desiredHealthy: 2}"));
}

TEST(InterpreterHealth, KindsWithoutARule_T_4) {  // L-4, T-17, TRAP-14
  for (const char* kind : {"batch/v1, kind: Job", "batch/v1, kind: CronJob", "v1, kind: PersistentVolume",
                           "v1, kind: ConfigMap", "autoscaling/v2, kind: HorizontalPodAutoscaler"}) {
    EXPECT_FALSE(native::health(yaml(std::string{"{apiVersion: "} + kind + "}"))) << kind;
  }
}

}  // namespace
}  // namespace shiplog::interpreter
