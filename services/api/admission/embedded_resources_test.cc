#include "tests/support/admit.h"

namespace shiplog::api {
namespace {

constexpr const char* kEmbedding = R"({"type":"object","properties":{
    "e":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,
      "properties":{"inner":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}},
    "list":{"type":"array","items":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"a":{"type":"string"}}}}}})";

Value definition_of(const std::string& schema) {
  return json(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
      "metadata":{"name":"boxes.example.com"},"spec":{"group":"example.com","scope":"Cluster",
      "names":{"plural":"boxes","singular":"box","kind":"Box","listKind":"BoxList"},"versions":[
      {"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":)" +
              schema + "}}]}}");
}

/// A custom resource of the schema, written as a new one or in the place of `old`.
struct CustomWrite {
  explicit CustomWrite(const std::string& schema) : kinds{Kinds::compiled().with(definition_of(schema)).value()} {
    admission.kinds = &kinds;
    admission.kind = kinds.find_type("boxes.example.com");
    admission.now = UtcMillis{1};
  }
  Result<Value> create(const std::string& object) { return admit_create(admission, json(object)); }
  Result<Value> update(const std::string& old, const std::string& object) {
    Value before = json(old);
    for (Value* each : {&before}) each->edit("metadata").set("resourceVersion", "7");
    Value after = json(object);
    after.edit("metadata").set("resourceVersion", "7");
    admission.name = "b";
    return admit_update(admission, before, after);
  }

  Kinds kinds;
  Admission admission;
};

constexpr const char* kWrong = R"({"apiVersion":"not/a/version","kind":"%","metadata":{"name":"..","namespace":"N",
    "labels":{"a":"x y"},"annotations":{"b c":"d"},"ownerReferences":[{"kind":"K"}],"finalizers":["f g"]}})";

std::string box(const std::string& members) { return R"({"metadata":{"name":"b"})" + members + "}"; }

TEST(EmbeddedResources, AreCheckedAtEveryDepth) {  // CRD-7
  CustomWrite write{kEmbedding};
  const std::string right = R"({"apiVersion":"apps/v1","kind":"Some-Kind","metadata":{"labels":{"a":"b"}}})";
  EXPECT_EQ(message_of(write.create(box(R"(,"e":)" + right))), "no error");
  EXPECT_EQ(fields_of(write.create(box(R"(,"e":)" + std::string{kWrong}))),
            "e.metadata.ownerReferences[0].apiVersion,e.metadata.ownerReferences[0].name,"
            "e.metadata.ownerReferences[0].uid,e.apiVersion,e.kind,e.metadata.name,e.metadata.namespace,"
            "e.metadata.labels,e.metadata.annotations,e.metadata.finalizers");
  const auto deep = write.create(box(R"(,"e":{"apiVersion":"v1","kind":"K","inner":{"apiVersion":"v1","kind":"%"}},
      "list":[)" + right + R"(,{"apiVersion":"v1","kind":"K","metadata":{"name":".."}}])"));
  ASSERT_FALSE(deep.has_value());
  EXPECT_EQ(fields_of(deep), "e.inner.kind,list[1].metadata.name");
  EXPECT_TRUE(deep.error().causes[0].message.starts_with(
      "Invalid value: \"%\": may have mixed case, but should otherwise match: a DNS-1035 label must consist of"))
      << deep.error().causes[0].message;
  EXPECT_EQ(deep.error().causes[1].message, "Invalid value: \"..\": may not be '..'");
  EXPECT_EQ(fields_of(write.create(box(R"(,"e":{"metadata":{"name":".."}})"))), "e.apiVersion,e.kind,e.metadata.name");
}

TEST(EmbeddedResources, UnknownFieldsOfTheirMetadataAreReported) {  // CRU-6
  CustomWrite write{kEmbedding};
  const std::string object =
      box(R"(,"e":{"apiVersion":"v1","kind":"K","metadata":{"name":"n","unknown":1},"unknown":2})");
  const auto made = write.create(object);
  ASSERT_TRUE(made.has_value()) << message_of(made);
  EXPECT_EQ(made.value()["e"], json(R"({"apiVersion":"v1","kind":"K","metadata":{"name":"n"},"unknown":2})"));
  EXPECT_EQ(write.admission.warnings, std::vector<std::string>{"unknown field \"e.metadata.unknown\""});
}

TEST(EmbeddedResources, ThoseThatWereAdmittedMayStay) {  // CRD-7
  CustomWrite write{kEmbedding};
  const std::string old = box(R"(,"e":)" + std::string{kWrong});
  EXPECT_EQ(message_of(write.update(old, box(R"(,"list":[],"e":)" + std::string{kWrong}))), "no error");
  EXPECT_EQ(fields_of(write.update(old, box(R"(,"e":{"apiVersion":"v1","kind":"^"})"))), "e.kind");
}

TEST(DefinitionAdmission, RefusesDefaultsThatAreInvalid) {  // CRD-6
  const auto made = [](const std::string& field) {
    return create("customresourcedefinitions.apiextensions.k8s.io",
                  definition_of(R"({"type":"object","properties":{"f":)" + field + "}}"));
  };
  const std::string field = "spec.versions[0].schema.openAPIV3Schema.properties[f]";
  const std::string embedded =
      R"("type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true)";
  EXPECT_EQ(fields_of(made("{" + embedded + R"(,"default":{"apiVersion":"v1","kind":"%"}})")), field + ".default.kind");
  EXPECT_EQ(fields_of(made("{" + embedded +
                           R"(,"default":{"apiVersion":"v1","kind":"A","metadata":{"labels":{"a":"x y"}}}})")),
            field + ".default.metadata.labels");
  EXPECT_EQ(fields_of(made("{" + embedded + R"(,"properties":{"kind":{"type":"string","default":"%"},
      "metadata":{"type":"object","properties":{"name":{"type":"string","default":".."}}}}})")),
            field + ".properties[kind].default," + field + ".properties[metadata].properties[name].default");
  EXPECT_EQ(fields_of(made(R"({"type":"integer","default":1,"x-kubernetes-validations":[{"rule":"self > 5"}]})")),
            field + ".default");
  EXPECT_EQ(fields_of(made("{" + embedded + R"(,"properties":{"metadata":{"type":"object","default":{"name":"a"}}}})")),
            "no error");
}

TEST(DefinitionAdmission, ChecksTheRulesOfEveryVersion) {  // CRD-1
  Value definition = definition_of(R"({"type":"object"})");
  definition.edit("spec").edit("versions").push_back(json(R"({"name":"v2","served":false,"storage":false,"schema":{
      "openAPIV3Schema":{"type":"object","x-kubernetes-validations":[{"rule":"self =="}]}}})"));
  EXPECT_EQ(fields_of(create("customresourcedefinitions.apiextensions.k8s.io", definition)),
            "spec.versions[1].schema.openAPIV3Schema.x-kubernetes-validations[0].rule");
}

TEST(DefinitionAdmission, WhatADefinitionHadBeforeMayStay) {  // CRD-1
  const char* type = "customresourcedefinitions.apiextensions.k8s.io";
  const std::string bad = R"("a":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"object"}},
      "b":{"type":"integer","default":1,"x-kubernetes-validations":[{"rule":"self > 5"}]})";
  const auto with = [&](const std::string& properties, const char* names) {
    Value definition = definition_of(R"({"type":"object","properties":{)" + properties + "}}");
    definition.edit("metadata").set("resourceVersion", "7");
    if (names != nullptr) definition.edit("spec").edit("names").set("shortNames", json(names));
    return definition;
  };
  const std::string root = "spec.versions[0].schema.openAPIV3Schema.properties";
  const Value old = with(bad, R"(["Bad"])");
  EXPECT_EQ(fields_of(update(type, old, old)), "no error");
  EXPECT_EQ(fields_of(update(type, old, with(bad + R"(,"c":{"type":"string"})", R"(["Bad"])"))), "no error");
  EXPECT_EQ(fields_of(update(type, old,
                             with(bad + R"(,"c":{"type":"object","nullable":true,
      "x-kubernetes-map-type":"odd"})",
                                  R"(["Bad","Bad2"])"))),
            "spec.names.shortNames[1]," + root + "[c].x-kubernetes-map-type");
  EXPECT_EQ(fields_of(update(type, with(R"("c":{"type":"string"})", nullptr), with(bad, R"(["Bad"])"))),
            root + "[b].default,spec.names.shortNames[0]," + root + "[a].items.x-kubernetes-map-type");
}

}  // namespace
}  // namespace shiplog::api
