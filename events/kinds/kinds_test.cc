#include "events/kinds/kinds.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/support/literals.h"

namespace shiplog {
namespace {

using test::yaml;

constexpr const char* kShirts = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shirts.stable.example.com}
spec:
  group: stable.example.com
  scope: Namespaced
  names: {plural: shirts, kind: Shirt, shortNames: [sh], categories: [wear]}
  versions:
    - name: v1beta1
      served: true
      storage: false
      schema: &schema
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                sizes: {type: array, items: {type: object, properties: {size: {type: integer, default: 1}}}}
                replicas: {type: integer}
            status: {type: object, properties: {replicas: {type: integer}, selector: {type: string}}}
    - name: v1
      served: true
      storage: true
      schema: *schema
      subresources:
        status: {}
        scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector}
      additionalPrinterColumns:
        - {name: Sizes, type: string, jsonPath: '.spec.sizes[*].size', priority: 1, description: All sizes}
)";

Value shirts_with(const std::function<void(Value&)>& change) {
  Value crd = yaml(kShirts);
  change(crd);
  return crd;
}

TEST(KindsVersions, FollowKubernetesPriority) {
  const std::vector<std::string> sorted = {"v10",       "v2",        "v1",   "v11beta2", "v10beta3", "v3beta1",
                                           "v12alpha1", "v11alpha2", "foo1", "foo10",    "v01"};
  for (size_t i = 0; i + 1 < sorted.size(); ++i) {
    EXPECT_LT(compare_versions(sorted[i], sorted[i + 1]), 0) << sorted[i] << " " << sorted[i + 1];
    EXPECT_GT(compare_versions(sorted[i + 1], sorted[i]), 0) << sorted[i] << " " << sorted[i + 1];
  }
  EXPECT_EQ(compare_versions("v1", "v1"), 0);
}

TEST(Kinds, AreFoundByEveryName) {
  const Kinds& kinds = Kinds::compiled();
  const Kind* deployment = kinds.find("apps", "v1", "deployments");
  ASSERT_NE(deployment, nullptr);
  EXPECT_EQ(kinds.find_kind("apps/v1", "Deployment"), deployment);
  EXPECT_EQ(kinds.find_type("deployments.apps"), deployment);
  EXPECT_EQ(deployment->type(), "deployments.apps");
  EXPECT_EQ(deployment->api_version(), "apps/v1");
  const Kind* config_map = kinds.find("", "v1", "configmaps");
  ASSERT_NE(config_map, nullptr);
  EXPECT_EQ(kinds.find_kind("v1", "ConfigMap"), config_map);
  EXPECT_EQ(kinds.find_type("configmaps"), config_map);
  EXPECT_EQ(kinds.find("apps", "v1beta1", "deployments"), nullptr);
  EXPECT_EQ(kinds.find_kind("v1", "Deployment"), nullptr);
  EXPECT_EQ(kinds.find_type("deployments"), nullptr);
}

TEST(Kinds, AreSorted) {
  const auto& all = Kinds::compiled().all();
  ASSERT_FALSE(all.empty());
  for (size_t i = 0; i + 1 < all.size(); ++i) {
    const Kind& a = *all[i];
    const Kind& b = *all[i + 1];
    EXPECT_LE(std::tie(a.group, a.plural), std::tie(b.group, b.plural));
  }
}

TEST(Kinds, AddACustomResourceDefinition) {
  const auto made = Kinds::compiled().with(yaml(kShirts));
  ASSERT_TRUE(made.has_value()) << made.error().message;
  const Kinds& kinds = made.value();
  EXPECT_EQ(kinds.all().size(), Kinds::compiled().all().size() + 2);
  const Kind* shirt = kinds.find_type("shirts.stable.example.com");
  ASSERT_NE(shirt, nullptr);
  EXPECT_EQ(shirt->version, "v1");
  EXPECT_TRUE(shirt->has_status);
  EXPECT_TRUE(shirt->namespaced);
  EXPECT_FALSE(shirt->builtin);
  EXPECT_EQ(shirt->singular, "shirt");
  EXPECT_EQ(shirt->list_kind, "ShirtList");
  EXPECT_EQ(shirt->short_names, std::vector<std::string>{"sh"});
  EXPECT_EQ(shirt->categories, std::vector<std::string>{"wear"});
  ASSERT_TRUE(shirt->scale);
  EXPECT_EQ(shirt->scale->label_selector, ".status.selector");
  ASSERT_EQ(shirt->columns.size(), 1U);
  EXPECT_EQ(shirt->columns[0].priority, 1);
  const Kind* beta = kinds.find("stable.example.com", "v1beta1", "shirts");
  ASSERT_NE(beta, nullptr);
  EXPECT_FALSE(beta->storage);
  EXPECT_FALSE(beta->has_status);
  EXPECT_EQ(with_defaults(*shirt->schema, prune(*shirt->schema, yaml("spec: {sizes: [{}, {size: 2, sice: 3}]}"))),
            yaml("spec: {sizes: [{size: 1}, {size: 2}]}"));
  EXPECT_EQ(validate(*shirt->schema, yaml("spec: {sizes: [{size: XL}]}")).at(0).field, "spec.sizes[0].size");
  EXPECT_EQ(validate(*shirt->schema, yaml("metadata: {labels: {a: 1}}")).at(0).field, "metadata.labels.a");
  // The original set is unchanged.
  EXPECT_EQ(Kinds::compiled().find_type("shirts.stable.example.com"), nullptr);
}

TEST(Kinds, ReplaceAndRemoveACustomResourceDefinition) {
  const Kinds first = Kinds::compiled().with(yaml(kShirts)).value();
  const auto second = first.with(shirts_with([](Value& crd) {
    crd.edit("spec").edit("versions").edit_items().erase(crd.edit("spec").edit("versions").edit_items().begin());
  }));
  ASSERT_TRUE(second.has_value()) << second.error().message;
  EXPECT_EQ(second.value().find("stable.example.com", "v1beta1", "shirts"), nullptr);
  EXPECT_NE(second.value().find("stable.example.com", "v1", "shirts"), nullptr);
  const Kinds third = second.value().without("shirts.stable.example.com");
  EXPECT_EQ(third.all().size(), Kinds::compiled().all().size());
  EXPECT_NE(third.without("deployments.apps").find_type("deployments.apps"), nullptr) << "built in, not defined";
}

TEST(Kinds, DefinitionsAreFoundWhateverTheirOrder) {
  Kinds kinds = Kinds::compiled();
  for (const char* group : {"m.example.com", "z.example.com", "a.example.com"}) {
    kinds = kinds
                .with(shirts_with([&](Value& crd) {
                  crd.edit("metadata").set("name", std::string{"shirts."} + group);
                  crd.edit("spec").set("group", group);
                }))
                .value();
  }
  const Kinds fewer = kinds.without("shirts.m.example.com");
  EXPECT_EQ(fewer.find("m.example.com", "v1", "shirts"), nullptr);
  EXPECT_EQ(fewer.find_kind("m.example.com/v1", "Shirt"), nullptr);
  for (const std::string group : {"a.example.com", "z.example.com"}) {
    EXPECT_NE(fewer.find(group, "v1", "shirts"), nullptr);
    EXPECT_EQ(fewer.find_kind(group + "/v1", "Shirt"), fewer.find(group, "v1", "shirts"));
  }
  const auto groups = [](const std::shared_ptr<const Kind>& kind) { return kind->group; };
  EXPECT_TRUE(std::ranges::is_sorted(kinds.all(), {}, groups));
}

TEST(Kinds, BuiltInKindsCannotBeRedefined) {
  const auto made = Kinds::compiled().with(shirts_with([](Value& crd) {
    crd.edit("metadata").set("name", "roles.rbac.authorization.k8s.io");
    crd.edit("spec").set("group", "rbac.authorization.k8s.io");
    crd.edit("spec").edit("names").set("plural", "roles");
  }));
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, ErrorCode::kInvalid);
}

TEST(KindsOf, StoresObjectsUnderAServedVersion) {
  const auto kinds =
      kinds_of(shirts_with([](Value& crd) { crd.edit("spec").edit("versions").edit_items()[1].set("served", false); }));
  ASSERT_TRUE(kinds.has_value()) << kinds.error().message;
  ASSERT_EQ(kinds.value().size(), 1U);
  EXPECT_EQ(kinds.value()[0].version, "v1beta1");
  EXPECT_TRUE(kinds.value()[0].storage);
}

TEST(KindsOf, ADefinitionMayServeNothing) {  // CRD-10
  const Value retired = shirts_with([](Value& crd) {
    for (Value& version : crd.edit("spec").edit("versions").edit_items()) version.set("served", false);
  });
  const auto kinds = kinds_of(retired);
  ASSERT_TRUE(kinds.has_value()) << kinds.error().message;
  EXPECT_TRUE(kinds.value().empty());
  const auto without = Kinds::compiled().with(yaml(kShirts)).value().with(retired);
  ASSERT_TRUE(without.has_value()) << without.error().message;
  EXPECT_EQ(without.value().find_type("shirts.stable.example.com"), nullptr);
  EXPECT_EQ(without.value().all().size(), Kinds::compiled().all().size());
}

/// Of a part of a definition, in the words of kube-apiserver: "field: message".
struct WrongDefinition {
  const char* part;   ///< a member of the spec, or of its second version (columns: of the first of these)
  const char* value;  ///< YAML
  const char* cause;  ///< begins so; empty: it is admitted
};

TEST(KindsOf, RefusesNewNamesVersionsAndColumns) {  // CRD-1
  const std::vector<WrongDefinition> cases = {
      {"names/shortNames", "[Bad, ok]",
       "spec.names.shortNames[0]: Invalid value: \"Bad\": a DNS-1035 label must consist"},
      {"names/categories", "[ok, 1]", "spec.names.categories[1]: Invalid value: \"\": a DNS-1035 label must consist"},
      {"names/categories", "[ok, 1a]",
       "spec.names.categories[1]: Invalid value: \"1a\": a DNS-1035 label must consist"},
      {"names/singular", "Bad_", "spec.names.singular: Invalid value: \"Bad_\": a DNS-1035 label must consist"},
      {"names/plural", "1shirts", "spec.names.plural: Invalid value: \"1shirts\": a DNS-1035 label must consist"},
      {"names/kind", "bad_k",
       "spec.names.kind: Invalid value: \"bad_k\": may have mixed case, but should otherwise match: a DNS-1035 label"},
      {"names/listKind", "bad_k",
       "spec.names.listKind: Invalid value: \"bad_k\": may have mixed case, but should otherwise match: a DNS-1035 "
       "label"},
      {"names/listKind", "Shirt",
       "spec.names.listKind: Invalid value: \"Shirt\": kind and listKind may not be the same"},
      {"group", "nodot", "spec.group: Invalid value: \"nodot\": should be a domain with at least one dot"},
      {"group", "Bad.x", "spec.group: Invalid value: \"Bad.x\": a lowercase RFC 1123 subdomain must consist of"},
      {"conversion", "{}", "spec.conversion.strategy: Required value"},
      {"preserveUnknownFields", "true",
       "spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields"},
      {"versions/name", "1v", "spec.versions[1].name: Invalid value: \"1v\": a DNS-1035 label must consist"},
      {"versions/deprecationWarning", "x",
       "spec.versions[1].deprecationWarning: Invalid value: \"x\": can only be set for deprecated versions"},
      {"deprecated/deprecationWarning", "x", ""},
      {"deprecated/deprecationWarning", "''",
       "spec.versions[1].deprecationWarning: Invalid value: \"\": must not be an empty string"},
      {"deprecated/deprecationWarning", "\"a\\nb\"",
       "spec.versions[1].deprecationWarning: Invalid value: \"a\\nb\": must only contain printable UTF-8 characters; "
       "non-printable character found at index 1"},
      {"deprecated/deprecationWarning", "\"\u00fcber\\u00a0b\"",
       "spec.versions[1].deprecationWarning: Invalid value: \"\u00fcber\u00a0b\": must only contain printable UTF-8 "
       "characters; non-printable character found at index 5"},
      {"columns/format", "x",
       "spec.versions[1].additionalPrinterColumns[0].format: Invalid value: \"x\": must be one of "
       "byte,date,date-time,double,float,int32,int64,password"},
      {"columns/type", "x",
       "spec.versions[1].additionalPrinterColumns[0].type: Invalid value: \"x\": must be one of "
       "boolean,date,integer,number,string"},
      {"columns/jsonPath", "spec.a",
       "spec.versions[1].additionalPrinterColumns[0].JSONPath: Invalid value: \"spec.a\": must be a simple json path "
       "starting with ."},
      {"subresources/scale", "{specReplicasPath: spec.a, statusReplicasPath: .spec.a}",
       "spec.versions[1].subresources.scale.specReplicasPath: Invalid value: \"spec.a\": must be a simple json path "
       "starting with ."},
      {"schema/openAPIV3Schema", "{type: object, maxProperties: 3}",
       "spec.versions[1].schema.openAPIV3Schema: Invalid value: {\"maxProperties\":3}: only [Description Type"},
  };
  for (const WrongDefinition& each : cases) {
    const std::string part = each.part;
    const std::string owner = part.substr(0, part.find('/'));
    const std::string member = part.substr(part.find('/') + 1);
    const auto kinds = kinds_of(shirts_with([&](Value& crd) {
      Value& spec = crd.edit("spec");
      Value& version = spec.edit("versions").edit_items()[1];
      if (owner == "deprecated") version.set("deprecated", true);
      Value* place = owner == member ? &spec : owner == "names" ? &spec.edit("names") : &version;
      if (owner == "columns") place = &version.edit("additionalPrinterColumns").edit_items()[0];
      if (owner == "subresources" || owner == "schema") place = &version.edit(owner);
      place->set(member, yaml(each.value));
    }));
    const std::string_view wanted = each.cause;
    const bool found = kinds ? wanted.empty() : std::ranges::any_of(kinds.error().causes, [&](const FieldCause& cause) {
      return !wanted.empty() && (cause.field + ": " + cause.message).starts_with(wanted);
    });
    EXPECT_TRUE(found) << part << " " << each.value << ": " << (kinds ? "admitted" : kinds.error().message);
  }
}

TEST(KindsOf, WhatWasAdmittedIsServed) {
  const Value older = shirts_with([](Value& crd) {
    crd.edit("spec").edit("names").set("shortNames", yaml("[Bad_]"));
    crd.edit("spec").edit("versions").edit_items()[1].set("deprecationWarning", "x");
    crd.edit("spec")
        .edit("versions")
        .edit_items()[1]
        .edit("additionalPrinterColumns")
        .edit_items()[0]
        .set("format", "x");
  });
  EXPECT_FALSE(kinds_of(older).has_value());
  EXPECT_TRUE(Kinds::compiled().with(older).has_value());
}

TEST(KindsOf, RefusesInvalidFieldsWithTheirPaths) {  // CRD-1
  struct Case {
    std::function<void(Value&)> change;
    const char* field;
    const char* reason;
  };
  const std::vector<Case> cases = {
      {[](Value& crd) { crd.edit("metadata").set("name", "shirts"); }, "metadata.name", "FieldValueInvalid"},
      {[](Value& crd) { crd.edit("spec").set("scope", "World"); }, "spec.scope", "FieldValueNotSupported"},
      {[](Value& crd) { crd.edit("spec").erase("versions"); }, "spec.versions", "FieldValueRequired"},
      {[](Value& crd) { crd.edit("spec").edit("versions").edit_items()[0].set("storage", true); }, "spec.versions",
       "FieldValueInvalid"},
      {[](Value& crd) { crd.edit("spec").edit("versions").edit_items()[1].set("storage", false); }, "spec.versions",
       "FieldValueInvalid"},
      {[](Value& crd) { crd.edit("spec").edit("versions").edit_items()[1].set("name", "v1beta1"); },
       "spec.versions[1].name", "FieldValueDuplicate"},
      {[](Value& crd) { crd.edit("spec").edit("versions").edit_items()[0].erase("schema"); },
       "spec.versions[0].schema.openAPIV3Schema", "FieldValueRequired"},
      {[](Value& crd) {
         crd.edit("spec")
             .edit("versions")
             .edit_items()[0]
             .edit("schema")
             .edit("openAPIV3Schema")
             .edit("properties")
             .edit("spec")
             .edit("properties")
             .edit("replicas")
             .erase("type");
       },
       "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[replicas].type", "FieldValueRequired"},
      {[](Value& crd) { crd.edit("spec").edit("conversion").set("strategy", "Odd"); }, "spec.conversion.strategy",
       "FieldValueNotSupported"},
      {[](Value& crd) {
         crd.edit("spec").edit("conversion").set("strategy", "Webhook");
         for (Value& version : crd.edit("spec").edit("versions").edit_items()) {
           if (version["storage"].as_bool())
             version.set("served", false);
           else
             version.set("served", true);
         }
       },
       "spec.versions[1].served", "FieldValueInvalid"},
      {[](Value& crd) { crd.edit("spec").edit("names").erase("kind"); }, "spec.names.kind", "FieldValueRequired"},
      {[](Value& crd) {
         crd.edit("spec").edit("versions").edit_items()[1].edit("subresources").edit("scale").erase("specReplicasPath");
       },
       "spec.versions[1].subresources.scale.specReplicasPath", "FieldValueRequired"},
      {[](Value& crd) {
         crd.edit("spec")
             .edit("versions")
             .edit_items()[1]
             .edit("additionalPrinterColumns")
             .edit_items()[0]
             .set("type", "odd");
       },
       "spec.versions[1].additionalPrinterColumns[0].type", "FieldValueInvalid"},
  };
  for (const Case& each : cases) {
    const auto kinds = kinds_of(shirts_with(each.change));
    ASSERT_FALSE(kinds.has_value()) << each.field;
    EXPECT_EQ(kinds.error().code, ErrorCode::kInvalid);
    bool found = false;
    for (const FieldCause& cause : kinds.error().causes)
      found = found || (cause.field == each.field && cause.reason == each.reason);
    EXPECT_TRUE(found) << each.field << " in " << kinds.error().message;
  }
}

TEST(KindsOf, RefusesDocumentsThatAreNotDefinitions) {
  for (const char* text : {"{}", "[]", "spec: []", "spec: {versions: [1, null]}", "metadata: {name: '.'}"}) {
    EXPECT_FALSE(kinds_of(yaml(text)).has_value()) << text;
  }
}

}  // namespace
}  // namespace shiplog
