// The built-in kinds around workloads, one object of each from creation to deletion, in JSON and in protobuf
// (KIND-1).
#include <algorithm>

#include "events/base/json.h"
#include "events/base/yaml.h"
#include "events/kinds/protobuf.h"
#include "tests/contract/contract.h"

namespace shiplog::e2e {
namespace {

struct KindSample {
  const char* object;  ///< YAML; the name is set by the test
  const char* patch;   ///< a strategic merge patch
  const char* shown;   ///< text of a cell of its row
};

constexpr const char* kPod = "{metadata: {labels: {app: a}}, spec: {containers: [{name: c, image: 'i:1'}]}}";

std::vector<KindSample> samples() {
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
      {"{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, spec: {maxReplicas: 5, scaleTargetRef: "
       "{apiVersion: apps/v1, kind: "
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
       "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIbU1JR05BZ0VBTUNzeEREQUtCZ05WQkFvTUEyUmxkakVN"
       "TUFvR0ExVUVDZ3dEYjNCek1RMHdDd1lEVlFRRApEQVJxWVc1bE1Ga3dFd1lIS29aSXpqMENBUVlJS29aSXpqMERBUWNEUWdB"
       "RTdlZjljNm1wVThTcnBLc2FKWDg1CjRGWWpFQUJPYVNtY3B0cTN3Q05MNXY2NWc4bVZmTGRteVJybjVZTUMveFJFSDhtTSs0"
       "RXJMT0ZEcWw5WWduWTQKZnFBQU1Bb0dDQ3FHU000OUJBTUNBMGdBTUVVQ0lRQ0tWZko3UUtYbnBmOXdldDExWW1kMk9QOEhZ"
       "SlBoS3V4aApTUWhZT1c4bFpnSWdGcm5teTcvbkxGUFpnK2RTcjhFeTNKL3N4cjd5M0JuVWJqZ2NLOFlIYmRzPQotLS0tLUVO"
       "RCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K"
       ", signerName: a.io/s, usages: [client auth]}}",
       R"({"metadata":{"labels":{"a":"b"}}})", "Pending"},
      {mutating.c_str(), R"({"webhooks":[{"name":"a.b.c","timeoutSeconds":3}]})", nullptr},
      {"{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, spec: {matchConstraints: "
       "{resourceRules: [{operations: [CREATE], apiGroups: [''], apiVersions: [v1], resources: [pods]}]}, validations: "
       "[{expression: 'true'}]}}",
       R"({"spec":{"failurePolicy":"Ignore"}})", "<unset>"},
      {"{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, spec: {policyName: none, "
       "validationActions: [Deny]}}",
       R"({"spec":{"validationActions":["Audit"]}})", "none"},
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

/// Expects that `whole` contains all values of `part`.
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
  for (const KindSample& sample : samples()) {
    auto read = parse_yaml(sample.object);
    ASSERT_TRUE(read.has_value()) << sample.object;
    Value object = std::move(read).value();
    const std::string name = name_of(object);
    object.edit("metadata").set("name", name);
    const Kind* kind = Kinds::compiled().find_kind(object["apiVersion"].as_string(), object["kind"].as_string());
    ASSERT_NE(kind, nullptr) << sample.object;
    const std::string all = collection_of(*kind);
    const std::string path = all + "/" + name;

    const Answer made = api().post(all, object);
    ASSERT_EQ(made.status, 201) << path << made;
    const Answer got = api().get(path);
    EXPECT_EQ(got.json, made.json) << path;
    expect_within(object, got.json, kind->kind);

    const Answer patched = api().patch(path, "strategic-merge", json(sample.patch));
    ASSERT_EQ(patched.status, 200) << path << patched;
    expect_within(json(sample.patch), patched.json, kind->kind);

    const Answer table =
        api().get(all + "?fieldSelector=metadata.name%3D" + name, "application/json;as=Table;v=v1;g=meta.k8s.io");
    ASSERT_EQ(table.json["rows"].size(), 1U) << path << table;
    const auto cells = table.json["rows"][0]["cells"].items();
    EXPECT_EQ(cells[0].str(), name) << path;
    if (sample.shown != nullptr) {
      EXPECT_TRUE(std::ranges::any_of(cells, [&](const Value& cell) { return cell.as_string() == sample.shown; }))
          << path << to_json(table.json["rows"][0]["cells"]);
    }
    EXPECT_EQ(api().remove(path + "?propagationPolicy=Background").status, 200) << path;
    expect_failure(api().get(path), 404, "NotFound");

    const auto body = encode_protobuf(Kinds::compiled(), object);
    ASSERT_TRUE(body.has_value()) << path;
    const Answer again =
        api().call("POST", all, body.value(), {{"Content-Type", "application/vnd.kubernetes.protobuf"}});
    ASSERT_EQ(again.status, 201) << path << again;
    expect_within(object, again.json, kind->kind);
    EXPECT_EQ(api().remove(path + "?propagationPolicy=Background").status, 200) << path;
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

TEST(Kinds, StoredOnlyKindsReturnAWarning) {
  const Answer made =
      api().post("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
                 json(R"({"metadata":{"name":"idle"},"spec":{"priorityLevelConfiguration":{"name":"p"}}})"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_NE(made.headers.get("Warning").find("requests are not queued by it"), std::string::npos)
      << made.headers.get("Warning");
}

TEST(Kinds, FieldsWithoutEffectReturnAWarning_E_1) {  // and B-22
  const auto warning = [](const char* path, const char* object) {
    const Answer made = api().post(std::string{path} + "?dryRun=All", json(object));
    EXPECT_EQ(made.status, 201) << made;
    return std::string{made.headers.get("Warning")};
  };
  const auto failover = [&](const std::string& rule) {
    const std::string object =
        R"({"metadata":{"name":"p"},"spec":{"resourceSelectors":[{"apiVersion":"v1","kind":"ConfigMap"}],"placement":{},
        "propagateDeps":true,"failover":{"application":{"decisionConditions":{},"statePreservation":{"rules":[)" +
        rule + R"(]}},"cluster":{"purgeMode":"Directly"}}}})";
    return warning("/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies", object.c_str());
  };
  EXPECT_EQ(failover(R"({"aliasLabelName":"id","jsonPath":"{.id}"})"), "");
  for (const auto& [rule, words] : std::vector<std::pair<const char*, const char*>>{
           {R"({"aliasLabelName":"id","jsonPath":"{.id"})", "rules[0].jsonPath: JSONPath, character 5"},
           {R"({"aliasLabelName":"id","jsonPath":".id"})", "rules[0].jsonPath: without braces"},
           {R"({"aliasLabelName":"karmada.io/managed","jsonPath":"{.id}"})", "label belongs to the control plane"}}) {
    EXPECT_NE(failover(rule).find(words), std::string::npos) << failover(rule);
  }
  const std::string pull = warning("/apis/cluster.karmada.io/v1alpha1/clusters",
                                   R"({"metadata":{"name":"pulled"},"spec":{"syncMode":"Pull"}})");
  EXPECT_EQ(pull, "") << "its agent applies its Works";
}

TEST(Kinds, TheStatusOfAClusterIsASubresourceOfItsOwn_CL_28_1_1_3) {
  const std::string clusters = "/apis/cluster.karmada.io/v1alpha1/clusters";
  const Value odd = json(R"({"conditions":[{"type":"Mine","status":"Perhaps"}],"kubernetesVersion":"v1"})");
  Value object = json(R"({"metadata":{"name":"odd"},"spec":{"syncMode":"Push"}})");
  object.set("status", odd);
  const Answer made = api().post(clusters, object);
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_TRUE(made.json["status"]["kubernetesVersion"].is_null()) << "what a client sends is dropped";
  EXPECT_EQ(made.json["metadata"]["generation"].as_int(), 1);

  // No resourceVersion: unconditional.
  Value unconditional = object;
  unconditional.edit("metadata").set("name", "odd");
  const Answer with_status = api().put(clusters + "/odd/status", unconditional);
  ASSERT_EQ(with_status.status, 200) << with_status;
  EXPECT_EQ(with_status.json["status"]["conditions"][0]["status"].str(), "Perhaps");
  unconditional.set("status", json("{}"));
  unconditional.edit("spec").set("region", "r");
  const Answer with_spec = api().put(clusters + "/odd", unconditional);
  ASSERT_EQ(with_spec.status, 200) << with_spec;
  EXPECT_EQ(with_spec.json["status"]["kubernetesVersion"].str(), "v1") << "the stored status stays";
  unconditional.edit("metadata").set("name", "none");
  EXPECT_EQ(api().put(clusters + "/none", unconditional).status, 404) << "an update creates nothing";
  EXPECT_EQ(api().call("DELETE", clusters + "/odd").status, 200);
}

TEST(Kinds, APolicyHasItsIdAndItsFinalizerWhenItIsCreated_D_15) {
  const auto text = [](const std::string& name, const std::string& label) {
    return R"({"apiVersion":"policy.karmada.io/v1alpha1","kind":"PropagationPolicy","metadata":{"name":")" + name +
           R"(","finalizers":["mine/first"],"labels":{"a":"b")" + label +
           R"(}},"spec":{"resourceSelectors":[{"apiVersion":"v1","kind":"ConfigMap","name":"none"}]}})";
  };
  const std::string policies = "/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies";
  const char* const label = "propagationpolicy.karmada.io/permanent-id";
  const char* const finalizers = R"(["mine/first","karmada.io/propagation-policy-controller"])";
  const Answer made = api().post(policies, json(text("made", R"(,"propagationpolicy.karmada.io/permanent-id":"x")")));
  ASSERT_EQ(made.status, 201) << made;
  const std::string id = made.json["metadata"]["labels"][label].str();
  EXPECT_EQ(id.size(), 36) << "what a client sends is not used: " << id;
  EXPECT_EQ(to_json(made.json["metadata"]["finalizers"]), finalizers);
  EXPECT_EQ(to_json(made.json["metadata"]["managedFields"]).find("permanent-id"), std::string::npos)
      << "kubectl apply --server-side takes over what the client owns, and would then remove it: " << made;

  const auto apply = [&] {
    return api().call("PATCH", policies + "/applied?fieldManager=m", text("applied", ""),
                      {{"Content-Type", "application/apply-patch+yaml"}});
  };
  const Answer applied = apply();
  ASSERT_EQ(applied.status, 201) << applied;
  EXPECT_EQ(to_json(applied.json["metadata"]["finalizers"]), finalizers);
  EXPECT_NE(applied.json["metadata"]["labels"][label].str(), id);
  const Answer again = apply();
  ASSERT_EQ(again.status, 200) << again;
  EXPECT_EQ(again.json["metadata"]["labels"], applied.json["metadata"]["labels"]);
  EXPECT_EQ(again.json["metadata"]["resourceVersion"], applied.json["metadata"]["resourceVersion"])
      << "nothing was left to do for the control plane";
  for (const char* name : {"made", "applied"}) {
    const Answer freed = api().patch(policies + "/" + name, "merge", json(R"({"metadata":{"finalizers":null}})"));
    EXPECT_EQ(freed.status, 200) << freed;
    EXPECT_EQ(api().remove(policies + "/" + name).status, 200);
  }
}

TEST(Kinds, AClusterPolicyAndADryRunHaveThemToo_D_15) {
  const std::string policies = "/apis/policy.karmada.io/v1alpha1/clusterpropagationpolicies";
  const Value policy = json(R"({"metadata":{"name":"wide"},
      "spec":{"resourceSelectors":[{"apiVersion":"v1","kind":"ConfigMap","name":"none"}]}})");
  for (const std::string& target : {policies + "?dryRun=All", policies}) {
    const Answer made = api().post(target, policy);
    ASSERT_EQ(made.status, 201) << made;
    const Value& metadata = made.json["metadata"];
    EXPECT_EQ(metadata["labels"]["clusterpropagationpolicy.karmada.io/permanent-id"].str().size(), 36) << made;
    EXPECT_EQ(to_json(metadata["finalizers"]), R"(["karmada.io/cluster-propagation-policy-controller"])");
  }
  EXPECT_EQ(api().remove(policies + "/wide").status, 200);
  EXPECT_TRUE(eventually([&] { return api().get(policies + "/wide").status == 404; })) << "the binder releases it";
}

TEST(Kinds, APolicyInATrialMemberIsAnObjectLikeOthers) {
  Fleet fleet;
  fleet.member("member");
  const ApiClient member = fleet.api("member");
  const std::string policies = "/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies";
  ASSERT_TRUE(eventually([&] { return member.get("/api/v1/namespaces/default").status == 200; }));
  const Answer made = member.post(policies, json(R"({"metadata":{"name":"p"},
      "spec":{"resourceSelectors":[{"apiVersion":"v1","kind":"ConfigMap","name":"none"}]}})"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_TRUE(made.json["metadata"]["finalizers"].is_null()) << "no binder would remove it: " << made;
  EXPECT_EQ(member.remove(policies + "/p").status, 200);
  EXPECT_EQ(member.get(policies + "/p").status, 404);
}

TEST(Kinds, AMemberIsRegisteredOnce_1_3_2) {
  const std::string clusters = "/apis/cluster.karmada.io/v1alpha1/clusters";
  const auto cluster = [](const char* name, const char* id) {
    return json(std::string{R"({"metadata":{"name":")"} + name + R"("},"spec":{"syncMode":"Push","id":")" + id +
                "\"}}");
  };
  ASSERT_EQ(api().post(clusters, cluster("first", "an-id")).status, 201);
  const Answer again = api().post(clusters, cluster("second", "an-id"));
  EXPECT_EQ(again.status, 422) << again;
  EXPECT_EQ(again.json["details"]["causes"][0]["field"], "spec.id");
  EXPECT_EQ(again.json["details"]["causes"][0]["reason"], "FieldValueDuplicate");
  EXPECT_NE(again.message().find("registered as the cluster first"), std::string::npos) << again;
  EXPECT_EQ(api().post(clusters + "?dryRun=All", cluster("second", "an-id")).status, 422);
  EXPECT_EQ(api().post(clusters, cluster("first", "an-id")).status, 409) << "its own name is what is wrong";

  ASSERT_EQ(api().post(clusters, cluster("second", "an")).status, 201) << "a part of the other id";
  EXPECT_EQ(api().patch(clusters + "/second", "merge", json(R"({"spec":{"id":"an-id"}})")).status, 422);
  EXPECT_EQ(api().patch(clusters + "/first", "merge", json(R"({"spec":{"region":"r"}})")).status, 200);
  for (const char* name : {"/first", "/second"}) EXPECT_EQ(api().call("DELETE", clusters + name).status, 200);
  // It may have its finalizer by now, and has its id until it is gone.
  EXPECT_TRUE(eventually([&] { return api().get(clusters + "/first").status == 404; }));
  EXPECT_EQ(api().post(clusters, cluster("third", "an-id")).status, 201) << "and it can be registered again";
  EXPECT_EQ(api().call("DELETE", clusters + "/third").status, 200);
}

TEST(Kinds, AClusterThatBecomesPushWithoutAnAddressIsWarnedOf) {
  const std::string clusters = "/apis/cluster.karmada.io/v1alpha1/clusters";
  ASSERT_EQ(api().post(clusters, json(R"({"metadata":{"name":"turned"},"spec":{"syncMode":"Pull"}})")).status, 201);
  EXPECT_EQ(api().patch(clusters + "/turned", "merge", json(R"({"spec":{"syncMode":"Both"}})")).status, 422);
  const Answer turned = api().patch(clusters + "/turned", "merge", json(R"({"spec":{"syncMode":"Push"}})"));
  EXPECT_EQ(turned.status, 200) << turned;
  std::string warnings;
  for (const auto& [name, value] : turned.headers.all()) warnings += name == "Warning" ? value : "";
  EXPECT_NE(warnings.find("until spec.apiEndpoint is set"), std::string::npos) << turned;
  EXPECT_NE(warnings.find("until spec.secretRef is set"), std::string::npos) << turned;
  EXPECT_EQ(api().call("DELETE", clusters + "/turned").status, 200);
}

TEST(Kinds, AnAutoscalerIsOneObjectInTwoVersions) {  // GRP-3
  const std::string v1_path = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers";
  const std::string v2_path = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
  const Answer made = api().post(v1_path, json(R"({"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler",
      "metadata":{"name":"twofold"},"spec":{"maxReplicas":5,"targetCPUUtilizationPercentage":70,
      "scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}}})"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["apiVersion"].str(), "autoscaling/v1");
  EXPECT_EQ(made.json["spec"]["targetCPUUtilizationPercentage"].as_int(), 70);
  EXPECT_EQ(made.json["spec"]["minReplicas"].as_int(), 1) << "defaulted";
  const Answer two = api().get(v2_path + "/twofold");
  EXPECT_EQ(two.json["apiVersion"].str(), "autoscaling/v2");
  EXPECT_EQ(two.json["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"].as_int(), 70);
  EXPECT_EQ(two.json["metadata"]["uid"], made.json["metadata"]["uid"]);
  const Answer changed =
      api().patch(v1_path + "/twofold", "merge", json(R"({"spec":{"targetCPUUtilizationPercentage":60}})"));
  ASSERT_EQ(changed.status, 200) << changed;
  EXPECT_EQ(changed.json["spec"]["targetCPUUtilizationPercentage"].as_int(), 60);
  EXPECT_EQ(api().get(v1_path).json["items"][0]["apiVersion"].str(), "autoscaling/v1");
  const Value last = api().get(v2_path + "/twofold").json;
  EXPECT_EQ(last["spec"]["metrics"].size(), 1U);
  EXPECT_EQ(last["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"].as_int(), 60);
  expect_failure(api().put(v1_path + "/twofold", last), 400, "BadRequest", "does not match the expected API version");
  const auto watch = api().watch(v1_path + "?watch=true&fieldSelector=metadata.name%3Dtwofold");
  ASSERT_TRUE(watch->wait_for(1));
  EXPECT_EQ(watch->events()[0]["object"]["apiVersion"].str(), "autoscaling/v1");
  EXPECT_NE(plane().kubectl_ok({"get", "hpa.v1.autoscaling", "twofold"}).find("60%"), std::string::npos);
  EXPECT_EQ(api().remove(v1_path + "/twofold").status, 200);
  EXPECT_EQ(api().get(v2_path + "/twofold").status, 404);
}

TEST(Kinds, AnEventHasTwoNamesForItsFields) {  // EVENT-1, EVENT-2
  const std::string core = "/api/v1/namespaces/default/events";
  const std::string newer = "/apis/events.k8s.io/v1/namespaces/default/events";
  expect_failure(api().post(newer, json(R"({"metadata":{"name":"lacking"},"regarding":{"namespace":"default"}})")), 422,
                 "Invalid", "reportingController: Required value");
  const Answer made =
      api().post(newer, json(R"({"metadata":{"name":"twofold"},"eventTime":"2026-01-02T03:04:05.000006Z",
      "reportingController":"c","reportingInstance":"i","action":"a","reason":"r","note":"n","type":"Normal",
      "regarding":{"kind":"Pod","name":"p","namespace":"default"}})"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["apiVersion"].str(), "events.k8s.io/v1");
  EXPECT_EQ(made.json["note"].str(), "n");
  const Value old = api().get(core + "/twofold").json;
  EXPECT_EQ(old["apiVersion"].str(), "v1");
  EXPECT_EQ(old["message"].str(), "n");
  EXPECT_EQ(old["involvedObject"]["name"].str(), "p");
  EXPECT_EQ(old["reportingComponent"].str(), "c");
  ASSERT_EQ(api().patch(core + "/twofold", "strategic-merge", json(R"({"count":7})")).status, 200);
  EXPECT_EQ(api().get(newer + "/twofold").json["deprecatedCount"].as_int(), 7);
  EXPECT_NE(plane().kubectl_ok({"get", "events"}).find("pod/p"), std::string::npos);
}

TEST(Kinds, EachGroupAndVersionHasAnApiServiceThatIsAvailable) {  // GRP-2
  const std::string services = "/apis/apiregistration.k8s.io/v1/apiservices";
  for (const char* name : {"v1.", "v1.apps", "v2.autoscaling", "v1alpha1.policy.karmada.io"}) {
    const Answer service = api().get(services + "/" + name);
    EXPECT_EQ(service.status, 200) << name;
    EXPECT_EQ(service.json["status"]["conditions"][0]["status"].str(), "True") << name;
    EXPECT_EQ(service.json["status"]["conditions"][0]["reason"].str(), "Local") << name;
  }
  EXPECT_NE(plane().kubectl_ok({"get", "apiservices", "v1.apps"}).find("Local"), std::string::npos);
}

TEST(Kinds, RequestsForAnAggregatedServerAreRefusedWithAReason) {
  const Answer made = api().post("/apis/apiregistration.k8s.io/v1/apiservices",
                                 json(R"({"metadata":{"name":"v1.remote.example"},"spec":{"group":"remote.example",
      "version":"v1","groupPriorityMinimum":100,"versionPriority":15,"service":{"namespace":"default","name":"far"}}})"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.headers.get("Warning"), "");
  expect_failure(
      api().get("/apis/remote.example/v1/things"), 503, "ServiceUnavailable",
      "APIService v1.remote.example is not available: ServiceNotFound: service/far in \"default\" is not present");
  const std::string service = "/apis/apiregistration.k8s.io/v1/apiservices/v1.remote.example";
  EXPECT_TRUE(e2e::eventually(
      [&] { return api().get(service).json["status"]["conditions"][0]["reason"].as_string() == "ServiceNotFound"; }));
  expect_failure(api().get("/apis/nobody.example/v1/things"), 404, "NotFound");
}

Value running_pod(const std::string& name) {
  Value pod = parse_yaml(kPod).value();
  pod.edit("metadata").set("name", name);
  pod.edit("metadata").set("labels", Value::object({{"app", name}}));
  return pod;
}

TEST(Kinds, APodIsBoundToANodeOnce) {  // SUB-4
  const std::string pods = "/api/v1/namespaces/default/pods";
  ASSERT_EQ(api().post(pods, running_pod("bound")).status, 201);
  const Value binding = json(R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"bound"},
      "target":{"kind":"Node","name":"n1"}})");
  const Answer bound = api().post(pods + "/bound/binding", binding);
  ASSERT_EQ(bound.status, 201) << bound;
  EXPECT_EQ(bound.json["kind"].str(), "Status");
  EXPECT_EQ(api().get(pods + "/bound").json["spec"]["nodeName"].str(), "n1");
  expect_failure(api().post(pods + "/bound/binding", binding), 409, "Conflict", "already assigned to node \"n1\"");
  EXPECT_EQ(api().get(pods + "/bound/binding").status, 405);
}

TEST(Kinds, APodIsEvictedAsItsDisruptionBudgetAllows) {  // SUB-4
  const std::string pods = "/api/v1/namespaces/default/pods";
  const std::string budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  ASSERT_EQ(api().post(pods, running_pod("evicted")).status, 201);
  ASSERT_EQ(api().patch(pods + "/evicted/status", "merge", json(R"({"status":{"phase":"Running"}})")).status, 200);
  ASSERT_EQ(api()
                .post(budgets, json(R"({"metadata":{"name":"evicted"},"spec":{"minAvailable":1,
      "selector":{"matchLabels":{"app":"evicted"}}}})"))
                .status,
            201);
  const Value eviction = json(R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"evicted"}})");
  expect_failure(api().post(pods + "/evicted/eviction", eviction), 429, "TooManyRequests",
                 "Cannot evict pod as it would violate the pod's disruption budget.");
  ASSERT_EQ(api().patch(budgets + "/evicted/status", "merge", json(R"({"status":{"disruptionsAllowed":1}})")).status,
            200);
  EXPECT_EQ(api().post(pods + "/evicted/eviction?dryRun=All", eviction).status, 201);
  for (const char* precondition : {R"({"uid":"another"})", R"({"resourceVersion":"1"})"}) {
    Value conditional = eviction;
    conditional.set("deleteOptions", Value::object({{"preconditions", json(precondition)}}));
    expect_failure(api().post(pods + "/evicted/eviction", conditional), 409, "Conflict", "in the precondition (");
  }
  EXPECT_EQ(api().get(pods + "/evicted").status, 200);
  const Answer evicted = api().post(pods + "/evicted/eviction", eviction);
  ASSERT_EQ(evicted.status, 201) << evicted;
  EXPECT_EQ(api().get(pods + "/evicted").status, 404);
  EXPECT_EQ(api().get(budgets + "/evicted").json["status"]["disruptionsAllowed"].as_int(), 0);
}

TEST(Kinds, StatusIsWrittenApart) {
  const std::string budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
  const Answer made = api().post(budgets, json(R"({"metadata":{"name":"apart"},"spec":{"maxUnavailable":1},
      "status":{"currentHealthy":9}})"));
  ASSERT_EQ(made.status, 201) << made;
  EXPECT_EQ(made.json["status"]["currentHealthy"].as_int(), 0) << "not what the client says " << made;
  const Answer status = api().patch(budgets + "/apart/status", "merge", json(R"({"status":{"currentHealthy":2},
      "spec":{"maxUnavailable":7}})"));
  ASSERT_EQ(status.status, 200) << status;
  EXPECT_EQ(status.json["status"]["currentHealthy"].as_int(), 2);
  EXPECT_EQ(status.json["spec"]["maxUnavailable"].as_int(), 1);
}

}  // namespace
}  // namespace shiplog::e2e
