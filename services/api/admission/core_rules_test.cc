#include <tuple>

#include "tests/support/admit.h"

namespace shiplog::api {
namespace {

TEST(CoreAdmission, NamespacesHoldTheirFinalizer) {  // CRU-10, NSP-3
  const Value made = stored("namespaces", json(R"({"metadata":{"name":"n"}})"));
  EXPECT_EQ(to_json(made["spec"]), R"({"finalizers":["kubernetes"]})");
  EXPECT_EQ(made["status"]["phase"].as_string(), "Active");
  EXPECT_EQ(made["metadata"]["labels"]["kubernetes.io/metadata.name"].as_string(), "n");
  Value object = json(R"({"metadata":{"name":"n"},"spec":{"finalizers":[]}})");
  const auto updated = update("namespaces", made, object);
  ASSERT_TRUE(updated.has_value()) << message_of(updated);
  EXPECT_EQ(to_json(updated.value()["spec"]), R"({"finalizers":["kubernetes"]})");
  EXPECT_EQ(fields_of(create("namespaces", json(R"({"metadata":{"name":"a.b"}})"))), "metadata.name");
  EXPECT_EQ(
      to_json(stored("namespaces", json(R"({"metadata":{"name":"n"},"spec":{"finalizers":["a.io/b"]}})"))["spec"]),
      R"({"finalizers":["a.io/b","kubernetes"]})");
}

TEST(CoreAdmission, KeysAndSizesOfConfigMaps) {
  EXPECT_EQ(fields_of(create("configmaps", json(R"({"metadata":{"name":"c"},"data":{"a/b":"1","k":"1"},
      "binaryData":{"k":"Zg=="}})"))),
            "data[a/b],data[k]");
  Value large = json(R"({"metadata":{"name":"c"}})");
  large.edit("data").set("a", std::string((1U << 20U) + 1, 'x'));
  EXPECT_EQ(fields_of(create("configmaps", large)), "data");
}

TEST(CoreAdmission, ImmutableMeansImmutable) {  // CRU-8
  const Value old = stored("configmaps", json(R"({"metadata":{"name":"c"},"immutable":true,"data":{"a":"1"}})"));
  Value object = old;
  object.edit("data").set("a", "2");
  EXPECT_EQ(fields_of(update("configmaps", old, object)), "data");
  object = old;
  object.erase("immutable");
  EXPECT_EQ(fields_of(update("configmaps", old, object)), "immutable");
  object = old;
  object.edit("metadata").edit("labels").set("x", "y");
  EXPECT_TRUE(update("configmaps", old, object).has_value());
}

TEST(CoreAdmission, SecretsTakeText) {  // CRU-10
  const Value made =
      stored("secrets", json(R"({"metadata":{"name":"s"},"data":{"a":"Zg=="},"stringData":{"b":"foo"}})"));
  EXPECT_EQ(to_json(made["data"]), R"({"a":"Zg==","b":"Zm9v"})");
  EXPECT_FALSE(made.contains("stringData"));
  EXPECT_EQ(made["type"].as_string(), "Opaque");
  Value object = made;
  object.set("type", "other");
  EXPECT_EQ(fields_of(update("secrets", made, object)), "type");
  EXPECT_EQ(fields_of(create("secrets", json(R"({"metadata":{"name":"s"},"type":"kubernetes.io/tls"})"))),
            "data[tls.crt],data[tls.key]");
  EXPECT_EQ(create("secrets", json(R"({"metadata":{"name":"s"},"data":{"a":"%"}})")).error().code,
            ErrorCode::kBadRequest);
}

TEST(CoreAdmission, AffinityOfAServiceHasATimeout) {  // CRU-10
  const auto config = [](const std::string& affinity) {
    const Value made = stored("services", json(R"({"metadata":{"name":"web"},"spec":{"ports":[{"port":80}],)"
                                               R"("sessionAffinity":)" +
                                               affinity + "}}"));
    return to_json(made["spec"]["sessionAffinityConfig"]);
  };
  EXPECT_EQ(config(R"("ClientIP")"), R"({"clientIP":{"timeoutSeconds":10800}})");
  EXPECT_EQ(config(R"("ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":5}})"),
            R"({"clientIP":{"timeoutSeconds":5}})");
  EXPECT_EQ(config(R"("None","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":5}})"), "null");
}

TEST(CoreAdmission, Services) {  // CRU-10
  const Value made = stored("services", json(R"({"metadata":{"name":"web"},"spec":{"ports":[{"port":80}]}})"));
  EXPECT_EQ(to_json(made["spec"]),
            R"({"internalTrafficPolicy":"Cluster","ports":[{"port":80,"protocol":"TCP","targetPort":80}],)"
            R"("sessionAffinity":"None","type":"ClusterIP"})");
  EXPECT_EQ(to_json(made["status"]), R"({"loadBalancer":{}})");
  EXPECT_EQ(fields_of(create("services", json(R"({"metadata":{"name":"web"},"spec":{}})"))), "spec.ports");
  EXPECT_EQ(fields_of(create("services", json(R"({"metadata":{"name":"web_"},"spec":{"type":"Odd","ports":[
      {"port":0},{"port":80,"name":"a","protocol":"X"}]}})"))),
            "metadata.name,spec.type,spec.ports[0].name,spec.ports[0].port,spec.ports[0].targetPort,"
            "spec.ports[1].protocol");
  EXPECT_TRUE(create("services", json(R"({"metadata":{"name":"web"},"spec":{"clusterIP":"None"}})")).has_value());
  Value addressed = made;
  addressed.edit("spec").set("clusterIP", "10.0.0.1");
  const auto with_address = update("services", made, addressed);
  ASSERT_TRUE(with_address.has_value()) << message_of(with_address);
  const auto left_out = update("services", with_address.value(), made);
  ASSERT_TRUE(left_out.has_value()) << message_of(left_out);
  EXPECT_EQ(left_out.value()["spec"]["clusterIP"].as_string(), "10.0.0.1");
  addressed = with_address.value();
  addressed.edit("spec").set("clusterIP", "10.0.0.2");  // clusterIPs follows it
  EXPECT_EQ(message_of(update("services", with_address.value(), addressed)),
            R"(Service "web" is invalid: spec.clusterIPs[0]: Invalid value: ["10.0.0.2"]: may not change once set)");
  addressed.edit("spec").erase("clusterIPs");
  EXPECT_EQ(fields_of(update("services", with_address.value(), addressed)), "spec.clusterIPs[0]");
  const Value reached = stored("services", json(R"({"metadata":{"name":"web"},"spec":{"ports":[{"port":80}],
      "externalIPs":["1.1.1.1"]}})"));
  EXPECT_EQ(reached["spec"]["externalTrafficPolicy"].as_string(), "Cluster");
  Value unreached = reached;
  unreached.edit("spec").erase("externalIPs");
  EXPECT_EQ(message_of(update("services", reached, unreached)), "no error") << "its policy goes with them";
}

// A default that is added moves the members of the spec: nothing that was read before may be used after it.
TEST(CoreAdmission, LoadBalancersGetTheirDefaultsWhateverElseIsGiven) {  // CRU-10
  std::string spec = R"("type":"LoadBalancer","ports":[{"port":80}])";
  for (const char* more : {"", R"(,"loadBalancerIP":"")", R"(,"publishNotReadyAddresses":true)",
                           R"(,"selector":{"app":"web"})", R"(,"sessionAffinity":"None")"}) {
    spec += more;
    const auto made = create("services", json(R"({"metadata":{"name":"web"},"spec":{)" + spec + "}}"));
    ASSERT_TRUE(made.has_value()) << message_of(made);
    EXPECT_EQ(made.value()["spec"]["externalTrafficPolicy"].as_string(), "Cluster") << spec;
    EXPECT_TRUE(made.value()["spec"]["allocateLoadBalancerNodePorts"].as_bool()) << spec;
  }
}

TEST(CoreAdmission, Bindings) {  // CRU-8, CRU-10
  const char* type = "clusterrolebindings.rbac.authorization.k8s.io";
  const Value made = stored(type, json(R"({"metadata":{"name":"system:x"},"roleRef":{"kind":"ClusterRole","name":"r"},
      "subjects":[{"kind":"User","name":"u"}]})"));
  EXPECT_EQ(made["roleRef"]["apiGroup"].as_string(), "rbac.authorization.k8s.io");
  EXPECT_EQ(made["subjects"][0]["apiGroup"].as_string(), "rbac.authorization.k8s.io");
  Value object = made;
  object.edit("roleRef").set("name", "other");
  EXPECT_EQ(fields_of(update(type, made, object)), "roleRef");
  EXPECT_EQ(fields_of(create("roles.rbac.authorization.k8s.io",
                             json(R"({"metadata":{"name":"r"},"rules":[{"verbs":[],"resources":["pods"]}]})"))),
            "rules[0].verbs,rules[0].apiGroups");
}

TEST(CoreAdmission, ANewIngressNamesOneClass) {  // CRU-9
  const char* type = "ingresses.networking.k8s.io";
  const Value both = json(R"({"metadata":{"name":"i","annotations":{"kubernetes.io/ingress.class":"a"}},"spec":{
      "ingressClassName":"b","defaultBackend":{"service":{"name":"s","port":{"number":80}}}}})");
  EXPECT_EQ(message_of(create(type, both)),
            R"(Ingress.networking.k8s.io "i" is invalid: annotations.kubernetes.io/ingress.class: Invalid value: "a": )"
            "must match `ingressClassName` when both are specified");
  Value same = both;
  same.edit("spec").set("ingressClassName", "a");
  EXPECT_EQ(message_of(create(type, same)), "no error") << "charts set both";
  Value one = both;
  one.edit("spec").erase("ingressClassName");
  const Value made = stored(type, one);
  Value later = made;
  later.edit("spec").set("ingressClassName", "b");
  EXPECT_TRUE(update(type, made, later).has_value()) << "of an update upstream permits it";
}

TEST(CoreAdmission, IngressesClaimsEventsAndOthers) {
  EXPECT_EQ(fields_of(create("ingresses.networking.k8s.io", json(R"({"metadata":{"name":"i"},"spec":{"rules":[{"http":
      {"paths":[{"path":"x","pathType":"Prefix","backend":{"service":{"name":"s","port":{"number":80}}}}]}}]}})"))),
            "spec.rules[0].http.paths[0].path");
  EXPECT_EQ(fields_of(create("persistentvolumeclaims", json(R"({"metadata":{"name":"c"},"spec":{}})"))),
            "spec.accessModes,spec.resources[storage]");
  EXPECT_EQ(fields_of(create("events", json(R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","name":"p",
      "namespace":"other"}})"))),
            "involvedObject.namespace");  // EVENT-2
  EXPECT_TRUE(
      create("events", json(R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Node","name":"n"}})")).has_value());
  EXPECT_EQ(fields_of(create("leases.coordination.k8s.io",
                             json(R"({"metadata":{"name":"l"},"spec":{"leaseDurationSeconds":0}})"))),
            "spec.leaseDurationSeconds");
}

Value definition() {
  return json(R"({"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":
      {"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":
      {"openAPIV3Schema":{"type":"object"}}}]}})");
}

TEST(CoreAdmission, DefinitionsAreEstablishedAtOnce) {  // CRD-2
  const Value made = stored("customresourcedefinitions.apiextensions.k8s.io", definition());
  EXPECT_EQ(made["spec"]["names"]["singular"].as_string(), "widget");
  EXPECT_EQ(made["spec"]["names"]["listKind"].as_string(), "WidgetList");
  EXPECT_EQ(to_json(made["status"]["storedVersions"]), R"(["v1"])");
  EXPECT_EQ(made["status"]["acceptedNames"], made["spec"]["names"]);
  EXPECT_EQ(made["status"]["conditions"][1]["type"].as_string(), "Established");
  EXPECT_EQ(made["status"]["conditions"][1]["status"].as_string(), "True");
  EXPECT_EQ(made["status"]["conditions"][1]["lastTransitionTime"].as_string(), "2026-01-02T03:04:05Z");
}

TEST(CoreAdmission, DefinitionsAreChecked) {  // CRD-1, CRD-3, CRD-4, CRD-11
  const char* type = "customresourcedefinitions.apiextensions.k8s.io";
  Value misnamed = definition();
  misnamed.edit("metadata").set("name", "gadgets.example.com");
  EXPECT_EQ(fields_of(create(type, misnamed)), "metadata.name");
  Value reserved = definition();
  reserved.edit("metadata").set("name", "widgets.apps.k8s.io");
  reserved.edit("spec").set("group", "apps.k8s.io");
  EXPECT_EQ(fields_of(create(type, reserved)), "metadata.annotations[api-approved.kubernetes.io]");
  Value taken = definition();
  taken.edit("metadata").set("name", "widgets.policy.karmada.io");
  taken.edit("spec").set("group", "policy.karmada.io");
  taken.edit("spec").edit("names").set("kind", "PropagationPolicy");
  const Value refused = stored(type, taken);
  EXPECT_EQ(refused["status"]["conditions"][0]["type"].as_string(), "NamesAccepted");
  EXPECT_EQ(refused["status"]["conditions"][0]["status"].as_string(), "False");

  const Value made = stored(type, definition());
  Value moved = made;
  Value& version = moved.edit("spec").edit("versions").edit_items()[0];
  version.set("name", "v2");
  EXPECT_EQ(fields_of(update(type, made, moved)), "status.storedVersions[0]");
  Value second = made;
  second.edit("spec").edit("versions").edit_items()[0].set("storage", false);
  Value v2 = made["spec"]["versions"][0];
  v2.set("name", "v2");
  second.edit("spec").edit("versions").push_back(v2);
  const auto updated = update(type, made, second);
  ASSERT_TRUE(updated.has_value()) << message_of(updated);
  EXPECT_EQ(to_json(updated.value()["status"]["storedVersions"]), R"(["v1","v2"])");
  Value rescoped = made;
  rescoped.edit("spec").set("scope", "Cluster");
  EXPECT_EQ(fields_of(update(type, made, rescoped)), "spec.scope");
}

TEST(CoreAdmission, WhatADefinitionHasFromAnOlderBuildMayStay) {  // CRD-7
  const char* type = "customresourcedefinitions.apiextensions.k8s.io";
  Value old = stored(type, definition());
  Value& schema = old.edit("spec").edit("versions").edit_items()[0].edit("schema").edit("openAPIV3Schema");
  schema.edit("properties").set("a", json(R"({"type":"object","default":{},"required":["b"],"properties":{
      "b":{"type":"string","default":"x"}}})"));
  Value labelled = old;
  labelled.edit("metadata").edit("labels").set("a", "b");
  const auto updated = update(type, old, labelled);
  EXPECT_TRUE(updated.has_value()) << message_of(updated);
  Value changed = old;
  changed.edit("spec").edit("versions").edit_items()[0].set("deprecated", true);
  EXPECT_EQ(fields_of(update(type, old, changed)), "no error");
  EXPECT_EQ(fields_of(update(type, stored(type, definition()), old)),
            "spec.versions[0].schema.openAPIV3Schema.properties[a].default.b");
}

/// A definition with this spec.conversion.
Value definition_with(std::string_view conversion) {
  Value object = definition();
  object.edit("spec").set("conversion", json(conversion));
  return object;
}

TEST(CoreAdmission, ConversionWebhooksAreChecked) {  // CRD-10
  const char* type = "customresourcedefinitions.apiextensions.k8s.io";
  const auto refused = [&](std::string_view conversion) {
    return fields_of(create(type, definition_with(conversion)));
  };
  const Value made = stored(type, definition_with(R"({"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],
      "clientConfig":{"service":{"namespace":"n","name":"s","path":"/convert"}}}})"));
  EXPECT_EQ(made["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["port"].as_int(), 443);
  const std::string webhook = "spec.conversion.webhook";
  EXPECT_EQ(refused(R"({"strategy":"Webhook"})"), webhook + ".clientConfig," + webhook + ".conversionReviewVersions");
  EXPECT_EQ(refused(R"({"strategy":"None","webhook":{"conversionReviewVersions":["v1"]}})"), webhook);
  EXPECT_EQ(refused(R"({"strategy":"Odd"})"), "spec.conversion.strategy");
  const auto with = [&](const std::string& client, const std::string& versions) {
    return refused(R"({"strategy":"Webhook","webhook":{"conversionReviewVersions":)" + versions +
                   R"(,"clientConfig":)" + client + "}}");
  };
  const std::string url = R"({"url":"https://x/y"})";
  EXPECT_EQ(with(url, R"(["v1beta1"])"), "no error");
  EXPECT_EQ(with(url, R"(["v2"])"), webhook + ".conversionReviewVersions");
  EXPECT_EQ(with(url, R"(["v1","v1"])"), webhook + ".conversionReviewVersions[1]");
  EXPECT_EQ(with(url, R"(["V 1","v1"])"), webhook + ".conversionReviewVersions[0]");
  EXPECT_EQ(with("{}", R"(["v1"])"), webhook + ".clientConfig");
  EXPECT_EQ(with(R"({"url":"http://x"})", R"(["v1"])"), webhook + ".clientConfig.url");
  EXPECT_EQ(with(R"({"url":"https://x","service":{"namespace":"n","name":"s"}})", R"(["v1"])"),
            webhook + ".clientConfig");
  EXPECT_EQ(with(R"({"service":{"namespace":"n","name":"s","port":0}})", R"(["v1"])"),
            webhook + ".clientConfig.service.port");
  const char* bundle = R"({"url":"https://x","caBundle":"bm8="})";
  EXPECT_EQ(with(bundle, R"(["v1"])"), "no error") << "it may be mended later";
  Value broken = made;
  broken.edit("spec").edit("conversion").edit("webhook").set("clientConfig", json(bundle));
  EXPECT_EQ(fields_of(update(type, made, broken)), webhook + ".clientConfig.caBundle") << "it is established";
}

TEST(CoreAdmission, NamesOfDefinitionsAreComparedWithEverySortOfName) {  // CRD-3
  const char* type = "customresourcedefinitions.apiextensions.k8s.io";
  const auto named_so = [&](const char* field, const Value& name) {
    Value object = definition();
    object.edit("spec").set("group", "policy.karmada.io");
    object.edit("spec").edit("names").set(field, name);
    object.edit("metadata").set("name", object["spec"]["names"]["plural"].str() + ".policy.karmada.io");
    return stored(type, object);
  };
  const auto reason = [](const Value& made) { return made["status"]["conditions"][0]["reason"].str(); };
  EXPECT_EQ(reason(named_so("plural", "propagationpolicy")), "PluralConflict");
  EXPECT_EQ(reason(named_so("singular", "propagationpolicies")), "SingularConflict");
  EXPECT_EQ(reason(named_so("shortNames", json(R"(["w","propagationpolicies"])"))), "ShortNamesConflict");
  EXPECT_EQ(reason(named_so("listKind", "PropagationPolicy")), "ListKindConflict");
  EXPECT_EQ(reason(named_so("kind", "PropagationPolicyList")), "KindConflict");

  Value old = named_so("shortNames", json(R"(["w"])"));
  EXPECT_EQ(reason(old), "NoConflicts");
  old.edit("spec").edit("names").set("shortNames", json(R"(["propagationpolicies"])"));
  Value labelled = old;
  labelled.edit("metadata").set("labels", json(R"({"a":"b"})"));
  const auto kept = update(type, old, labelled);
  ASSERT_TRUE(kept.has_value()) << message_of(kept);
  EXPECT_EQ(reason(kept.value()), "ShortNamesConflict");
  EXPECT_EQ(kept.value()["status"]["conditions"][1]["status"].str(), "True") << "what is established stays so";
  EXPECT_EQ(kept.value()["status"]["acceptedNames"]["shortNames"], json(R"(["w"])"));
}

}  // namespace
}  // namespace shiplog::api
