#include "services/interpreter/native/native.h"
#include "tests/support/interpreting.h"

namespace shiplog::interpreter {
namespace {

using testing::yaml;

std::optional<Replicas> replicas_of(std::string_view text) { return native::replicas(yaml(text)).value(); }

TEST(InterpreterReplicas, AddsContainersAndTakesTheLargestInitContainer_L_6) {
  const auto replicas = replicas_of(R"(
    {apiVersion: apps/v1, kind: Deployment, spec: {replicas: 2, template: {spec: {
      nodeSelector: {disk: ssd}, overhead: {cpu: 50m},
      containers: [{name: a, resources: {requests: {cpu: 100m, memory: 64Mi, pods: "1"}}},
                   {name: b, resources: {limits: {cpu: 200m, example.com/gpu: 1}}}],
      initContainers: [{name: i, resources: {requests: {cpu: 250m, memory: 1Gi}}}]}}}})");
  EXPECT_EQ(replicas->count, 2);
  EXPECT_EQ(replicas->requirements, yaml(R"({nodeClaim: {nodeSelector: {disk: ssd}},
      resourceRequest: {cpu: 350m, memory: 1Gi, example.com/gpu: "1"}})"));
}

TEST(InterpreterReplicas, NodeClaimHasSelectorTolerationsAndRequiredAffinity_L_6) {
  const auto replicas = replicas_of(R"(
    {apiVersion: v1, kind: Pod, spec: {tolerations: [{key: a, operator: Exists}], affinity: {nodeAffinity:
      {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: z, operator: Exists}]}]},
       preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1}]}}}})");
  EXPECT_EQ(replicas->requirements, yaml(R"({nodeClaim: {tolerations: [{key: a, operator: Exists}],
      hardNodeAffinity: {nodeSelectorTerms: [{matchExpressions: [{key: z, operator: Exists}]}]}}})"));
}

TEST(InterpreterReplicas, CountsByKind_L_5) {  // L-4
  EXPECT_EQ(replicas_of("{apiVersion: apps/v1, kind: StatefulSet, spec: {}}")->count, 0);
  EXPECT_EQ(replicas_of("{apiVersion: apps/v1, kind: ReplicaSet, spec: {replicas: 4}}")->count, 4);
  EXPECT_EQ(replicas_of("{apiVersion: v1, kind: Pod, spec: {}}")->count, 1);
  const auto job = [](const std::string& spec) {
    return replicas_of("{apiVersion: batch/v1, kind: Job, spec: " + spec + "}")->count;
  };
  EXPECT_EQ(job("{parallelism: 5, completions: 3}"), 3);
  EXPECT_EQ(job("{parallelism: 5}"), 5);
  EXPECT_EQ(job("{completions: 5}"), 0);
  EXPECT_TRUE(replicas_of("{apiVersion: v1, kind: Pod, spec: {}}")->requirements.is_null());
  for (const char* none :
       {"{apiVersion: v1, kind: ConfigMap}", "{apiVersion: apps/v1, kind: DaemonSet}",
        "{apiVersion: batch/v1, kind: CronJob}", "{apiVersion: extensions/v1beta1, kind: Deployment}"}) {
    EXPECT_FALSE(replicas_of(none)) << none;
  }
}

/// R replicas, V revision, T retention, A aggregation, H health, D dependencies.
TEST(InterpreterReplicas, NativeOperationsAreThoseOfTheTable_L_4) {
  const auto offered = [](const std::string& api_version, const std::string& kind) {
    const Value object = yaml("{apiVersion: " + api_version + ", kind: " + kind +
                              ", metadata: {name: x, namespace: ns}, spec: {type: LoadBalancer, replicas: 1}}");
    std::string letters;
    if (native::replicas(object).value()) letters += 'R';
    if (native::revise_replica(object, 2)) letters += 'V';
    if (native::retain(object, object).value()) letters += 'T';
    if (native::aggregate_status(object, Value::array(), testing::kNoon, native::Conditions::kNone).value())
      letters += 'A';
    if (native::health(object)) letters += 'H';
    if (native::dependencies(object)) letters += 'D';
    return letters;
  };
  EXPECT_EQ(offered("apps/v1", "Deployment"), "RVTAHD");
  EXPECT_EQ(offered("apps/v1", "ReplicaSet"), "RVAHD");
  EXPECT_EQ(offered("apps/v1", "StatefulSet"), "RVAHD");
  EXPECT_EQ(offered("apps/v1", "DaemonSet"), "AHD");
  EXPECT_EQ(offered("batch/v1", "Job"), "RVTAD");
  EXPECT_EQ(offered("batch/v1", "CronJob"), "AD");
  EXPECT_EQ(offered("v1", "Pod"), "RTAHD");
  EXPECT_EQ(offered("v1", "Service"), "TAH");
  EXPECT_EQ(offered("v1", "ServiceAccount"), "T");
  EXPECT_EQ(offered("v1", "Secret"), "T");
  EXPECT_EQ(offered("v1", "PersistentVolume"), "TA");
  EXPECT_EQ(offered("v1", "PersistentVolumeClaim"), "TAH");
  EXPECT_EQ(offered("networking.k8s.io/v1", "Ingress"), "AHD");
  EXPECT_EQ(offered("policy/v1", "PodDisruptionBudget"), "AH");
  EXPECT_EQ(offered("autoscaling/v2", "HorizontalPodAutoscaler"), "A");
  EXPECT_EQ(offered("multicluster.x-k8s.io/v1alpha1", "ServiceImport"), "D");
  EXPECT_EQ(offered("v1", "ConfigMap"), "");
  EXPECT_EQ(offered("example.com/v1", "Deployment"), "");
}

TEST(InterpreterReplicas, APriorityClassAloneIsNoRequirement_L_6) {
  const auto requirements = [](const char* spec) {
    return native::pod_requirements(yaml(spec), native::PriorityClass::kNamed).value();
  };
  EXPECT_TRUE(requirements("{priorityClassName: high}").is_null());
  EXPECT_EQ(requirements("{priorityClassName: high, nodeSelector: {a: b}}"),
            yaml("{nodeClaim: {nodeSelector: {a: b}}, priorityClassName: high}"));
  EXPECT_EQ(requirements("{priorityClassName: '', nodeSelector: {a: b}}"), yaml("{nodeClaim: {nodeSelector: {a: b}}}"));
}

TEST(InterpreterReplicas, NamesTheContainerWhoseAmountDoesNotParse_L_6) {
  const auto replicas = native::replicas(
      yaml("{apiVersion: v1, kind: Pod, spec: {containers: [{name: c, resources: {requests: {cpu: lots}}}]}}"));
  ASSERT_FALSE(replicas);
  EXPECT_NE(replicas.error().message.find("container c, resources.requests.cpu"), std::string::npos)
      << replicas.error().message;
}

TEST(InterpreterRevise, SetsTheReplicasField_L_4) {  // B-9
  const auto revised = [](const char* text) { return native::revise_replica(yaml(text), 7); };
  for (const char* kind : {"Deployment", "ReplicaSet", "StatefulSet"}) {
    const std::string text = std::string{"{apiVersion: apps/v1, kind: "} + kind + ", spec: {replicas: 2}}";
    EXPECT_EQ((*revised(text.c_str()))["spec"], yaml("{replicas: 7}")) << kind;
  }
  EXPECT_EQ((*revised("{apiVersion: batch/v1, kind: Job, spec: {parallelism: 1, completions: 3}}"))["spec"],
            yaml("{parallelism: 7, completions: 3}"));
  EXPECT_EQ((*revised("{apiVersion: apps/v1, kind: Deployment, spec: {}}"))["spec"], yaml("{}"))
      << "a field that the template does not have is not added";
  EXPECT_FALSE(revised("{apiVersion: v1, kind: Pod, spec: {}}"));
  EXPECT_FALSE(revised("{apiVersion: apps/v1, kind: DaemonSet, spec: {}}"));
}

}  // namespace
}  // namespace shiplog::interpreter
