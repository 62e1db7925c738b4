// The built-in kinds around workloads, one object of each from creation to deletion, in JSON and in protobuf
// (kubernetes-api section 24).
#include <algorithm>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "events/kinds/protobuf.h"
#include "tests/contract/contract.h"

namespace shiplog::e2e {
namespace {

struct Sample {
  const char* object;  ///< YAML; the name is set by the test
  const char* patch;   ///< a strategic merge patch
  const char* shown;   ///< in some cell of its row
};

constexpr const char* kPod = "{metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: 'i:1'}]}}";

std::vector<Sample> samples() {
  static const std::string controller =
      std::string{"{apiVersion: v1, kind: ReplicationController, spec: {template: "} + kPod + "}}";
  static const std::string pod_template = std::string{"{apiVersion: v1, kind: PodTemplate, template: "} + kPod + "}";
  static const std::string hooks =
      "webhooks: [{name: a.b.c, clientConfig: {service: {namespace: ns, name: s}}, sideEffects: None, "
      "admissionReviewVersions: [v1]}]}";
  static const std::string mutating =
      "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, " + hooks;
  static const std::string validating =
      "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, " + hooks;
  return {
      {"{apiVersion: v1, kind: Endpoints, subsets: [{addresses: [{ip: 10.0.0.1}], ports: [{port: 80}]}]}",
       R"({"metadata":{"labels":{"a":"b"}}})", "10.0.0.1:80"},
      {controller.c_str(), R"({"spec":{"replicas":4}})", "app=a"},
      {pod_template.c_str(), R"({"template":{"spec":{"containers":[{"name":"c","image":"i:2"}]}}})", "i:2"},
      {"{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, spec: {maxReplicas: 5, scaleTargetRef: {kind: "
       "Deployment, name: web}}}",
       R"({"spec":{"maxReplicas":6}})", "cpu: <unknown>/80%"},
      {"{apiVersion: policy/v1, kind: PodDisruptionBudget, spec: {minAvailable: 50%}}",
       R"({"spec":{"minAvailable":3}})", "N/A"},
      {"{apiVersion: networking.k8s.io/v1, kind: IngressClass, spec: {controller: a.io/c}}",
       R"({"spec":{"parameters":{"kind":"P","name":"p"}}})", "P/p"},
      {"{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {podSelector: {matchLabels: {a: b}}}}",
       R"({"spec":{"ingress":[{"ports":[{"port":"http"}]}]}})", "a=b"},
      {"{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, addressType: IPv4, endpoints: [{addresses: "
       "[10.0.0.1]}]}",
       R"({"ports":[{"port":80}]})", "10.0.0.1"},
      {"{apiVersion: storage.k8s.io/v1, kind: StorageClass, provisioner: a.io/p}", R"({"allowVolumeExpansion":true})",
       "Immediate"},
      {"{apiVersion: storage.k8s.io/v1, kind: CSIDriver}", R"({"spec":{"podInfoOnMount":true}})", "Persistent"},
      {"{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, spec: {attacher: d, nodeName: n1, source: "
       "{persistentVolumeName: pv}}}",
       R"({"metadata":{"labels":{"a":"b"}}})", "pv"},
      {"{apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, spec: {request: "
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K, signerName: a.io/s, usages: [client auth]}}",
       R"({"metadata":{"labels":{"a":"b"}}})", "Pending"},
      {mutating.c_str(), R"({"webhooks":[{"name":"a.b.c","timeoutSeconds":3}]})", nullptr},
      {validating.c_str(), R"({"webhooks":[{"name":"a.b.c","failurePolicy":"Ignore"}]})", nullptr},
      {"{apiVersion: apiregistration.k8s.io/v1, kind: APIService, spec: {group: a.example, version: v1, "
       "groupPriorityMinimum: 100, versionPriority: 15}}",
       R"({"spec":{"versionPriority":16}})", "Local"},
      {"{apiVersion: flowcontrol.apiserver.k8s.io/v1, kind: FlowSchema, spec: {priorityLevelConfiguration: {name: p}}}",
       R"({"spec":{"matchingPrecedence":7}})", "p"},
      {"{apiVersion: flowcontrol.apiserver.k8s.io/v1, kind: PriorityLevelConfiguration, spec: {type: Limited, limited: "
       "{limitResponse: {type: Reject}}}}",
       R"({"spec":{"limited":{"nominalConcurrencyShares":5}}})", "Limited"},
  };
}

std::string collection_of(const Kind& kind) {
  const std::string root = kind.group.empty() ? "/api/" : "/apis/";
  return root + kind.api_version() + (kind.namespaced ? "/namespaces/default/" : "/") + kind.plural;
}

std::string name_of(const Value& object) {
  return object["kind"].as_string() == "APIService" ? "v1.a.example" : "sample.example";
}

/// All of `part` stands in `whole`.
void expect_within(const Value& part, const Value& whole, const std::string& where) {
  for (const auto& member : part.members()) {
    expect_within(member.value, whole[member.key()], where + "." + std::string{member.key()});
  }
  for (size_t i = 0; part.is_array() && i < part.size(); ++i) {
    expect_within(part[i], whole[i], where + "[" + std::to_string(i) + "]");
  }
  if (!part.is_object() && !part.is_array()) {
    EXPECT_EQ(part, whole) << where;
  }
}

TEST(Kinds, OneObjectOfEachFromCreationToDeletion) {
  for (const Sample& sample : samples()) {
    auto read = parse_yaml(sample.object);
    ASSERT_TRUE(read.has_value()) << sample.object;
    Value object = std::move(read).value();
    const std::string name = name_of(object);
    object.edit("metadata").set("name", name);
    const Kind* kind = Kinds::compiled().find_kind(object["apiVersion"].as_string(), object["kind"].as_string());
    ASSERT_NE(kind, nullptr) << sample.object;
    const std::string all = collection_of(*kind);
    const std::string one = all + "/" + name;

    const Answer made = api().post(all, object);
    ASSERT_EQ(made.status, 201) << one << made;
    const Answer got = api().get(one);
    EXPECT_EQ(got.json, made.json) << one;
    expect_within(object, got.json, kind->kind);

    const Answer patched = api().patch(one, "strategic-merge", json(sample.patch));
    ASSERT_EQ(patched.status, 200) << one << patched;
    expect_within(json(sample.patch), patched.json, kind->kind);

    const Answer table =
        api().get(all + "?fieldSelector=metadata.name%3D" + name, "application/json;as=Table;v=v1;g=meta.k8s.io");
    ASSERT_EQ(table.json["rows"].size(), 1U) << one << table;
    const auto cells = table.json["rows"][0]["cells"].items();
    EXPECT_EQ(cells[0].str(), name) << one;
    if (sample.shown != nullptr) {
      EXPECT_TRUE(std::ranges::any_of(cells, [&](const Value& cell) { return cell.as_string() == sample.shown; }))
          << one << to_json(table.json["rows"][0]["cells"]);
    }
    EXPECT_EQ(api().remove(one).status, 200) << one;
    expect_failure(api().get(one), 404, "NotFound");

    const auto body = encode_protobuf(Kinds::compiled(), object);
    ASSERT_TRUE(body.has_value()) << one;
    const Answer again =
        api().call("POST", all, body.value(), {{"Content-Type", "application/vnd.kubernetes.protobuf"}});
    ASSERT_EQ(again.status, 201) << one << again;
    expect_within(object, again.json, kind->kind);
    EXPECT_EQ(api().remove(one).status, 200) << one;
  }
}

TEST(Kinds, AReplicationControllerScales) {
  const std::string controllers = "/api/v1/namespaces/default/replicationcontrollers";
  Value object = parse_yaml(std::string{"{metadata: {name: scaled}, spec: {template: "} + kPod + "}}").value();
  ASSERT_EQ(api().post(controllers, object).status, 201);
  const Answer scaled = api().patch(controllers + "/scaled/scale", "merge", json(R"({"spec":{"replicas":3}})"));
  ASSERT_EQ(scaled.status, 200) << scaled;
  EXPECT_EQ(scaled.json["status"]["selector"].str(), "app=a");
  EXPECT_EQ(api().get(controllers + "/scaled").json["spec"]["replicas"].as_int(), 3);
}

TEST(Kinds, WhatIsOnlyStoredSaysSo) {
  const Answer made = api().post("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
                                 json(R"({"metadata":{"name":"idle"},"webhooks":[]})"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_NE(made.headers.get("Warning").find("its webhooks are not called"), std::string::npos)
      << made.headers.get("Warning");
}

TEST(Kinds, StatusIsWrittenApart) {
  const std::string budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  const Answer made = api().post(budgets, json(R"({"metadata":{"name":"apart"},"spec":{"maxUnavailable":1},
      "status":{"currentHealthy":9}})"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_FALSE(made.json.contains("status")) << made;
  const Answer status = api().patch(budgets + "/apart/status", "merge", json(R"({"status":{"currentHealthy":2},
      "spec":{"maxUnavailable":7}})"));
  ASSERT_EQ(status.status, 200) << status;
  EXPECT_EQ(status.json["status"]["currentHealthy"].as_int(), 2);
  EXPECT_EQ(status.json["spec"]["maxUnavailable"].as_int(), 1);
}

}  // namespace
}  // namespace shiplog::e2e
