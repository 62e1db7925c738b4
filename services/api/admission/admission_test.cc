#include "services/api/admission/admission.h"

#include "tests/support/admit.h"

namespace shiplog::api {
namespace {

const Value kConfigMap = json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1"}})");
const char* const kRebalancers = "workloadrebalancers.apps.karmada.io";
const Value kRebalancer = json(R"({"metadata":{"name":"r"},"spec":{"workloads":[{"apiVersion":"apps/v1",)"
                               R"("kind":"Deployment","name":"web","namespace":"default"}]}})");

TEST(Admission, FillsIdentityFromThePath) {  // META-10, META-11
  const auto created = create("configmaps", json(R"({"metadata":{"name":"c"}})"));
  ASSERT_TRUE(created.has_value()) << message_of(created);
  EXPECT_EQ(created.value()["apiVersion"].as_string(), "v1");
  EXPECT_EQ(created.value()["kind"].as_string(), "ConfigMap");
  EXPECT_EQ(created.value()["metadata"]["namespace"].as_string(), "default");
  const auto cluster_scoped = create("namespaces", json(R"({"metadata":{"name":"n","namespace":"x"}})"));
  ASSERT_TRUE(cluster_scoped.has_value());
  EXPECT_FALSE(cluster_scoped.value()["metadata"].contains("namespace"));
}

TEST(Admission, BodyAgainstPathIsABadRequest) {  // ERR-3
  EXPECT_EQ(message_of(create("configmaps", json(R"({"apiVersion":"apps/v1","metadata":{"name":"c"}})"))),
            "the API version in the data (apps/v1) does not match the expected API version (v1)");
  EXPECT_EQ(create("configmaps", json(R"({"kind":"Pod","metadata":{"name":"c"}})")).error().code,
            ErrorCode::kBadRequest);
  EXPECT_EQ(message_of(create("configmaps", json(R"({"metadata":{"name":"c","namespace":"other"}})"))),
            "the namespace of the provided object does not match the namespace sent on the request");
  const Value old = stored("configmaps", kConfigMap);
  Value renamed = old;
  renamed.edit("metadata").set("name", "d");
  EXPECT_EQ(message_of(update("configmaps", old, renamed)),
            "the name of the object (d) does not match the name on the URL (c)");
  for (const char* body : {"[]", "1", "null", R"({"metadata":[]})", R"({"metadata":{"name":1}})", R"({"kind":{}})"}) {
    const auto result = create("configmaps", json(body));
    ASSERT_FALSE(result.has_value()) << body;
    EXPECT_TRUE(result.error().code == ErrorCode::kBadRequest || result.error().code == ErrorCode::kInvalid) << body;
  }
}

TEST(Admission, ClientsDoNotSetWhatTheServerSets) {  // META-1, META-5, META-6, META-8
  const auto created = create("deployments.apps", json(R"({"metadata":{"name":"d","uid":"x","generation":9,
      "creationTimestamp":"2020-01-01T00:00:00Z","selfLink":"/x","deletionTimestamp":"2020-01-01T00:00:00Z",
      "managedFields":[{"manager":"m"}]},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":
      {"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}},"status":{"replicas":3}})"));
  ASSERT_TRUE(created.has_value()) << message_of(created);
  EXPECT_EQ(to_json(created.value()["metadata"]), R"({"generation":1,"name":"d","namespace":"default"})");
  EXPECT_EQ(to_json(created.value()["status"]), "{}");
}

TEST(Admission, TimesThatCannotBeReadAreRefusedThoughTheyAreNotStored) {  // META-1, META-8
  for (const char* field : {"creationTimestamp", "deletionTimestamp"}) {
    for (const char* time : {R"("yesterday")", R"("")", "5", "{}"}) {
      const Value object = json(R"({"metadata":{"name":"c",")" + std::string{field} + "\":" + time + "}}");
      const auto created = create("configmaps", object);
      ASSERT_FALSE(created.has_value()) << field << time;
      EXPECT_EQ(created.error().code, ErrorCode::kBadRequest);
      EXPECT_FALSE(update("configmaps", stored("configmaps", kConfigMap), object).has_value());
    }
    EXPECT_TRUE(create("configmaps", json(R"({"metadata":{"name":"c",")" + std::string{field} + R"(":null}})")));
  }
}

TEST(Admission, ResourceVersionOfANewObjectIsRefused) {  // META-4
  EXPECT_EQ(message_of(create("configmaps", json(R"({"metadata":{"name":"c","resourceVersion":"5"}})"))),
            "resourceVersion should not be set on objects to be created");
}

TEST(Admission, NameOrGenerateName) {  // META-13
  const auto generated = create("configmaps", json(R"({"metadata":{"generateName":"web-"}})"));
  ASSERT_TRUE(generated.has_value());
  EXPECT_EQ(generated.value()["metadata"]["name"].as_string(), "web-bcdfg");
  EXPECT_EQ(generated.value()["metadata"]["generateName"].as_string(), "web-");
  EXPECT_EQ(message_of(create("configmaps", json("{}"))),
            "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required");
}

TEST(Admission, MetadataMustBeValid) {  // META-12, META-14
  EXPECT_EQ(fields_of(create("configmaps", json(R"({"metadata":{"name":"C_","labels":{"-a":"b","c":"-"},
      "annotations":{"a/b/c":""},"finalizers":["plain"],"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p"}]}})"))),
            "metadata.ownerReferences[0].uid,metadata.name,metadata.labels,metadata.labels,metadata.annotations,"
            "metadata.finalizers[0]");
  EXPECT_EQ(create("configmaps", json(R"({"metadata":{"name":"c","labels":{"a":1}}})")).error().code,
            ErrorCode::kBadRequest);
}

TEST(Admission, FinalizersMustBeQualifiedInTheCoreApiOnly) {  // META-12
  const auto fields = [](const char* type, const char* finalizers) {
    const Value object = json(R"({"metadata":{"name":"c.example.com","finalizers":)" + std::string{finalizers} + "}}");
    const auto created = create(type, object);
    return created ? std::string{} : fields_of(created);
  };
  EXPECT_EQ(fields("configmaps", R"(["resources-finalizer.argocd.argoproj.io"])"), "metadata.finalizers[0]");
  EXPECT_EQ(fields("configmaps", R"(["orphan","kubernetes","a.io/b"])"), "");
  EXPECT_EQ(fields("configmaps", R"(["a.io/b","a/b/c"])"), "metadata.finalizers");
  for (const char* type : {"apiservices.apiregistration.k8s.io", "customresourcedefinitions.apiextensions.k8s.io",
                           "validatingwebhookconfigurations.admissionregistration.k8s.io", kRebalancers}) {
    EXPECT_EQ(fields(type, R"(["plain"])").find("finalizers"), std::string::npos) << type;
    EXPECT_NE(fields(type, R"(["a b"])").find("metadata.finalizers"), std::string::npos) << type;
  }
}

TEST(Admission, NewFinalizersOfCustomResourcesThatOthersMayUseTooGoWithAWarning) {  // META-12
  const auto with = [](const char* finalizers) {
    return json(R"({"metadata":{"name":"r","finalizers":)" + std::string{finalizers} +
                R"(},"spec":{"workloads":[{"apiVersion":"apps/v1","kind":"Deployment","name":"d","namespace":"n"}]}})");
  };
  const std::string conflicts = "to avoid accidental conflicts with other finalizer writers";
  Admission admission = admission_for(kRebalancers);
  const auto created = admit_create(admission, with(R"(["y.x.io","x","a.io/b","foregroundDeletion"])"));
  ASSERT_TRUE(created.has_value()) << message_of(created);
  EXPECT_EQ(admission.warnings,
            (std::vector<std::string>{
                "metadata.finalizers: \"x\": prefer a domain-qualified finalizer name " + conflicts,
                "metadata.finalizers: \"y.x.io\": prefer a domain-qualified finalizer name including a path (/) " +
                    conflicts}));
  Admission again = admission_for(kRebalancers);
  Value old = created.value();
  old.edit("metadata").set("resourceVersion", "7");
  Value more = old;
  more.edit("metadata").edit("finalizers").push_back("z/b/c");
  const auto updated = admit_update(again, old, more);
  ASSERT_TRUE(updated.has_value()) << message_of(updated);
  ASSERT_EQ(again.warnings.size(), 1U) << "of those that are new";
  EXPECT_TRUE(again.warnings.front().starts_with("metadata.finalizers: \"z/b/c\": a qualified name must consist of"))
      << again.warnings.front();
}

TEST(Admission, SecondReferenceToAnOwnerGoesWithAWarning) {  // META-14
  Admission admission = admission_for("configmaps");
  const auto created = admit_create(admission, json(R"({"metadata":{"name":"c","ownerReferences":[
      {"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"},{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"}]}})"));
  ASSERT_TRUE(created.has_value()) << message_of(created);
  EXPECT_EQ(created.value()["metadata"]["ownerReferences"].size(), 1U);
  EXPECT_EQ(admission.warnings,
            std::vector<std::string>{".metadata.ownerReferences contains duplicate entries; API server dedups owner "
                                     "references in 1.20+, and may reject such requests as early as 1.24; please fix "
                                     "your requests; duplicate UID(s) observed: u"});
}

TEST(Admission, UnknownFieldsAreDroppedWithWarnings) {  // CRU-6, CRU-7
  const Value object = json(R"({"metadata":{"name":"c","foo":1},"dta":{},"data":{"a":"1"}})");
  Admission admission = admission_for("configmaps");
  admission.duplicate_fields = {"duplicate field \"data.a\""};
  const auto created = admit_create(admission, object);
  ASSERT_TRUE(created.has_value()) << message_of(created);
  EXPECT_FALSE(created.value().contains("dta"));
  EXPECT_FALSE(created.value()["metadata"].contains("foo"));
  EXPECT_EQ(admission.warnings, (std::vector<std::string>{"duplicate field \"data.a\"", "unknown field \"dta\"",
                                                          "unknown field \"metadata.foo\""}));

  Admission silent = admission_for("configmaps");
  silent.field_validation = FieldValidation::kIgnore;
  EXPECT_TRUE(admit_create(silent, object).has_value());
  EXPECT_TRUE(silent.warnings.empty());

  Admission sorted = admission_for("configmaps");
  EXPECT_TRUE(admit_create(sorted, json(R"({"a":1,"metadata":{"name":"c","foo":1},"z":1})")).has_value());
  EXPECT_EQ(sorted.warnings,
            (std::vector<std::string>{"unknown field \"a\"", "unknown field \"metadata.foo\"", "unknown field \"z\""}))
      << "in the order of a document with sorted keys";

  Admission strict = admission_for("configmaps");
  strict.field_validation = FieldValidation::kStrict;
  const auto refused = admit_create(strict, object);
  strict.duplicate_fields = {"line 2: key \"a\" already set in map", "line 3: key \"b\" already set in map"};
  EXPECT_EQ(message_of(admit_create(strict, json(R"({"metadata":{"name":"c"},"dta":{}})"))),
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal "
            "errors:\n  line 2: key \"a\" already set in map\n  line 3: key \"b\" already set in map, unknown field "
            "\"dta\"");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kBadRequest);
  EXPECT_EQ(
      refused.error().message,
      "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: unknown field \"dta\", "
      "unknown field \"metadata.foo\"");
}

TEST(Admission, WrongTypesOfBuiltinKindsAreBadRequests) {
  const auto result = create("configmaps", json(R"({"metadata":{"name":"c"},"data":{"a":1}})"));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kBadRequest);
  EXPECT_TRUE(
      result.error().message.starts_with("ConfigMap in version \"v1\" cannot be handled as a ConfigMap: data.a"))
      << result.error().message;
}

TEST(Admission, WrongTypesOfCustomResourcesAreInvalid) {  // CRD-8
  const auto result = create(kRebalancers, json(R"({"metadata":{"name":"r"},"spec":{"workloads":"x"}})"));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(result.error().message.starts_with("WorkloadRebalancer.apps.karmada.io \"r\" is invalid: spec.workloads"))
      << result.error().message;
}

TEST(Admission, BytesOfASecretAreNotRepeated) {
  const auto refused =
      create("secrets", json(R"({"metadata":{"name":"s"},"data":{"password":"SUPERSECRETPASSWORD"}})"));
  EXPECT_EQ(message_of(refused),
            "Secret in version \"v1\" cannot be handled as a Secret: data.password: Invalid value: "
            "data.password in body must be of type byte: illegal base64 data at input byte 16");
}

TEST(Admission, WholeNumbersOfCustomResourcesAreIntegers) {  // NEG-9
  const auto created = create("propagationpolicies.policy.karmada.io", json(R"({"metadata":{"name":"p"},"spec":{
      "priority":5.0,"resourceSelectors":[{"apiVersion":"v1","kind":"ConfigMap"}]}})"));
  ASSERT_TRUE(created.has_value()) << message_of(created);
  EXPECT_EQ(to_json(created.value()["spec"]["priority"]), "5");
  const auto work = create("works.work.karmada.io", json(R"({"metadata":{"name":"w"},"spec":{"workload":{"manifests":[
      {"apiVersion":"x.io/v1","kind":"X","metadata":{"name":"x"},"spec":{"a":[1e1,0.5,-0.0,1e300]}}]}}})"));
  ASSERT_TRUE(work.has_value()) << message_of(work);
  EXPECT_EQ(to_json(work.value()["spec"]["workload"]["manifests"][0]["spec"]["a"]), "[10,0.5,0,1e+300]");
}

TEST(Admission, NullInTheMapsOfMetadataIsAnEmptyText) {
  for (const char* type : {"configmaps", "propagationpolicies.policy.karmada.io"}) {
    const auto created = create(type, json(R"({"metadata":{"name":"n","annotations":{"note":null},"labels":{"l":null}},
        "spec":{"resourceSelectors":[{"apiVersion":"v1","kind":"ConfigMap"}]},"data":{"EMPTY":null}})"));
    ASSERT_TRUE(created.has_value()) << message_of(created);
    EXPECT_EQ(to_json(created.value()["metadata"]["annotations"]), R"({"note":""})");
    EXPECT_EQ(created.value()["metadata"]["labels"]["l"], Value{""});
  }
  Admission view = admission_for("horizontalpodautoscalers.autoscaling");
  view.kind = view.kinds->find("autoscaling", "v1", "horizontalpodautoscalers");
  const auto admitted = admit_view(view, json(R"({"metadata":{"name":"h","annotations":{"note":null}},
      "spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}}})"),
                                   nullptr);
  ASSERT_TRUE(admitted.has_value()) << message_of(admitted);
  EXPECT_EQ(to_json(admitted.value()["metadata"]["annotations"]), R"({"note":""})");
}

TEST(Admission, TooLargeObjectsAreRefused) {
  Value object = kConfigMap;
  object.edit("metadata").edit("annotations");
  object.edit("data").set("a", std::string(1000 * 1000, 'x'));
  EXPECT_TRUE(create("configmaps", object).has_value());
  Value rebalancer = kRebalancer;
  rebalancer.edit("spec").edit("workloads").edit_items()[0].set("name", std::string(1600 * 1000, 'x'));
  EXPECT_EQ(create(kRebalancers, rebalancer).error().code, ErrorCode::kTooLarge);
}

TEST(Admission, UpdateKeepsIdentityAndStatus) {  // CRU-2, META-8, META-9
  Value old = stored("deployments.apps", json(R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},
      "template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}})"));
  old.set("status", json(R"({"replicas":3})"));
  old.edit("metadata").set("generation", 4);
  Value object = old;
  object.set("status", json(R"({"replicas":99})"));
  object.edit("spec").set("replicas", 5);
  object.edit("metadata").set("generation", 77);
  object.edit("metadata").erase("uid");
  object.edit("metadata").set("deletionTimestamp", "2026-01-01T00:00:00Z");
  const auto updated = update("deployments.apps", old, object);
  ASSERT_TRUE(updated.has_value()) << message_of(updated);
  EXPECT_EQ(to_json(updated.value()["metadata"]), to_json(old["metadata"]));
  EXPECT_EQ(updated.value()["status"]["replicas"].as_int(), 3);
  EXPECT_EQ(updated.value()["spec"]["replicas"].as_int(), 5);
}

TEST(Admission, UpdateThatChangesNothingGivesWhatIsStored) {  // META-3
  const Value old = stored("deployments.apps", json(R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":
      {"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","ports":
      [{"containerPort":80}]}]}}}})"));
  const auto again = update("deployments.apps", old, old);
  ASSERT_TRUE(again.has_value()) << message_of(again);
  EXPECT_EQ(to_json(again.value()), to_json(old));
}

TEST(Admission, AnotherUidIsAConflict) {  // META-9
  const Value old = stored("configmaps", kConfigMap);
  Value object = old;
  object.edit("metadata").set("uid", "other");
  const auto result = update("configmaps", old, object);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kConflict);
}

TEST(Admission, CustomResourcesNameTheVersionTheyReplace) {  // CRU-2
  const Value old = stored(kRebalancers, kRebalancer);
  Value object = old;
  object.edit("metadata").erase("resourceVersion");
  EXPECT_EQ(fields_of(update(kRebalancers, old, object)), "metadata.resourceVersion");
  object.edit("metadata").set("resourceVersion", "0");
  EXPECT_EQ(fields_of(update(kRebalancers, old, object)), "metadata.resourceVersion") << "no object has it";
  EXPECT_NE(update(kRebalancers, old, object).error().message.find("workloadrebalancers.apps.karmada.io "),
            std::string::npos)
      << "the resource, not the kind";
  const Value map = stored("configmaps", kConfigMap);
  Value unconditional = map;
  unconditional.edit("metadata").erase("resourceVersion");
  EXPECT_TRUE(update("configmaps", map, unconditional).has_value());
}

TEST(Admission, NoNewFinalizersOnceDeletionHasBegun) {  // DEL-7
  Value old = stored("configmaps", json(R"({"metadata":{"name":"c","finalizers":["a/b","c/d"]}})"));
  old.edit("metadata").set("deletionTimestamp", "2026-01-01T00:00:00Z");
  Value more = old;
  more.edit("metadata").edit("finalizers").push_back("e/f");
  EXPECT_EQ(
      message_of(update("configmaps", old, more)),
      "ConfigMap \"c\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is "
      "being deleted, found new finalizers []string{\"e/f\"}");
  Value fewer = old;
  fewer.edit("metadata").set("finalizers", Value::array({"c/d"}));
  EXPECT_TRUE(update("configmaps", old, fewer).has_value());
}

TEST(Admission, StatusUpdateTakesNothingButTheStatus) {  // SUB-1
  const char* type = "workloadrebalancers.apps.karmada.io";
  Value old = stored(type, kRebalancer);
  Value object = old;
  object.set("status", json(R"({"observedGeneration":1})"));
  object.edit("spec").set("workloads", Value::array());
  object.edit("metadata").edit("labels").set("a", "b");
  Admission admission = admission_for(type, "r");
  const auto updated = admit_status_update(admission, old, object);
  ASSERT_TRUE(updated.has_value()) << message_of(updated);
  EXPECT_EQ(updated.value()["spec"], old["spec"]);
  EXPECT_FALSE(updated.value()["metadata"].contains("labels"));
  EXPECT_EQ(updated.value()["status"]["observedGeneration"].as_int(), 1);

  object.set("status", json(R"({"observedGeneration":"x"})"));
  EXPECT_EQ(admit_status_update(admission, old, object).error().code, ErrorCode::kInvalid);
  Admission none = admission_for("configmaps", "c");
  EXPECT_EQ(admit_status_update(none, stored("configmaps", kConfigMap), kConfigMap).error().code, ErrorCode::kNotFound);
}

TEST(Admission, ALimitRangeNeedsNoLimits) {
  Admission admission = admission_for("limitranges", "l");
  EXPECT_TRUE(admit_create(admission, json(R"({"metadata":{"name":"l"},"spec":{}})")).has_value());
}

TEST(Admission, ProtectedObjectsStay) {  // D-41, NSP-2, T-16
  const Kind& maps = *Kinds::compiled().find_type("configmaps");
  const Value marked =
      json(R"({"metadata":{"name":"c","labels":{"resourcetemplate.karmada.io/deletion-protected":"Always"}}})");
  const auto refused = admit_delete(maps, marked);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kForbidden);
  EXPECT_EQ(
      refused.error().message,
      "admission webhook \"resourcedeletionprotection.karmada.io\" denied the request: This resource is protected, "
      "please make sure to remove the label: resourcetemplate.karmada.io/deletion-protected");
  Value other = marked;
  other.edit("metadata").edit("labels").set("resourcetemplate.karmada.io/deletion-protected", "Never");
  EXPECT_TRUE(admit_delete(maps, other).has_value());
  EXPECT_TRUE(admit_delete(*Kinds::compiled().find_type("clusters.cluster.karmada.io"), marked).has_value());
  const Kind& namespaces = *Kinds::compiled().find_type("namespaces");
  EXPECT_EQ(message_of(admit_delete(namespaces, json(R"({"metadata":{"name":"default"}})"))),
            "namespaces \"default\" is forbidden: this namespace may not be deleted");
  EXPECT_TRUE(admit_delete(namespaces, json(R"({"metadata":{"name":"mine"}})")).has_value());
}

/// Deterministic noise from the words that objects are made of.
Value noise(uint64_t& state, int depth) {
  const auto below = [&](size_t n) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<size_t>(state >> 33U) % n;
  };
  static constexpr const char* kKeys[] = {"metadata",
                                          "spec",
                                          "status",
                                          "data",
                                          "name",
                                          "template",
                                          "containers",
                                          "selector",
                                          "ports",
                                          "labels",
                                          "image",
                                          "strategy",
                                          "replicas",
                                          "placement",
                                          "resourceSelectors",
                                          "taints",
                                          "versions",
                                          "stringData",
                                          "rules",
                                          "volumes",
                                          "names",
                                          "roleRef",
                                          "spreadConstraints",
                                          "finalizers",
                                          "resources",
                                          "limits",
                                          "subjects",
                                          "resourceModels",
                                          "ranges",
                                          "overrideRules",
                                          "matchLabels",
                                          "jobTemplate"};
  switch (below(depth > 7 ? 4 : 10)) {
    case 0:
      return Value{};
    case 1:
      return Value{static_cast<int64_t>(below(100)) - 50};
    case 2:
      return Value{"text"};
    case 3:
      return Value{0.5};
    case 4:
    case 5: {
      Value list = Value::array();
      for (size_t i = below(3); i > 0; --i) list.push_back(noise(state, depth + 1));
      return list;
    }
    default: {
      Value object = Value::object();
      for (size_t i = below(7); i > 0; --i) object.set(kKeys[below(std::size(kKeys))], noise(state, depth + 1));
      return object;
    }
  }
}

TEST(Admission, SurvivesAnyJson) {
  for (const auto& kind : Kinds::compiled().all()) {
    uint64_t state = 42;
    for (int round = 0; round < 60; ++round) {
      Admission admission;
      admission.kinds = &Kinds::compiled();
      admission.kind = kind.get();
      admission.ns = kind->namespaced ? "default" : "";
      Value object = Value::object({{"metadata", Value::object({{"name", "x"}})},
                                    {"spec", noise(state, 1)},
                                    {"data", noise(state, 1)},
                                    {"status", noise(state, 1)}});
      const auto created = admit_create(admission, object);
      if (!created) continue;
      admission.name = "x";
      (void)admit_update(admission, created.value(), object);
      (void)admit_status_update(admission, created.value(), object);
    }
  }
}

/// A kind that a user defined, whose spec and status have these fields.
Kinds kinds_with_thing(const std::string& fields) {
  const std::string schema = R"({"type":"object","properties":{)" + fields + "}}";
  const auto kinds = Kinds::compiled().with(
      json(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",)"
           R"("metadata":{"name":"things.up.io"},"spec":{"group":"up.io","scope":"Namespaced",)"
           R"("names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},)"
           R"("versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},)"
           R"("schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":)" +
           schema + R"(,"status":)" + schema + "}}}}]}}"));
  EXPECT_TRUE(kinds.has_value()) << message_of(kinds);
  return kinds ? kinds.value() : Kinds::compiled();
}

Admission admission_for_thing(const Kinds& kinds) {
  Admission admission;
  admission.kinds = &kinds;
  admission.kind = kinds.find_type("things.up.io");
  admission.ns = "default";
  admission.name = "r";
  return admission;
}

TEST(Admission, ACustomResourceThatAStricterSchemaMadeInvalidCanBeChanged) {  // CRD-7: CRDValidationRatcheting
  const Kinds kinds = kinds_with_thing(R"("a":{"type":"string","maxLength":3},"b":{"type":"integer"},)"
                                       R"("c":{"type":"string","default":"new"})");
  const Value old = json(R"({"apiVersion":"up.io/v1","kind":"Thing","metadata":{"name":"r","namespace":"default",)"
                         R"("resourceVersion":"7","finalizers":["x.y/z"],"deletionTimestamp":"2026-01-01T00:00:00Z"},)"
                         R"("spec":{"a":"toolong","b":"text","dropped":1},"status":{"a":"toolong"}})");
  Admission admission = admission_for_thing(kinds);
  Value changed = old;
  changed.edit("metadata").erase("finalizers");
  const auto released = admit_update(admission, old, changed);
  ASSERT_TRUE(released.has_value()) << message_of(released);
  EXPECT_EQ(released.value()["spec"], json(R"({"a":"toolong","b":"text","c":"new"})"));

  changed = old;
  changed.edit("spec").set("c", "other");
  EXPECT_TRUE(admit_update(admission, old, changed).has_value());
  changed.edit("spec").set("a", "too_long");
  EXPECT_EQ(fields_of(admit_update(admission, old, changed)), "spec.a");
  changed.edit("spec").set("b", "other");
  EXPECT_EQ(fields_of(admit_update(admission, old, changed)), "spec.a,spec.b");

  changed = old;
  changed.edit("status").set("c", "other");
  EXPECT_TRUE(admit_status_update(admission, old, changed).has_value());
  changed.edit("status").set("a", "too_long");
  EXPECT_EQ(fields_of(admit_status_update(admission, old, changed)), "status.a");
}

TEST(Admission, ABuiltInObjectIsValidatedAsAWhole) {
  Value old = stored("configmaps", kConfigMap);
  old.edit("data").set("a", 1);
  Value changed = old;
  changed.edit("metadata").edit("labels").set("x", "y");
  EXPECT_EQ(update("configmaps", old, changed).error().code, ErrorCode::kBadRequest);
}

TEST(Admission, AKindWithRulesOfItsOwnNeedsTheRightTypesEvenOfWhatDoesNotChange) {
  const char* const policies = "propagationpolicies.policy.karmada.io";
  Value old = stored(policies, json(R"({"metadata":{"name":"p"},"spec":{"resourceSelectors":[{"apiVersion":"apps/v1",)"
                                    R"("kind":"Deployment"}]}})"));
  old.edit("spec").edit("resourceSelectors").edit_items()[0].set("name", 7);
  Value changed = old;
  changed.edit("metadata").edit("labels").set("x", "y");
  EXPECT_EQ(fields_of(update(policies, old, changed)), "spec.resourceSelectors[0].name");
}

}  // namespace
}  // namespace shiplog::api
