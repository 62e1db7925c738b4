#include "services/interpreter/native/native.h"
#include "tests/support/interpreting.h"

namespace shiplog::interpreter {
namespace {

using testing::yaml;

Value kept(std::string_view desired, std::string_view observed) {
  const auto retained = native::retain(yaml(desired), yaml(observed));
  EXPECT_TRUE(retained) << retained.error().message;
  return retained.value().value();
}

TEST(InterpreterRetain, DeploymentKeepsItsReplicasOnlyWhenLabelled_E_21) {  // T-16
  const char* observed = "{spec: {replicas: 0}}";
  EXPECT_EQ(kept("{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 3}}", observed)["spec"]["replicas"],
            Value{3});
  const char* marked = R"({apiVersion: apps/v1, kind: Deployment,
      metadata: {labels: {resourcetemplate.karmada.io/retain-replicas: "true"}}, spec: {replicas: 3}})";
  EXPECT_EQ(kept(marked, observed)["spec"]["replicas"], Value{0});
  EXPECT_FALSE(native::retain(yaml(marked), yaml("{spec: {}}"))) << "there is nothing to keep";
}

TEST(InterpreterRetain, PodKeepsWhereItRunsAndWhatIsMounted_E_21) {
  const Value pod = kept(R"({apiVersion: v1, kind: Pod, spec: {
        containers: [{name: a, image: new}, {name: b}], initContainers: [{name: i}]}})",
                         R"({spec: {nodeName: n1, serviceAccountName: default, volumes: [{name: token}],
        ephemeralContainers: [{name: debugger}],
        containers: [{name: a, image: old, volumeMounts: [{name: token}]}],
        initContainers: [{name: i, volumeMounts: [{name: token}]}]}})");
  EXPECT_EQ(pod["spec"], yaml(R"({nodeName: n1, serviceAccountName: default, volumes: [{name: token}],
      ephemeralContainers: [{name: debugger}],
      containers: [{name: a, image: new, volumeMounts: [{name: token}]}, {name: b}],
      initContainers: [{name: i, volumeMounts: [{name: token}]}]})"));
}

TEST(InterpreterRetain, ServiceKeepsItsAddressAndPorts_E_21) {
  const Value service =
      kept("{apiVersion: v1, kind: Service, spec: {type: LoadBalancer, ports: [{port: 80}, {port: 81, nodePort: 5}]}}",
           R"({spec: {type: LoadBalancer, clusterIP: 10.0.0.1, healthCheckNodePort: 30000,
               ports: [{port: 80, nodePort: 31000}, {port: 81, nodePort: 31001}]}})");
  EXPECT_EQ(service["spec"], yaml(R"({type: LoadBalancer, clusterIP: 10.0.0.1, healthCheckNodePort: 30000,
      ports: [{port: 80, nodePort: 31000}, {port: 81, nodePort: 5}]})"));
  EXPECT_EQ(
      kept("{apiVersion: v1, kind: Service, spec: {}}", "{spec: {clusterIP: '', healthCheckNodePort: 0}}")["spec"],
      yaml("{}"));
}

TEST(InterpreterRetain, ServiceKeepsTheFamilyOfItsAddress) {
  const std::string desired =
      "{apiVersion: v1, kind: Service, spec: {ipFamilies: [IPv4, IPv6], ipFamilyPolicy: RequireDualStack}}";
  const Value other = kept(desired, "{spec: {clusterIP: 'fd00::5', ipFamilies: [IPv6], ipFamilyPolicy: SingleStack}}");
  EXPECT_EQ(other["spec"]["ipFamilies"], yaml("[IPv6]")) << "the first family is immutable";
  EXPECT_EQ(other["spec"]["ipFamilyPolicy"].str(), "SingleStack");
  const Value same = kept(desired, "{spec: {clusterIP: 10.0.0.5, ipFamilies: [IPv4], ipFamilyPolicy: SingleStack}}");
  EXPECT_EQ(same["spec"]["ipFamilies"], yaml("[IPv4, IPv6]")) << "a second family can be added";
}

TEST(InterpreterRetain, ServiceAccountKeepsOtherSecrets_E_21) {
  const Value account = kept("{apiVersion: v1, kind: ServiceAccount, secrets: [{name: b}]}",
                             "{secrets: [{name: a}, {name: b}], imagePullSecrets: [{name: p}]}");
  EXPECT_EQ(account["secrets"], yaml("[{name: b}, {name: a}]"));
  EXPECT_EQ(account["imagePullSecrets"], yaml("[{name: p}]"));
}

// Compared each with each, these lists of a member would take minutes.
TEST(InterpreterRetain, ListsOfAnyLengthTakeNoLonger_E_21) {
  constexpr int64_t kMany = 100'000;
  Value secrets = Value::array();
  Value ports = Value::array();
  for (int64_t i = 0; i < kMany; ++i) {
    secrets.push_back(Value::object({{"name", "s" + std::to_string(i)}}));
    ports.push_back(Value::object({{"port", i}, {"nodePort", kMany + i}}));
  }
  const auto account = native::retain(yaml("{apiVersion: v1, kind: ServiceAccount, secrets: [{name: s7}]}"),
                                      Value::object({{"secrets", secrets}}));
  EXPECT_EQ((*account.value())["secrets"].size(), static_cast<size_t>(kMany));
  Value service = yaml("{apiVersion: v1, kind: Service, spec: {type: NodePort}}");
  Value observed = service;
  observed.edit("spec").set("ports", ports);
  for (Value& port : ports.edit_items()) port.erase("nodePort");
  service.edit("spec").set("ports", ports);
  EXPECT_EQ(native::retain(service, observed).value(), observed);
}

TEST(InterpreterRetain, VolumesStayBound_E_21) {
  EXPECT_EQ(kept("{apiVersion: v1, kind: PersistentVolumeClaim, spec: {a: 1}}", "{spec: {volumeName: v}}")["spec"],
            yaml("{a: 1, volumeName: v}"));
  EXPECT_EQ(kept("{apiVersion: v1, kind: PersistentVolume, spec: {}}", "{spec: {claimRef: {name: c}}}")["spec"],
            yaml("{claimRef: {name: c}}"));
}

TEST(InterpreterRetain, JobKeepsItsSelector_E_21) {
  const Value job = kept("{apiVersion: batch/v1, kind: Job, spec: {template: {metadata: {labels: {mine: x}}}}}",
                         R"({spec: {selector: {matchLabels: {controller-uid: u}},
                             template: {metadata: {labels: {controller-uid: u}}}}})");
  EXPECT_EQ(job["spec"], yaml(R"({selector: {matchLabels: {controller-uid: u}},
      template: {metadata: {labels: {controller-uid: u}}}})"));
}

TEST(InterpreterRetain, OnlyServiceAccountTokensKeepTheirData_E_21) {
  const char* observed = "{data: {token: dA==}}";
  EXPECT_EQ(kept("{apiVersion: v1, kind: Secret, type: kubernetes.io/service-account-token}", observed)["data"],
            yaml("{token: dA==}"));
  EXPECT_EQ(kept("{apiVersion: v1, kind: Secret, type: Opaque, data: {a: Yg==}}", observed)["data"], yaml("{a: Yg==}"));
}

TEST(InterpreterRetain, OtherKindsHaveNoRule_L_4) {
  EXPECT_FALSE(native::retain(yaml("{apiVersion: v1, kind: ConfigMap}"), Value{}).value());
  EXPECT_FALSE(native::retain(yaml("{apiVersion: apps.example.com/v1, kind: Deployment}"), Value{}).value());
}

}  // namespace
}  // namespace shiplog::interpreter
