#include "services/interpreter/native/native.h"
#include "tests/support/interpreting.h"

namespace shiplog::interpreter {
namespace {

using testing::kNoon;
using testing::yaml;

const State kEmptyState;

std::string listed(std::string_view text) {
  const auto found = dependencies(kEmptyState, yaml(text), kNoon);
  if (!found) return found.error().message;
  if (!found.value()) return "no rule";
  std::string line;
  for (const Dependency& dependency : *found.value()) {
    line += (line.empty() ? "" : " ") + dependency.kind + ":" + dependency.ns + "/" + dependency.name;
    if (!dependency.label_selector.is_null()) line += to_json(dependency.label_selector);
  }
  return line;
}

constexpr const char* kPodSpec = R"({
  serviceAccountName: runner,
  imagePullSecrets: [{name: pull}],
  initContainers: [{name: i, envFrom: [{configMapRef: {name: cm-init}}, {secretRef: {name: s-init, optional: true}}]}],
  containers: [{name: c, env: [{name: A, valueFrom: {configMapKeyRef: {name: cm-env, key: a}}},
                               {name: B, valueFrom: {secretKeyRef: {name: s-env, key: b}}}, {name: C, value: x}]}],
  ephemeralContainers: [{name: e, envFrom: [{configMapRef: {name: cm-debug}}]}],
  volumes: [{name: a, configMap: {name: cm-volume}}, {name: b, secret: {secretName: s-volume}},
            {name: c, projected: {sources: [{configMap: {name: cm-projected}}, {secret: {name: s-projected}}]}},
            {name: d, azureFile: {secretName: s-azure}}, {name: e, cephfs: {secretRef: {name: s-ceph}}},
            {name: f, cinder: {secretRef: {name: s-cinder}}}, {name: g, flexVolume: {secretRef: {name: s-flex}}},
            {name: h, rbd: {secretRef: {name: s-rbd}}}, {name: i, scaleIO: {secretRef: {name: s-scaleio}}},
            {name: j, iscsi: {secretRef: {name: s-iscsi}}}, {name: k, storageos: {secretRef: {name: s-storageos}}},
            {name: l, csi: {nodePublishSecretRef: {name: s-csi}}}, {name: m, persistentVolumeClaim: {claimName: data}},
            {name: n, emptyDir: {}}]})";

constexpr const char* kAll =
    "ConfigMap:ns/cm-debug ConfigMap:ns/cm-env ConfigMap:ns/cm-init ConfigMap:ns/cm-projected ConfigMap:ns/cm-volume "
    "Secret:ns/pull Secret:ns/s-azure Secret:ns/s-ceph Secret:ns/s-cinder Secret:ns/s-csi Secret:ns/s-env "
    "Secret:ns/s-flex Secret:ns/s-init Secret:ns/s-iscsi Secret:ns/s-projected Secret:ns/s-rbd Secret:ns/s-scaleio "
    "Secret:ns/s-storageos Secret:ns/s-volume ServiceAccount:ns/runner PersistentVolumeClaim:ns/data";

TEST(InterpreterDependencies, EveryReferenceOfAPodTemplate_B_30) {
  const std::string templated = std::string{"{template: {spec: "} + kPodSpec + "}}";
  for (const char* kind : {"apps/v1, kind: Deployment", "apps/v1, kind: ReplicaSet", "apps/v1, kind: DaemonSet",
                           "apps/v1, kind: StatefulSet", "batch/v1, kind: Job"}) {
    EXPECT_EQ(
        listed(std::string{"{apiVersion: "} + kind + ", metadata: {name: x, namespace: ns}, spec: " + templated + "}"),
        kAll)
        << kind;
  }
  EXPECT_EQ(
      listed("{apiVersion: batch/v1, kind: CronJob, metadata: {name: x, namespace: ns}, spec: {jobTemplate: {spec: " +
             templated + "}}}"),
      kAll);
  EXPECT_EQ(
      listed(std::string{"{apiVersion: v1, kind: Pod, metadata: {name: x, namespace: ns}, spec: "} + kPodSpec + "}"),
      kAll);
}

TEST(InterpreterDependencies, TheDefaultServiceAccountIsNone_B_30) {
  EXPECT_EQ(listed("{apiVersion: v1, kind: Pod, metadata: {namespace: ns}, spec: {serviceAccountName: default}}"), "");
}

TEST(InterpreterDependencies, StatefulSetsOwnClaimsAreLeftOut_B_30) {
  EXPECT_EQ(listed(R"({apiVersion: apps/v1, kind: StatefulSet, metadata: {namespace: ns}, spec: {
      volumeClaimTemplates: [{metadata: {name: data}}], template: {spec: {volumes: [
        {name: data, persistentVolumeClaim: {claimName: data}}, {name: more, persistentVolumeClaim: {claimName: more}}]}}}})"),
            "PersistentVolumeClaim:ns/more");
}

TEST(InterpreterDependencies, IngressNeedsItsCertificates_B_30) {
  EXPECT_EQ(listed(R"({apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {namespace: ns},
      spec: {tls: [{secretName: b}, {secretName: a}, {hosts: [x]}]}})"),
            "Secret:ns/a Secret:ns/b");
}

TEST(InterpreterDependencies, ServiceImportNeedsTheDerivedService_B_30) {
  EXPECT_EQ(
      listed("{apiVersion: multicluster.x-k8s.io/v1alpha1, kind: ServiceImport, metadata: {name: web, namespace: ns}}"),
      R"(Service:ns/derived-web EndpointSlice:ns/{"matchLabels":{"kubernetes.io/service-name":"derived-web"}})");
}

TEST(InterpreterDependencies, OtherKindsHaveNoRule_B_29) {  // L-4
  EXPECT_EQ(listed("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: ns}}"), "no rule");
  EXPECT_EQ(listed("{apiVersion: v1, kind: Service, metadata: {namespace: ns}}"), "no rule");
}

TEST(InterpreterDependencies, AsTheAnnotationHoldsThem_B_29) {
  EXPECT_EQ(to_json(to_value({{"v1", "Secret", "ns", "a", {}}, {"v1", "Pod", "", "", yaml("{matchLabels: {a: b}}")}})),
            R"([{"apiVersion":"v1","kind":"Secret","name":"a","namespace":"ns"},)"
            R"({"apiVersion":"v1","kind":"Pod","labelSelector":{"matchLabels":{"a":"b"}}}])");
}

}  // namespace
}  // namespace shiplog::interpreter
