#include "tests/support/admit.h"

// Fields that Kubernetes 1.33 to 1.36 added to pods, and what these versions changed about older ones.

namespace shiplog::api {
namespace {

Value newer_pod(const Value& of_pod, const Value& of_container) {
  Value container = json(R"({"name":"c","image":"i:1"})");
  for (const auto& member : of_container.members()) container.set(member.key(), member.value);
  Value spec = json(R"({"volumes":[{"name":"v"}]})");
  spec.set("containers", Value::array({container}));
  for (const auto& member : of_pod.members()) spec.set(member.key(), member.value);
  Value object = json(R"({"metadata":{"name":"p","labels":{"app":"web","track":"blue"}}})");
  object.set("spec", spec);
  return object;
}

Result<Value> create_pod(const char* of_pod, const char* of_container = "{}") {
  return create("pods", newer_pod(json(of_pod), json(of_container)));
}

struct NewerRefusal {
  const char* part;
  const char* fields;
  const char* message;
};

void expect_refused(const Result<Value>& refused, const NewerRefusal& each) {
  EXPECT_EQ(fields_of(refused), each.fields) << each.part;
  EXPECT_NE(message_of(refused).find(each.message), std::string::npos) << message_of(refused);
}

TEST(NewerPodFields, WhatNoServerAcceptsInContainersIsRefused) {  // CRU-9
  for (const NewerRefusal& each : std::vector<NewerRefusal>{
           {R"({"restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[3]}}]})",
            "spec.containers[0].restartPolicy",
            "Required value: must specify restartPolicy when restart rules are used"},
           {R"({"restartPolicy":"Never","restartPolicyRules":[{"action":"Stop","exitCodes":{"operator":"In"}}]})",
            "spec.containers[0].restartPolicyRules[0].action",
            R"(Unsupported value: "Stop": supported values: "Restart", "RestartAllContainers")"},
           {R"({"restartPolicy":"Never","restartPolicyRules":[{"action":"Restart"}]})",
            "spec.containers[0].restartPolicyRules[0].exitCodes", "Required value: must be specified"},
           {R"({"restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"Is"}}]})",
            "spec.containers[0].restartPolicyRules[0].exitCodes.operator",
            R"(Unsupported value: "Is": supported values: "In", "NotIn")"},
           {R"({"lifecycle":{"stopSignal":"SIGUSR1"}})", "spec.containers[0].lifecycle.stopSignal",
            "Forbidden: may not be set for containers with empty `spec.os.name`"},
           {R"({"env":[{"name":"a","valueFrom":{}}]})", "spec.containers[0].env[0].valueFrom",
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"},
           {R"({"env":[{"name":"a","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"../f","key":"a=b"}}}]})",
            "spec.containers[0].env[0].valueFrom.fileKeyRef.key,spec.containers[0].env[0].valueFrom.fileKeyRef.path",
            "must not contain '..'"},
           {R"({"env":[{"name":"a","valueFrom":{"fileKeyRef":{"volumeName":"w","path":"f","key":"a"}}}]})",
            "spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName", R"(Not found: "w")"},
           {R"({"securityContext":{"procMount":"Unmasked"}})", "spec.containers[0].securityContext.procMount",
            R"(Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`)"},
           {R"({"resources":{"claims":[{"name":"gpu"}]}})", "spec.containers[0].resources.claims[0]",
            R"(Not found: "gpu": must be one of the names in pod.spec.resourceClaims which is empty)"},
       }) {
    expect_refused(create_pod("{}", each.part), each);
  }
}

TEST(NewerPodFields, WhatNoServerAcceptsInPodsIsRefused) {  // CRU-9
  for (const NewerRefusal& each : std::vector<NewerRefusal>{
           {R"({"hostnameOverride":"a_b"})", "spec.hostnameOverride", "a lowercase RFC 1123 subdomain"},
           {R"({"hostnameOverride":"a","hostNetwork":true})", "spec.hostnameOverride",
            "Forbidden: may not be specified when hostNetwork is true"},
           {R"({"hostnameOverride":"a","setHostnameAsFQDN":true})", "spec.hostnameOverride",
            "Forbidden: may not be specified when setHostnameAsFQDN is true"},
           {R"({"hostUsers":false,"hostPID":true,"hostIPC":true})", "spec.HostPID,spec.HostIPC",
            "Forbidden: when `hostUsers` is false"},
           {R"({"os":{}})", "spec.os.name", "Required value"},
           {R"({"securityContext":{"seLinuxChangePolicy":"Some"}})", "spec.securityContext.seLinuxChangePolicy",
            R"(Unsupported value: "Some": supported values: "MountOption", "Recursive")"},
           {R"({"schedulingGroup":{}})", "spec.schedulingGroup.podGroupName", "must specify one of: `podGroupName`"},
           {R"({"tolerations":[{"key":"a","operator":"Lt","value":"01"}]})", "spec.tolerations[0].value",
            R"(Invalid value: "01": must be a valid decimal integer in canonical form)"},
           {R"({"resources":{"limits":{"a.io/gpu":"1"}}})", "spec.resources.limits[a.io/gpu]",
            R"(Unsupported value: "a.io/gpu": supported values: "cpu", "hugepages-", "memory")"},
           {R"({"resources":{"requests":{"cpu":"2"},"limits":{"cpu":"1"}}})", "spec.resources.requests",
            R"(Invalid value: "2": must be less than or equal to cpu limit of 1)"},
           {R"({"os":{"name":"windows"},"resources":{"limits":{"cpu":"1"}}})", "spec.resources",
            "Forbidden: may not be set for a windows pod"},
           {R"({"resourceClaims":[{"name":"a"},{"name":"a","resourceClaimName":"b"}]})",
            "spec.resourceClaims[0],spec.resourceClaims[1].name", "must specify one of: `resourceClaimName`"},
           {R"({"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"a","whenUnsatisfiable":"DoNotSchedule",
               "matchLabelKeys":["track"]}]})",
            "spec.topologySpreadConstraints[0].matchLabelKeys", "must not be specified when labelSelector is not set"},
           {R"({"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z",
               "labelSelector":{},"matchLabelKeys":["a b"],"mismatchLabelKeys":["a b"]}]}}})",
            "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys[0],"
            "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].mismatchLabelKeys[0],"
            "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys[0]",
            "exists in both matchLabelKeys and mismatchLabelKeys"},
           {R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
               {"matchExpressions":[{"key":"a","operator":"In","values":["b c"]}]}]}}}})",
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
            "matchExpressions[0].values[0]",
            R"(Invalid value: "b c": a valid label must)"},
           {R"({"volumes":[{"name":"v","image":{}}]})", "spec.volumes[0].image.reference", "Required value"},
           {R"({"volumes":[{"name":"v","image":{"reference":"a","pullPolicy":"Some"}}]})",
            "spec.volumes[0].image.pullPolicy",
            R"(Unsupported value: "Some": supported values: "Always", "IfNotPresent", "Never")"},
           {R"({"volumes":[{"name":"v","projected":{"sources":[{"clusterTrustBundle":{"path":"a"}}]}}]})",
            "spec.volumes[0].projected.sources[0].clusterTrustBundle",
            "Required value: either name or signerName must be specified"},
           {R"({"volumes":[{"name":"v","projected":{"sources":[{"podCertificate":{"signerName":"a","keyType":"RSA",
               "maxExpirationSeconds":60}}]}}]})",
            "spec.volumes[0].projected.sources[0].podCertificate.signerName,"
            "spec.volumes[0].projected.sources[0].podCertificate.keyType,"
            "spec.volumes[0].projected.sources[0].podCertificate.maxExpirationSeconds,"
            "spec.volumes[0].projected.sources[0].podCertificate",
            "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"},
       }) {
    expect_refused(create_pod(each.part), each);
  }
  expect_refused(create_pod(R"({"hostUsers":false,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"a"}}]})",
                            R"({"volumeDevices":[{"name":"v","devicePath":"/d"}]})"),
                 {"", "spec.containers[0].volumeDevices", "Forbidden: when `hostUsers` is false"});
  expect_refused(create_pod(R"({"restartPolicy":"Never"})",
                            R"({"resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]})"),
                 {"", "spec.containers[0].resizePolicy",
                  R"(Invalid value: "RestartContainer": must be 'NotRequired' when pod `restartPolicy` is 'Never')"});
  expect_refused(create_pod(R"({"os":{"name":"windows"}})", R"({"lifecycle":{"stopSignal":"SIGUSR1"}})"),
                 {"", "spec.containers[0].lifecycle.stopSignal", R"(supported values: "SIGKILL", "SIGTERM")"});
  expect_refused(
      create_pod(R"({"volumes":[{"name":"v","hostPath":{"path":"/a"}}]})",
                 R"({"env":[{"name":"a","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"f",
                               "key":"a"}}}]})"),
      {"", "spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName", "referenced volume must be of type emptyDir"});
}

TEST(NewerPodFields, WhatNewerServersAcceptIsAccepted) {
  for (
      const char* accepted : {
          R"({"restartPolicy":"Never","restartPolicyRules":[{"action":"RestartAllContainers","exitCodes":{"operator":
               "NotIn","values":[1,2]}}]})",
          R"({"restartPolicy":"OnFailure"})",
          R"({"lifecycle":{"preStop":{"sleep":{"seconds":0}}}})",
          R"({"env":[{"name":"a","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"f","key":"1 a","optional":true}}}]})",
          R"({"volumeMounts":[{"name":"v","mountPath":"/a","subPath":"b"}]})",
      }) {
    EXPECT_EQ(message_of(create_pod("{}", accepted)), "no error") << accepted;
  }
  for (const char* accepted : {
           R"({"hostnameOverride":"a.example.com"})",
           R"({"hostUsers":false,"hostNetwork":true})",  // with a feature gate
           R"({"tolerations":[{"key":"a","operator":"Gt","value":"-12"}]})",
           R"({"schedulingGroup":{"podGroupName":"g"}})",
           R"({"resourceClaims":[{"name":"a","resourceClaimTemplateName":"b"}]})",
           R"({"initContainers":[{"name":"i","image":"i:1","restartPolicy":"OnFailure"},{"name":"s","image":"i:1",
               "restartPolicy":"Always","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In",
               "values":[1]}}]}]})",
           R"({"volumes":[{"name":"v","projected":{"sources":[{"clusterTrustBundle":{"name":"a.io:b:c","path":"t"}},
               {"podCertificate":{"signerName":"a.io/b","keyType":"ED25519","credentialBundlePath":"p"}}]}}]})",
           R"({"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":
               {"matchExpressions":[{"key":"a","operator":"In","values":["b c"]}]}}]}}})",
       }) {
    EXPECT_EQ(message_of(create_pod(accepted)), "no error") << accepted;
  }
}

TEST(NewerPodFields, ContainersWithUsersOfTheirOwnMayUnmaskTheirProcesses) {
  constexpr const char* kUnmasked = R"({"securityContext":{"procMount":"Unmasked"}})";
  EXPECT_EQ(message_of(create_pod(R"({"hostUsers":false})", kUnmasked)), "no error");
}

TEST(NewerPodFields, ImagesOfVolumesArePulledAsThoseOfContainers) {  // CRU-10
  const auto policy = [](const char* reference) {
    Value spec = json(R"({"volumes":[{"name":"v","image":{}}]})");
    spec.edit("volumes").edit_items()[0].edit("image").set("reference", reference);
    const auto made = create("pods", newer_pod(spec, Value::object()));
    return made ? made.value()["spec"]["volumes"][0]["image"]["pullPolicy"].str() : message_of(made);
  };
  EXPECT_EQ(policy("a/b"), "Always");
  EXPECT_EQ(policy("a/b:latest"), "Always");
  EXPECT_EQ(policy("a/b:1"), "IfNotPresent");
}

TEST(NewerPodFields, RequestsOfAPodFollowFromItsContainers) {  // CRU-10
  const auto made = create_pod(R"({"resources":{"limits":{"cpu":"2","memory":"1Gi"}},"initContainers":[{"name":"i",
      "image":"i:1","resources":{"requests":{"cpu":"300m"}}}]})",
                               R"({"resources":{"requests":{"cpu":"100m"},"limits":{"hugepages-2Mi":"4Mi"}}})");
  ASSERT_TRUE(made.has_value()) << message_of(made);
  EXPECT_EQ(made.value()["spec"]["resources"], json(R"({"limits":{"cpu":"2","memory":"1Gi","hugepages-2Mi":"4Mi"},
      "requests":{"cpu":"300m","hugepages-2Mi":"4Mi","memory":"1Gi"}})"));
  EXPECT_EQ(made.value()["status"]["qosClass"].str(), "Burstable");
  EXPECT_EQ(create_pod(R"({"resources":{"limits":{"cpu":"2","memory":"1Gi"}}})").value()["status"]["qosClass"].str(),
            "Guaranteed");
  expect_refused(create_pod(R"({"resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2"}}})",
                            R"({"resources":{"limits":{"cpu":"3"},"requests":{"cpu":"1500m"}}})"),
                 {"", "spec.resources.requests[cpu],spec.resources.containers[0][cpu].limits",
                  R"(Invalid value: "1": must be greater than or equal to aggregate container requests of 1500m)"});
}

TEST(NewerPodFields, KeysOfLabelsBecomePartOfTheSelectors) {  // CRU-10
  const auto made = create_pod(R"({"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","whenUnsatisfiable":
      "DoNotSchedule","labelSelector":{"matchLabels":{"app":"web"}},"matchLabelKeys":["track","none"]}],
      "affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":
      {"topologyKey":"z","labelSelector":{},"mismatchLabelKeys":["track"]}}]}}})");
  ASSERT_TRUE(made.has_value()) << message_of(made);
  const Value& spec = made.value()["spec"];
  EXPECT_EQ(
      spec["topologySpreadConstraints"][0]["labelSelector"],
      json(R"({"matchLabels":{"app":"web"},"matchExpressions":[{"key":"track","operator":"In","values":["blue"]}]})"));
  EXPECT_EQ(spec["affinity"]["podAntiAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"][0]["podAffinityTerm"]
                ["labelSelector"],
            json(R"({"matchExpressions":[{"key":"track","operator":"NotIn","values":["blue"]}]})"));
  const Value old = stored("pods", newer_pod(json(R"({"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z",
      "whenUnsatisfiable":"DoNotSchedule","labelSelector":{},"matchLabelKeys":["track"]}]})"),
                                             Value::object()));
  Value labelled = old;
  labelled.edit("metadata").set("annotations", json(R"({"a":"b"})"));
  const auto again = update("pods", old, labelled);
  ASSERT_TRUE(again.has_value()) << message_of(again);
  EXPECT_EQ(again.value()["spec"], old["spec"]) << "once";
}

TEST(NewerPodFields, PodsThatAnOlderBuildStoredCanStillBeUpdated) {
  Value old =
      stored("pods", newer_pod(json(R"({"volumes":[{"name":"v","image":{"reference":"a:1"}}]})"), Value::object()));
  old.edit("spec").edit("volumes").edit_items()[0].edit("image").erase("pullPolicy");
  old.edit("spec").set("hostnameOverride", "a_b");
  old.edit("spec").set("resources", json(R"({"limits":{"cpu":"1"}})"));
  Value labelled = old;
  labelled.edit("metadata").set("annotations", json(R"({"a":"b"})"));
  EXPECT_EQ(message_of(update("pods", old, labelled)), "no error");
}

Result<Value> update_status(const Value& old, const char* status) {
  Admission admission = admission_for("pods", "p");
  Value object = old;
  object.set("status", json(status));
  return admit_status_update(admission, old, object);
}

TEST(NewerPodFields, ContainersMayRunAgainIfTheirOwnPolicyAllowsIt) {  // CRU-9
  const auto ended = [](const char* container) {
    Value old = stored("pods", newer_pod(json(R"({"restartPolicy":"Never"})"), json(container)));
    old.set("status", json(R"({"qosClass":"BestEffort","containerStatuses":[{"name":"c","state":{"terminated":
        {"exitCode":3}}}]})"));
    return old;
  };
  constexpr const char* kRuns =
      R"({"qosClass":"BestEffort","containerStatuses":[{"name":"c","state":{"running":{}}}]})";
  EXPECT_EQ(fields_of(update_status(ended("{}"), kRuns)), "status.containerStatuses[0].state");
  EXPECT_EQ(message_of(update_status(ended(R"({"restartPolicy":"OnFailure"})"), kRuns)), "no error");
  constexpr const char* kRules = R"({"restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":
      {"operator":"In","values":[3]}}]})";
  EXPECT_EQ(message_of(update_status(ended(kRules), kRuns)), "no error");
}

TEST(NewerPodFields, ObservedGenerationsStay) {
  Value old = stored("pods", newer_pod(Value::object(), Value::object()));
  old.set("status", json(R"({"qosClass":"BestEffort","observedGeneration":4,"conditions":[{"type":"Ready","status":
      "True","observedGeneration":3}]})"));
  const auto made = update_status(old, R"({"conditions":[{"type":"Ready","status":"False"}]})");
  ASSERT_TRUE(made.has_value()) << message_of(made);
  EXPECT_EQ(made.value()["status"]["observedGeneration"].as_int(), 4);
  EXPECT_EQ(made.value()["status"]["conditions"][0]["observedGeneration"].as_int(), 3);
  EXPECT_EQ(fields_of(update_status(old, R"({"observedGeneration":-1,"conditions":[{"type":"a b","status":"True"}]})")),
            "status.conditions[0].Type,status.observedGeneration");
}

Result<Value> resize(const Value& old, Value object) {
  Admission admission = admission_for("pods", "p");
  admission.subresource = "resize";
  return admit_update(admission, old, std::move(object));
}

TEST(NewerPodFields, OnlyResourcesAreResized) {  // SUB-8
  const Value old = stored("pods", newer_pod(json(R"({"initContainers":[{"name":"i","image":"i:1"}]})"),
                                             json(R"({"resources":{"requests":{"cpu":"1","a.io/gpu":"1"},"limits":
                                                  {"a.io/gpu":"1"}}})")));
  const auto with = [&](const char* resources) {
    Value object = old;
    object.edit("metadata").set("labels", json(R"({"not":"taken"})"));
    Value& container = object.edit("spec").edit("containers").edit_items()[0];
    container.set("image", "i:2");
    container.set("resources", json(resources));
    return object;
  };
  const auto made =
      resize(old, with(R"({"requests":{"cpu":"2","memory":"1Gi","a.io/gpu":"1"},"limits":{"a.io/gpu":"1"}})"));
  ASSERT_TRUE(made.has_value()) << message_of(made);
  const Value& container = made.value()["spec"]["containers"][0];
  EXPECT_EQ(container["resources"]["requests"]["cpu"].str(), "2");
  EXPECT_EQ(container["image"].str(), "i:1");
  EXPECT_EQ(made.value()["metadata"]["labels"], old["metadata"]["labels"]);
  EXPECT_EQ(fields_of(resize(old, with(R"({"requests":{"a.io/gpu":"1"},"limits":{"a.io/gpu":"1"}})"))),
            "spec,spec.containers[0].resources.requests")
      << "the class of the pod changes, too";
  EXPECT_EQ(fields_of(resize(old, with(R"({"requests":{"cpu":"1","a.io/gpu":"2"},"limits":{"a.io/gpu":"2"}})"))),
            "spec");
  Value longer = old;
  longer.edit("spec").edit("containers").push_back(json(R"({"name":"d","image":"i:1"})"));
  EXPECT_EQ(fields_of(resize(old, longer)), "spec.containers");
  Value renamed = old;
  renamed.edit("spec").edit("initContainers").edit_items()[0].set("name", "j");
  EXPECT_EQ(fields_of(resize(old, renamed)), "spec.initContainers[0].name");
  EXPECT_EQ(
      fields_of(update("pods", old, with(R"({"requests":{"cpu":"2","a.io/gpu":"1"},"limits":{"a.io/gpu":"1"}})"))),
      "spec")
      << "no other write does it";
  const Value whole = stored("pods", newer_pod(json(R"({"resources":{"requests":{"cpu":"1"}}})"), Value::object()));
  Value grown = whole;
  grown.edit("spec").set("resources", json(R"({"requests":{"cpu":"2"}})"));
  EXPECT_EQ(message_of(resize(whole, grown)), "no error");
  grown.edit("spec").erase("resources");
  EXPECT_EQ(fields_of(resize(whole, grown)), "spec,spec.resources");
}

}  // namespace
}  // namespace shiplog::api
