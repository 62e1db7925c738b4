// Defaults and refusals of the kinds around workloads: endpoints, scaling, networking, storage, certificates, webhooks,
// flow control.
#include "services/api/admission/field_checks.h"
#include "tests/support/admit.h"

namespace shiplog::api {
namespace {

constexpr const char* kPod = R"("metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"c","image":"i:1"}]})";

TEST(Endpoints, AddressesAndPortsAreChecked) {
  const Value good = json(R"({"metadata":{"name":"e"},"subsets":[{"addresses":[{"ip":"10.0.0.1"},{"ip":"2001:db8::1"}],
      "ports":[{"port":80}]}]})");
  const auto made = create("endpoints", good);
  ASSERT_TRUE(made.has_value()) << message_of(made);
  EXPECT_EQ(made.value()["subsets"][0]["ports"][0]["protocol"].str(), "TCP");
  const auto refused = create("endpoints", json(R"({"metadata":{"name":"e"},"subsets":[{},{"addresses":[{"ip":"10.0.0"},
      {"ip":"127.0.0.1"},{"ip":"169.254.3.4"},{"ip":"0.0.0.0"},{"ip":"224.0.0.9"},{"ip":"10.0.0.1","hostname":"A_b"}],
      "ports":[{"port":0},{"name":"b","port":80,"protocol":"ICMP"}]}]})"));
  EXPECT_EQ(fields_of(refused),
            "subsets[0],subsets[1].addresses[0].ip,subsets[1].addresses[1].ip,subsets[1].addresses[2].ip,"
            "subsets[1].addresses[3].ip,subsets[1].addresses[4].ip,subsets[1].addresses[5].hostname,"
            "subsets[1].ports[0].name,subsets[1].ports[0].port,subsets[1].ports[1].protocol");
}

TEST(EndpointSlices, AddressesHaveTheTypeOfTheSlice) {
  const char* type = "endpointslices.discovery.k8s.io";
  const Value good = json(R"({"metadata":{"name":"e"},"addressType":"IPv4","endpoints":[{"addresses":["10.0.0.1"]}],
      "ports":[{"port":80}]})");
  const auto made = create(type, good);
  ASSERT_TRUE(made.has_value()) << message_of(made);
  EXPECT_EQ(to_json(made.value()["ports"]), R"([{"name":"","port":80,"protocol":"TCP"}])");
  EXPECT_EQ(made.value()["metadata"]["generation"].as_int(), 1);
  EXPECT_EQ(fields_of(create(type, json(R"({"metadata":{"name":"e"},"addressType":"IPv4","endpoints":[{"addresses":[]},
      {"addresses":["::1"]}],"ports":[{"port":1},{"port":99999}]})"))),
            "endpoints[0].addresses,endpoints[1].addresses,endpoints[1].addresses[0],ports[1].name,ports[1].port");
  EXPECT_EQ(fields_of(create(type, json(R"({"metadata":{"name":"e"},"addressType":"MAC"})"))), "addressType");
  EXPECT_EQ(fields_of(create(type, json(R"({"metadata":{"name":"e"},"addressType":"FQDN","endpoints":[{"addresses":[
      "a.example","A_B"]}]})"))),
            "endpoints[0].addresses[1]");
  Value changed = stored(type, good);
  changed.set("addressType", "IPv6");
  EXPECT_EQ(fields_of(update(type, stored(type, good), changed)), "addressType,endpoints[0].addresses");
  Value many = good;
  for (int i = 0; i < 101; ++i) many.edit("endpoints").edit_items()[0].edit("addresses").push_back("10.0.0.1");
  EXPECT_NE(message_of(create(type, many)).find("Too many: 102: must have at most 100 items"), std::string::npos);
}

TEST(ReplicationControllers, TakeTheTemplatesLabels) {
  const auto made = create("replicationcontrollers",
                           json(R"({"metadata":{"name":"r"},"spec":{"template":{)" + std::string{kPod} + "}}}"));
  ASSERT_TRUE(made.has_value()) << message_of(made);
  const Value& spec = made.value()["spec"];
  EXPECT_EQ(spec["replicas"].as_int(), 1);
  EXPECT_EQ(to_json(spec["selector"]), R"({"app":"a"})");
  EXPECT_EQ(to_json(made.value()["metadata"]["labels"]), R"({"app":"a"})");
  EXPECT_EQ(spec["template"]["spec"]["restartPolicy"].str(), "Always");
  EXPECT_EQ(fields_of(create("replicationcontrollers", json(R"({"metadata":{"name":"r"},"spec":{"replicas":-1}})"))),
            "spec.replicas,spec.selector,spec.template");
  EXPECT_EQ(fields_of(create("replicationcontrollers",
                             json(R"({"metadata":{"name":"r"},"spec":{"selector":{"app":"b"},"template":{)" +
                                  std::string{kPod} + "}}}"))),
            "spec.template.metadata.labels");
}

TEST(PodTemplates, AreCheckedLikePods) {
  const auto made = create("podtemplates", json(R"({"metadata":{"name":"t"},"template":{)" + std::string{kPod} + "}}"));
  ASSERT_TRUE(made.has_value()) << message_of(made);
  EXPECT_EQ(made.value()["template"]["spec"]["containers"][0]["imagePullPolicy"].str(), "IfNotPresent");
  EXPECT_EQ(fields_of(create("podtemplates", json(R"({"metadata":{"name":"t"},"template":{"spec":{"containers":[
      {"name":"c"}]}}})"))),
            "template.spec.containers[0].image");
}

TEST(HorizontalPodAutoscalers, GetAMetricAndBounds) {
  const char* type = "horizontalpodautoscalers.autoscaling";
  const auto made = create(type, json(R"({"metadata":{"name":"h"},"spec":{"maxReplicas":3,"scaleTargetRef":{
      "apiVersion":"apps/v1","kind":"Deployment","name":"web"},"behavior":{"scaleDown":{"selectPolicy":"Min"}}}})"));
  ASSERT_TRUE(made.has_value()) << message_of(made);
  const Value& spec = made.value()["spec"];
  EXPECT_EQ(spec["minReplicas"].as_int(), 1);
  EXPECT_EQ(
      to_json(spec["metrics"]),
      R"([{"resource":{"name":"cpu","target":{"averageUtilization":80,"type":"Utilization"}},"type":"Resource"}])");
  EXPECT_EQ(to_json(spec["behavior"]["scaleDown"]),
            R"({"policies":[{"periodSeconds":15,"type":"Percent","value":100}],"selectPolicy":"Min"})");
  EXPECT_EQ(spec["behavior"]["scaleUp"]["policies"].size(), 2U);
  EXPECT_EQ(fields_of(create(type, json(R"({"metadata":{"name":"h"},"spec":{"minReplicas":5,"maxReplicas":3,
      "scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment"},"metrics":[{"type":"Magic"},{"type":"Pods"}]}})"))),
            "spec.scaleTargetRef.name,spec.maxReplicas,spec.metrics[0].type,spec.metrics[1].pods");
  EXPECT_EQ(fields_of(create(type, json(R"({"metadata":{"name":"h"},"spec":{"maxReplicas":3,"scaleTargetRef":{
      "apiVersion":"apps/v1","kind":"Deployment","name":"web"},"metrics":[{"type":"Resource","resource":{"target":{"type":"Utilization"}}},
      {"type":"Pods","pods":{"metric":{},"target":{"type":"Guess"}}},{"type":"ContainerResource","containerResource":{
      "name":"cpu","target":{"type":"Utilization","averageUtilization":0}}},{"type":"Object","object":{"metric":{
      "name":"m"},"describedObject":{"kind":"Service"},"target":{"type":"Value","value":"-1"}}},{"type":"Resource",
      "resource":{"name":"cpu","target":{"averageUtilization":1,"averageValue":"1"}}}]}})"))),
            "spec.metrics[0].resource.name,spec.metrics[0].resource.target.averageUtilization,"
            "spec.metrics[1].pods.target.type,spec.metrics[1].pods.metric.name,"
            "spec.metrics[2].containerResource.target.averageUtilization,spec.metrics[2].containerResource.container,"
            "spec.metrics[3].object.target.value,spec.metrics[3].object.describedObject.name,"
            "spec.metrics[4].resource.target.type,spec.metrics[4].resource.target.averageValue,"
            "spec.metrics[1].pods.target.averageValue");
  const auto external = create(type, json(R"({"metadata":{"name":"h"},"spec":{"maxReplicas":3,"scaleTargetRef":{
      "apiVersion":"apps/v1","kind":"Deployment","name":"web"},"metrics":[{"type":"External","external":{"metric":{"name":"q"},"target":{
      "type":"AverageValue","averageValue":"30"}}}]}})"));
  EXPECT_TRUE(external.has_value()) << message_of(external);
}

/// An autoscaler of the Deployment web, unless `parts` name another target.
Value autoscaler(const std::string& parts, const char* target = R"("apiVersion":"apps/v1","kind":"Deployment")") {
  return json(R"({"metadata":{"name":"h"},"spec":{"scaleTargetRef":{"name":"web",)" + std::string{target} + "}," +
              parts + "}}");
}

TEST(HorizontalPodAutoscalers, AreJudgedAsByNewerVersions) {  // CRU-9
  const char* type = "horizontalpodautoscalers.autoscaling";
  const auto refusal = [&](const Value& object) {
    const auto refused = create(type, object);
    return refused ? "no error" : refused.error().causes[0].field + ": " + refused.error().causes[0].message;
  };
  EXPECT_EQ(refusal(autoscaler(R"("maxReplicas":0,"minReplicas":1)")),
            "spec.maxReplicas: Required value: must be set and greater than 0");
  EXPECT_EQ(refusal(autoscaler(R"("maxReplicas":-1)")),
            "spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1");
  EXPECT_EQ(refusal(autoscaler(R"("maxReplicas":3,"minReplicas":0)")),
            "spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero "
            "replicas");
  EXPECT_EQ(refusal(autoscaler(R"("maxReplicas":3,"minReplicas":0,"metrics":[{"type":"External","external":{"metric":
                {"name":"q"},"target":{"type":"AverageValue","averageValue":"30"}}}])")),
            "no error")
      << "with a feature gate";
  EXPECT_EQ(refusal(autoscaler(R"("maxReplicas":3)", R"("kind":"Deployment")")),
            R"(spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group)");
  EXPECT_EQ(refusal(autoscaler(R"("maxReplicas":3)", R"("apiVersion":"a/b/c","kind":"D")")),
            R"(spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c)");
  EXPECT_EQ(refusal(autoscaler(R"("maxReplicas":3)", R"("kind":"ReplicationController")")), "no error");
  EXPECT_EQ(refusal(autoscaler(R"("maxReplicas":3,"behavior":{"scaleUp":{"tolerance":"-0.1"}})")),
            R"(spec.behavior.scaleUp.tolerance: Invalid value: "-100m": must be greater than or equal to 0)");
  EXPECT_EQ(refusal(autoscaler(R"("maxReplicas":3,"behavior":{"scaleUp":{"tolerance":"0.05"}})")), "no error");
  Value old = stored(type, autoscaler(R"("maxReplicas":3)"));
  old.edit("spec").edit("scaleTargetRef").erase("apiVersion");
  Value changed = old;
  changed.edit("spec").set("maxReplicas", 4);
  EXPECT_EQ(message_of(update(type, old, changed)), "no error") << "an older build stored it";
}

TEST(PodDisruptionBudgets, HaveOneAmount) {
  const char* type = "poddisruptionbudgets.policy";
  EXPECT_TRUE(create(type, json(R"({"metadata":{"name":"p"},"spec":{"minAvailable":"50%"}})")).has_value());
  EXPECT_EQ(fields_of(create(type, json(R"({"metadata":{"name":"p"},"spec":{"minAvailable":-1,"maxUnavailable":"101%",
      "unhealthyPodEvictionPolicy":"Never","selector":{"matchExpressions":[{"key":"a","operator":"In"}]}}})"))),
            "spec,spec.minAvailable,spec.maxUnavailable,spec.selector.matchExpressions[0].values,"
            "spec.unhealthyPodEvictionPolicy");
  EXPECT_EQ(fields_of(create(type, json(R"({"metadata":{"name":"p"},"spec":{"maxUnavailable":"some"}})"))),
            "spec.maxUnavailable");
}

TEST(IngressClasses, KeepTheirController) {
  const char* type = "ingressclasses.networking.k8s.io";
  const Value good =
      json(R"({"metadata":{"name":"i"},"spec":{"controller":"a.io/c","parameters":{"kind":"P","name":"p"}}})");
  const auto made = create(type, good);
  ASSERT_TRUE(made.has_value()) << message_of(made);
  EXPECT_EQ(made.value()["spec"]["parameters"]["scope"].str(), "Cluster");
  EXPECT_EQ(fields_of(create(type, json(R"({"metadata":{"name":"i"},"spec":{"parameters":{"kind":"P","name":"p",
      "scope":"Namespace"}}})"))),
            "spec.controller,spec.parameters.namespace");
  EXPECT_EQ(fields_of(create(type, json(R"({"metadata":{"name":"i"},"spec":{"controller":"plain","parameters":{
      "kind":"P","name":"p","namespace":"n"}}})"))),
            "spec.controller,spec.parameters.namespace");
  Value changed = stored(type, good);
  changed.edit("spec").set("controller", "a.io/other");
  EXPECT_EQ(fields_of(update(type, stored(type, good), changed)), "spec.controller");
}

TEST(NetworkPolicies, NamePeersAndPorts) {
  const char* type = "networkpolicies.networking.k8s.io";
  const auto made = create(type, json(R"({"metadata":{"name":"n"},"spec":{"podSelector":{},"egress":[{"to":[{"ipBlock":{
      "cidr":"10.0.0.0/8","except":["10.1.0.0/16"]}}],"ports":[{"port":80,"endPort":90}]}]}})"));
  ASSERT_TRUE(made.has_value()) << message_of(made);
  EXPECT_EQ(to_json(made.value()["spec"]["policyTypes"]), R"(["Ingress","Egress"])");
  EXPECT_EQ(made.value()["spec"]["egress"][0]["ports"][0]["protocol"].str(), "TCP");
  EXPECT_EQ(fields_of(create(type, json(R"({"metadata":{"name":"n"},"spec":{"podSelector":{},"ingress":[{"from":[{},
      {"ipBlock":{"cidr":"10.0.0.0/8","except":["11.0.0.0/16","10.0.0.0/8","x"]},"podSelector":{}},{"ipBlock":{
      "cidr":"10.0.0.0/33"}}],"ports":[{"port":70000},{"port":"UPPER"},{"port":80,"endPort":7},{"endPort":7},
      {"port":80,"protocol":"X"}]}],"policyTypes":["Ingress","Sideways"]}})"))),
            "spec.ingress[0].ports[0].port,spec.ingress[0].ports[1].port,spec.ingress[0].ports[2].endPort,"
            "spec.ingress[0].ports[3].endPort,spec.ingress[0].ports[4].protocol,spec.ingress[0].from[0],"
            "spec.ingress[0].from[1].ipBlock.except[0],spec.ingress[0].from[1].ipBlock.except[1],"
            "spec.ingress[0].from[1].ipBlock.except[2],spec.ingress[0].from[1],spec.ingress[0].from[2].ipBlock.cidr,"
            "spec.policyTypes[1]");
}

TEST(StorageClasses, DoNotChange) {
  const char* type = "storageclasses.storage.k8s.io";
  const Value good = json(R"({"metadata":{"name":"s"},"provisioner":"a.io/p","parameters":{"k":"v"}})");
  const Value made = stored(type, good);
  EXPECT_EQ(made["reclaimPolicy"].str(), "Delete");
  EXPECT_EQ(made["volumeBindingMode"].str(), "Immediate");
  Value changed = made;
  changed.set("provisioner", "a.io/q");
  changed.set("parameters", json(R"({"k":"w"})"));
  changed.set("reclaimPolicy", "Retain");
  changed.set("volumeBindingMode", "WaitForFirstConsumer");
  const auto refused = update(type, made, changed);
  EXPECT_EQ(fields_of(refused), "parameters,provisioner,reclaimPolicy,volumeBindingMode");
  EXPECT_NE(message_of(refused).find(R"(provisioner: Invalid value: "a.io/q": field is immutable)"), std::string::npos);
  EXPECT_EQ(fields_of(create(type, json(R"({"metadata":{"name":"s"},"reclaimPolicy":"Recycle",
      "allowedTopologies":[{"matchLabelExpressions":[{"key":"z"}]}]})"))),
            "provisioner,reclaimPolicy,allowedTopologies[0].matchLabelExpressions[0].values");
}

TEST(CsiDriversAndAttachments, AreChecked) {
  const char* driver = "csidrivers.storage.k8s.io";
  const Value made = stored(driver, json(R"({"metadata":{"name":"d.io"}})"));
  EXPECT_EQ(to_json(made["spec"]),
            R"({"attachRequired":true,"fsGroupPolicy":"ReadWriteOnceWithFSType","podInfoOnMount":false,)"
            R"("requiresRepublish":false,"seLinuxMount":false,"storageCapacity":false,)"
            R"("volumeLifecycleModes":["Persistent"]})");
  Value changed = made;
  changed.edit("spec").set("attachRequired", false);
  EXPECT_EQ(fields_of(update(driver, made, changed)), "spec.attachRequired");
  EXPECT_EQ(fields_of(create(driver, json(R"({"metadata":{"name":"d.io"},"spec":{"volumeLifecycleModes":["Eternal"],
      "tokenRequests":[{"audience":"a","expirationSeconds":60},{"audience":"a"}]}})"))),
            "spec.volumeLifecycleModes[0],spec.tokenRequests[0].expirationSeconds,spec.tokenRequests[1].audience");
  const char* attachment = "volumeattachments.storage.k8s.io";
  EXPECT_EQ(fields_of(create(attachment, json(R"({"metadata":{"name":"v"}})"))),
            "spec.attacher,spec.nodeName,spec.source");
  const Value attached = stored(attachment, json(R"({"metadata":{"name":"v"},"spec":{"attacher":"d","nodeName":"n",
      "source":{"persistentVolumeName":"p"}}})"));
  Value moved = attached;
  moved.edit("spec").set("nodeName", "other");
  EXPECT_EQ(fields_of(update(attachment, attached, moved)), "spec");
}

TEST(CsiNodes, KeepTheirDriversAsTheyAre) {
  const char* type = "csinodes.storage.k8s.io";
  const Value made = stored(type, json(R"({"metadata":{"name":"n"},"spec":{"drivers":[{"name":"a.io","nodeID":"i",
      "topologyKeys":["a.io/zone"]}]}})"));
  Value changed = made;
  changed.edit("spec").edit("drivers").edit_items()[0].set("nodeID", "j");
  EXPECT_EQ(fields_of(update(type, made, changed)), "spec.drivers");
  changed = made;
  changed.edit("spec").set("drivers", Value::array());
  EXPECT_TRUE(update(type, made, changed).has_value()) << "a driver may be taken away";
  EXPECT_EQ(fields_of(create(type, json(R"({"metadata":{"name":"n"},"spec":{"drivers":[{"name":"A_","nodeID":""},
      {"name":"b.io","nodeID":"i","allocatable":{"count":-1}},{"name":"b.io","nodeID":"i","topologyKeys":["x","x","/"]}
      ]}})"))),
            "spec.drivers[0].name,spec.drivers[0].nodeID,spec.drivers[1].allocatable.count,spec.drivers[2],"
            "spec.drivers[2],spec.drivers[2].name");
}

TEST(CsiStorageCapacities, KeepWhatTheyAreAbout) {
  const char* type = "csistoragecapacities.storage.k8s.io";
  const Value made = stored(type, json(R"({"metadata":{"name":"c"},"storageClassName":"s","capacity":"1Gi",
      "nodeTopology":{"matchLabels":{"a":"b"}}})"));
  Value changed = made;
  changed.set("capacity", "2Gi");
  EXPECT_TRUE(update(type, made, changed).has_value());
  changed.set("storageClassName", "t");
  changed.erase("nodeTopology");
  EXPECT_EQ(fields_of(update(type, made, changed)), "nodeTopology,storageClassName");
  EXPECT_EQ(fields_of(create(type, json(R"({"metadata":{"name":"c"},"storageClassName":"S_s","capacity":"-1",
      "nodeTopology":{"matchExpressions":[{"key":"a","operator":"In"}]}})"))),
            "nodeTopology.matchExpressions[0].values,storageClassName,capacity");
}

TEST(RuntimeClasses, KeepTheirHandler) {
  const char* type = "runtimeclasses.node.k8s.io";
  const Value made = stored(type, json(R"({"metadata":{"name":"r"},"handler":"runc","overhead":{"podFixed":{"cpu":
      "100m"}},"scheduling":{"nodeSelector":{"a":"b"},"tolerations":[{"key":"a","operator":"Exists"}]}})"));
  Value changed = made;
  changed.edit("metadata").set("labels", json(R"({"a":"b"})"));
  EXPECT_TRUE(update(type, made, changed).has_value());
  changed.set("handler", "kata");
  const auto refused = update(type, made, changed);
  EXPECT_EQ(fields_of(refused), "handler");
  EXPECT_NE(message_of(refused).find("field is immutable"), std::string::npos);
  EXPECT_EQ(fields_of(create(type, json(R"({"metadata":{"name":"r"},"handler":"a.b","overhead":{"podFixed":{"cpu":
      "-1"}},"scheduling":{"nodeSelector":{"a":"/"},"tolerations":[{"operator":"Equal"}]}})"))),
            "handler,overhead.limits[cpu],scheduling.nodeSelector,scheduling.tolerations[0].operator");
}

TEST(SigningRequests, HaveTheirFieldsAndNeverTheRequester) {
  const char* type = "certificatesigningrequests.certificates.k8s.io";
  const Value good = json(R"({"metadata":{"name":"c"},"spec":{"request":
      "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUE9PQotLS0tLUVORCBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0K",
      "signerName":"example.com/serving","usages":["client auth"],"username":"root","groups":["system:masters"]}})");
  const Value made = stored(type, good);
  EXPECT_FALSE(made["spec"].contains("username"));
  EXPECT_FALSE(made["spec"].contains("groups"));
  Value changed = made;
  changed.edit("spec").set("username", "root");
  changed.edit("spec").set("usages", json(R"(["any"])"));
  changed.edit("metadata").set("labels", json(R"({"a":"b"})"));
  const auto updated = update(type, made, changed);
  ASSERT_TRUE(updated.has_value()) << message_of(updated);
  EXPECT_EQ(updated.value()["spec"], made["spec"]);
  EXPECT_EQ(updated.value()["metadata"]["labels"]["a"].str(), "b");
  EXPECT_EQ(fields_of(create(type, json(R"({"metadata":{"name":"c"},"spec":{"request":"Zg==","signerName":"plain",
      "usages":["server auth","magic","server auth"],"expirationSeconds":60}})"))),
            "spec.request,spec.signerName,spec.usages[1],spec.usages[2],spec.expirationSeconds");
  EXPECT_EQ(fields_of(create(type, json(R"({"metadata":{"name":"c"},"spec":{}})"))),
            "spec.request,spec.signerName,spec.usages");
}

TEST(Webhooks, AreUniqueAndReachable) {
  for (const char* type : {"validatingwebhookconfigurations.admissionregistration.k8s.io",
                           "mutatingwebhookconfigurations.admissionregistration.k8s.io"}) {
    const auto made =
        create(type, json(R"({"metadata":{"name":"w"},"webhooks":[{"name":"a.b.c","clientConfig":{"service":{
        "namespace":"n","name":"s"}},"sideEffects":"None","admissionReviewVersions":["v1"],"rules":[{"operations":["*"],
        "apiGroups":[""],"apiVersions":["v1"],"resources":["pods"]}]}]})"));
    ASSERT_TRUE(made.has_value()) << message_of(made);
    const Value& hook = made.value()["webhooks"][0];
    EXPECT_EQ(hook["failurePolicy"].str(), "Fail");
    EXPECT_EQ(hook["matchPolicy"].str(), "Equivalent");
    EXPECT_EQ(hook["timeoutSeconds"].as_int(), 10);
    EXPECT_EQ(hook["clientConfig"]["service"]["port"].as_int(), 443);
    EXPECT_EQ(hook["rules"][0]["scope"].str(), "*");
    EXPECT_EQ(hook["reinvocationPolicy"].str(), type[0] == 'm' ? "Never" : "");
    EXPECT_EQ(fields_of(create(type, json(R"({"metadata":{"name":"w"},"webhooks":[{"name":"a.b","clientConfig":{
        "url":"http://x"},"sideEffects":"Some","admissionReviewVersions":["v2"],"timeoutSeconds":31,"rules":[{
        "operations":["CREATE","*"],"apiGroups":["*"],"apiVersions":["v1"]}]}]})"))),
              "webhooks[0].name,webhooks[0].clientConfig.url,webhooks[0].rules[0].operations,"
              "webhooks[0].rules[0].resources,webhooks[0].sideEffects,webhooks[0].timeoutSeconds,"
              "webhooks[0].admissionReviewVersions");
  }
}

TEST(Webhooks, ResourcesOfARuleDoNotIncludeEachOther) {
  const std::string type = "validatingwebhookconfigurations.admissionregistration.k8s.io";
  const auto hook = [&](const std::string& resources, const std::string& versions) {
    return json(R"({"metadata":{"name":"w","uid":"u","resourceVersion":"1"},"webhooks":[{"name":"a.b.c","clientConfig":{
        "service":{"namespace":"n","name":"s","path":""}},"sideEffects":"None","admissionReviewVersions":)" +
                versions +
                R"(,"rules":[{"operations":["*"],"apiGroups":[""],"apiVersions":["v1"],"scope":"*","resources":)" +
                resources + "}]}]}");
  };
  const auto refusal = [&](const std::string& resources, const std::string& versions = R"(["v1"])") {
    Value object = hook(resources, versions);
    object.edit("metadata").erase("uid");
    object.edit("metadata").erase("resourceVersion");
    const auto made = create(type.c_str(), std::move(object));
    if (made) return std::string{};
    const FieldCause& cause = made.error().causes.at(0);
    return cause.field + ": " + cause.message;
  };
  EXPECT_EQ(refusal(R"(["*","pods/status"])"), "");
  EXPECT_NE(refusal(R"(["*","pods"])").find("if '*' is present, must not specify other resources without subresources"),
            std::string::npos);
  EXPECT_NE(refusal(R"(["*/*","pods"])").find("if '*/*' is present, must not specify other resources"),
            std::string::npos);
  EXPECT_NE(refusal(R"(["pods/*","pods/status"])").find("if 'pods/*' is present, must not specify pods/status"),
            std::string::npos);
  EXPECT_NE(refusal(R"(["*/scale","pods/scale"])").find("if '*/scale' is present, must not specify pods/scale"),
            std::string::npos);
  EXPECT_NE(refusal(R"(["pods"])", R"(["v1","v1"])").find("duplicate version"), std::string::npos);
  EXPECT_NE(refusal(R"(["pods"])", R"(["v1","V 2"])").find("webhooks[0].admissionReviewVersions[1]"),
            std::string::npos);

  // As an older build may have stored it.
  const Value old = hook(R"(["*","pods"])", R"(["v1","v1"])");
  Value changed = old;
  changed.edit("metadata").set("labels", Value::object({{"a", "b"}}));
  Admission admission;
  admission.kinds = &Kinds::compiled();
  admission.kind = admission.kinds->find_type(type);
  admission.name = "w";
  const auto updated = admit_update(admission, old, changed);
  EXPECT_TRUE(updated.has_value()) << message_of(updated);
}

TEST(ApiServices, AreNamedAfterWhatTheyServe) {
  const char* type = "apiservices.apiregistration.k8s.io";
  const auto made = create(type, json(R"({"metadata":{"name":"v1.a.io"},"spec":{"group":"a.io","version":"v1",
      "groupPriorityMinimum":100,"versionPriority":10,"service":{"namespace":"n","name":"s"}}})"));
  ASSERT_TRUE(made.has_value()) << message_of(made);
  EXPECT_EQ(made.value()["spec"]["service"]["port"].as_int(), 443);
  const auto core = create(type, json(R"({"metadata":{"name":"v1."},"spec":{"version":"v1","groupPriorityMinimum":18000,
      "versionPriority":1}})"));
  EXPECT_TRUE(core.has_value()) << message_of(core);
  EXPECT_EQ(fields_of(create(type, json(R"({"metadata":{"name":"other"},"spec":{"group":"a.io","version":"v1",
      "groupPriorityMinimum":100000,"caBundle":"Zg==","insecureSkipTLSVerify":true}})"))),
            "metadata.name,spec.groupPriorityMinimum,spec.versionPriority,spec.caBundle,spec.insecureSkipTLSVerify");
}

TEST(Names, AreTakenAsKubernetesTakesThem) {  // META-1
  const char* event = R"({"metadata":{"name":"system:node.17ab","namespace":"default"},"involvedObject":{"namespace":
      "default"},"eventTime":null})";
  EXPECT_EQ(message_of(create("events", json(event))), "no error");
  const char* drivers = R"({"metadata":{"name":"n"},"spec":{"drivers":[{"name":"Dobs.csi.X.com","nodeID":"a"}]}})";
  EXPECT_EQ(message_of(create("csinodes.storage.k8s.io", json(drivers))), "no error");
  const char* provisioner = R"({"metadata":{"name":"s"},"provisioner":"MyCorp.com/foo"})";
  EXPECT_EQ(message_of(create("storageclasses.storage.k8s.io", json(provisioner))), "no error");
  // Only the name is of interest here.
  const char* request = R"({"metadata":{"name":"node-csr-AbC_d"},"spec":{"request":"YQ==","signerName":"a.b/c",
      "usages":["client auth"]}})";
  EXPECT_EQ(fields_of(create("certificatesigningrequests.certificates.k8s.io", json(request))), "spec.request");
}

TEST(LimitRanges, CompareAmountsAndNotTexts) {  // CRU-10
  const auto limits = [](const char* item) {
    return json(R"({"metadata":{"name":"l"},"spec":{"limits":[{"type":"Container",)" + std::string{item} + "}]}}");
  };
  EXPECT_EQ(message_of(create("limitranges", limits(R"("default":{"hugepages-2Mi":"2097152"},"defaultRequest":
      {"hugepages-2Mi":"2Mi"})"))),
            "no error");
  EXPECT_EQ(fields_of(create("limitranges", limits(R"("default":{"hugepages-2Mi":"4Mi"},"defaultRequest":
      {"hugepages-2Mi":"2Mi"})"))),
            "spec.limits[0].defaultRequest[hugepages-2Mi]");
  EXPECT_EQ(message_of(create("limitranges", limits(R"("min":{"cpu":"0"},"max":{"cpu":"0"},"maxLimitRequestRatio":
      {"cpu":"2"})"))),
            "no error");
}

TEST(ApiServices, WithoutAStatusGetNone) {
  const char* type = "apiservices.apiregistration.k8s.io";
  Value old = stored(type, json(R"({"metadata":{"name":"v1.a.io"},"spec":{"group":"a.io","version":"v1",
      "groupPriorityMinimum":100,"versionPriority":10,"service":{"namespace":"n","name":"s"}}})"));
  old.erase("status");
  const auto updated = update(type, old, old);
  ASSERT_TRUE(updated.has_value()) << message_of(updated);
  EXPECT_EQ(updated.value(), old);
}

TEST(FlowControl, IsCheckedThoughNothingIsQueuedYet) {
  const char* schemas = "flowschemas.flowcontrol.apiserver.k8s.io";
  const auto made = create(schemas, json(R"({"metadata":{"name":"f"},"spec":{"priorityLevelConfiguration":{"name":"p"},
      "rules":[{"subjects":[{"kind":"User","user":{"name":"*"}}],"nonResourceRules":[{"verbs":["*"],
      "nonResourceURLs":["*"]}]}]}})"));
  ASSERT_TRUE(made.has_value()) << message_of(made);
  EXPECT_EQ(made.value()["spec"]["matchingPrecedence"].as_int(), 1000);
  EXPECT_EQ(fields_of(create(schemas, json(R"({"metadata":{"name":"f"},"spec":{"priorityLevelConfiguration":{},
      "matchingPrecedence":10001,"distinguisherMethod":{"type":"ByMood"},"rules":[{"subjects":[{"kind":"User"}],
      "resourceRules":[{"verbs":["get"],"apiGroups":[""]}]},{}]}})"))),
            "spec.priorityLevelConfiguration.name,spec.matchingPrecedence,spec.distinguisherMethod.type,"
            "spec.rules[0].subjects[0].user,spec.rules[0].resourceRules[0].resources,"
            "spec.rules[0].resourceRules[0].namespaces,spec.rules[1].subjects,spec.rules[1]");
  const char* levels = "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io";
  const auto level =
      create(levels, json(R"({"metadata":{"name":"p"},"spec":{"type":"Limited","limited":{"limitResponse":{
      "type":"Queue","queuing":{}}}}})"));
  ASSERT_TRUE(level.has_value()) << message_of(level);
  EXPECT_EQ(to_json(level.value()["spec"]["limited"]),
            R"({"lendablePercent":0,"limitResponse":{"queuing":{"handSize":8,"queueLengthLimit":50,"queues":64},)"
            R"("type":"Queue"},"nominalConcurrencyShares":30})");
  EXPECT_EQ(fields_of(create(levels, json(R"({"metadata":{"name":"p"},"spec":{"type":"Limited"}})"))), "spec.limited");
  EXPECT_EQ(fields_of(create(levels, json(R"({"metadata":{"name":"p"},"spec":{"type":"Limited","limited":{
      "lendablePercent":101,"limitResponse":{"type":"Queue","queuing":{"queues":2,"handSize":3}}}}})"))),
            "spec.limited.lendablePercent,spec.limited.limitResponse.queuing.handSize");
  EXPECT_EQ(fields_of(create(levels, json(R"({"metadata":{"name":"exempt"},"spec":{"type":"Exempt","limited":{
      "limitResponse":{"type":"Reject"}}}})"))),
            "spec.limited");
}

TEST(FieldChecks, ReadAddressesAndNetworks) {
  EXPECT_EQ(parse_ip("10.0.0.1")->size, 4U);
  EXPECT_EQ(parse_ip("::ffff:1.2.3.4")->size, 16U);
  for (const char* wrong : {"", "10.0.0", "010.0.0.1", "10.0.0.1/8", "1::2::3", " 10.0.0.1"}) {
    EXPECT_FALSE(parse_ip(wrong).has_value()) << wrong;
  }
  EXPECT_EQ(parse_cidr("10.0.0.0/8")->prefix, 8U);
  for (const char* wrong : {"10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x", "::/129"}) {
    EXPECT_FALSE(parse_cidr(wrong).has_value()) << wrong;
  }
  EXPECT_TRUE(parse_cidr("10.0.0.0/9")->contains(*parse_cidr("10.127.0.0/16")));
  EXPECT_FALSE(parse_cidr("10.0.0.0/9")->contains(*parse_cidr("10.128.0.0/16")));
  EXPECT_FALSE(parse_cidr("10.0.0.0/9")->contains(*parse_cidr("10.0.0.0/8")));
  EXPECT_FALSE(parse_cidr("0.0.0.0/0")->contains(*parse_ip("::1")));
}

TEST(ResourceRegistries, NameNamespacesThatCanBeOne) {
  const char* kRegistries = "resourceregistries.search.karmada.io";
  const auto registry = [](const std::string& ns) {
    return json(R"({"metadata":{"name":"r"},"spec":{"targetCluster":{},"resourceSelectors":[
        {"apiVersion":"v1","kind":"Pod"},{"apiVersion":"v1","kind":"Pod","namespace":")" +
                ns + R"("}]}})");
  };
  EXPECT_TRUE(create(kRegistries, registry("default")));
  EXPECT_TRUE(create(kRegistries, registry("")));
  for (const char* ns : {"default/services/http:x:80/proxy/admin", "..", "a?b", "A", "a%2fb"}) {
    EXPECT_EQ(fields_of(create(kRegistries, registry(ns))), "spec.resourceSelectors[1].namespace") << ns;
  }
}

TEST(Addresses, OlderFieldsAllowZerosBeforeANumber) {
  struct Case {
    const char* type;
    const char* object;
  };
  const Case cases[] = {
      {"endpoints", R"({"subsets":[{"addresses":[{"ip":"192.168.3.011"}],"ports":[{"port":8000}]}]})"},
      {"endpointslices.discovery.k8s.io", R"({"addressType":"IPv4","endpoints":[{"addresses":["10.244.0.011"]}]})"},
      {"networkpolicies.networking.k8s.io", R"({"spec":{"podSelector":{},"ingress":[{"from":[{"ipBlock":
          {"cidr":"172.017.0.0/16","except":["172.17.001.0/24"]}}]}]}})"}};
  for (const Case& each : cases) {
    Value object = json(each.object);
    object.set("metadata", json(R"({"name":"z"})"));
    EXPECT_EQ(fields_of(create(each.type, object)), "no error") << each.type;
  }
}

}  // namespace
}  // namespace shiplog::api
