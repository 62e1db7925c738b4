#include "services/runtime/interpreter/native/native.h"
#include "services/runtime/interpreter/test_support.h"

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

TEST(InterpreterReplicas, CountsByKind_L_5) {
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

TEST(InterpreterReplicas, NamesTheContainerWhoseAmountDoesNotParse_L_6) {
  const auto replicas = native::replicas(
      yaml("{apiVersion: v1, kind: Pod, spec: {containers: [{name: c, resources: {requests: {cpu: lots}}}]}}"));
  ASSERT_FALSE(replicas);
  EXPECT_NE(replicas.error().message.find("container c, resources.requests.cpu"), std::string::npos)
      << replicas.error().message;
}

TEST(InterpreterRevise, SetsTheFieldThatCounts_L_4) {
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
