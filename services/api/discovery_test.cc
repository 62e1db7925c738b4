#include "services/api/discovery.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/api/aggregation/remote_openapi.h"
#include "services/api/openapi.h"
#include "services/api/openapi_documents.h"
#include "services/api/openapi_v2.h"

namespace shiplog::api {
namespace {

const Value* named(const Value& list, std::string_view field, std::string_view name) {
  for (const Value& item : list.items()) {
    if (item[field].as_string() == name) return &item;
  }
  return nullptr;
}

TEST(Discovery, ListsBuiltinGroupsBeforeThoseOfDefinitions) {  // DISC-2
  const Value list = group_list(Kinds::compiled());
  bool custom = false;
  for (const Value& one : list["groups"].items()) {
    const bool karmada = one["name"].as_string().ends_with("karmada.io");
    EXPECT_FALSE(custom && one["name"].as_string() == "apps");
    custom = custom || karmada;
    EXPECT_NE(one["name"].as_string(), "") << "core is not listed";
  }
  EXPECT_TRUE(custom);
}

TEST(Discovery, NamesSubresourcesWithTheirOwnKind) {  // DISC-4
  const Value list = resource_list(Kinds::compiled(), "apps", "v1");
  const Value* scale = named(list["resources"], "name", "deployments/scale");
  ASSERT_NE(scale, nullptr);
  EXPECT_EQ((*scale)["group"].as_string(), "autoscaling");
  EXPECT_EQ((*scale)["kind"].as_string(), "Scale");
  EXPECT_NE(named(list["resources"], "name", "deployments/status"), nullptr);
  EXPECT_TRUE(resource_list(Kinds::compiled(), "apps", "v9").is_null());
}

TEST(Discovery, NamesTheStorageVersionByItsHash) {  // DISC-4
  const auto hash = [](const char* group, const char* version, const char* plural) {
    const Value list = resource_list(Kinds::compiled(), group, version);
    const Value* found = named(list["resources"], "name", plural);
    return found == nullptr ? "not listed" : (*found)["storageVersionHash"].str();
  };
  EXPECT_EQ(hash("", "v1", "pods"), "xPOwRZ+Yhw8=");
  EXPECT_EQ(hash("", "v1", "namespaces"), "Q3oi5N2YM8M=");
  EXPECT_EQ(hash("apps", "v1", "deployments"), "8aSe+NMegvE=");
  EXPECT_EQ(hash("events.k8s.io", "v1", "events"), hash("", "v1", "events")) << "core Events are stored";
  EXPECT_EQ(hash("autoscaling", "v1", "horizontalpodautoscalers"),
            hash("autoscaling", "v2", "horizontalpodautoscalers"));
  EXPECT_EQ(hash("", "v1", "pods/status"), "");
  EXPECT_EQ(hash("authorization.k8s.io", "v1", "subjectaccessreviews"), "") << "it is not stored";
}

TEST(Discovery, NamesTheSearchAndTheGlobalProxyWithoutVerbs_6_1_1) {
  const Value list = resource_list(Kinds::compiled(), "search.karmada.io", "v1alpha1");
  for (const char* name : {"search", "proxying"}) {
    const Value* found = named(list["resources"], "name", name);
    ASSERT_NE(found, nullptr) << name;
    EXPECT_EQ((*found)["verbs"], Value::array());
    EXPECT_EQ((*found)["namespaced"], Value{false});
  }
  EXPECT_NE(named(list["resources"], "name", "resourceregistries"), nullptr);
}

TEST(Discovery, TheCollectionOfNamespacesCannotBeDeleted) {
  const Value list = resource_list(Kinds::compiled(), "", "v1");
  const auto deletes = [&](const char* plural) {
    const Value& verbs = (*named(list["resources"], "name", plural))["verbs"];
    return std::ranges::find(verbs.items(), Value{"deletecollection"}) != verbs.items().end();
  };
  EXPECT_FALSE(deletes("namespaces"));
  EXPECT_TRUE(deletes("configmaps"));
  const Value document = openapi_document(Kinds::compiled(), "", "v1");
  EXPECT_FALSE(document["paths"]["/api/v1/namespaces"].contains("delete"));
  EXPECT_TRUE(document["paths"]["/api/v1/namespaces/{namespace}/configmaps"].contains("delete"));
  EXPECT_FALSE(document["paths"]["/api/v1/configmaps"].contains("delete"));
}

TEST(Discovery, AggregatedFormIsServedOnlyInTheRequestedVersion) {  // DISC-7, DISC-9
  EXPECT_EQ(aggregated_version("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"),
            "v2");
  EXPECT_EQ(aggregated_version("application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"), "v2beta1");
  EXPECT_FALSE(aggregated_version("application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList"));
  EXPECT_FALSE(aggregated_version("application/json"));
  const Value core = aggregated(Kinds::compiled(), true, "v2");
  EXPECT_EQ(core["items"].size(), 1u);
  EXPECT_NE(named(core["items"][0]["versions"][0]["resources"], "resource", "pods"), nullptr);
}

AggregatedVersion remote_version(const std::string& group, const std::string& version, int64_t priority) {
  AggregatedVersion remote;
  remote.api.group = group;
  remote.api.version = version;
  remote.api.name = version + "." + group;
  remote.api.group_priority = priority;
  remote.api.version_priority = 10;
  return remote;
}

std::vector<std::string> group_names(const Value& list) {
  std::vector<std::string> names;
  for (const Value& group : list["groups"].items()) names.push_back(group["name"].str());
  return names;
}

TEST(Discovery, GroupsOfOtherServersStandWhereTheirPrioritiesPlaceThem) {
  AggregatedVersions remote;
  remote.versions = {remote_version("first.example.com", "v1", 20000), remote_version("middle.example.com", "v1", 2000),
                     remote_version("last.example.com", "v1", 10), remote_version("apps", "v2", 10)};
  remote.local_version_priorities["v1.apps"] = 15;
  const auto before = group_names(group_list(Kinds::compiled()));
  const auto names = group_names(group_list(Kinds::compiled(), &remote));
  EXPECT_EQ(names.front(), "first.example.com");
  EXPECT_EQ(names.back(), "last.example.com");
  const auto middle = std::ranges::find(names, "middle.example.com");
  ASSERT_NE(middle, names.end());
  EXPECT_FALSE(std::prev(middle)->ends_with("karmada.io")) << "behind what is built in";
  EXPECT_TRUE(std::next(middle)->ends_with("karmada.io")) << "before what definitions define";
  std::vector<std::string> local = names;
  std::erase_if(local, [](const std::string& name) { return name.ends_with("example.com"); });
  EXPECT_EQ(local, before) << "they keep their order";
  const Value apps = group(Kinds::compiled(), "apps", &remote);
  EXPECT_EQ(apps["preferredVersion"]["version"].as_string(), "v1");
  EXPECT_EQ(apps["versions"][1]["version"].as_string(), "v2") << "a version of a group that is served here";
}

TEST(Discovery, WhatAServerServesIsStaleWhileItDoesNotAnswer) {
  AggregatedVersions remote;
  remote.versions = {remote_version("things.example.com", "v1", 2000)};
  const auto version = [&] {
    const Value list = aggregated(Kinds::compiled(), false, "v2", &remote);
    for (const Value& item : list["items"].items()) {
      if (item["metadata"]["name"].as_string() == "things.example.com") return item["versions"][0];
    }
    return Value{};
  };
  EXPECT_EQ(version()["freshness"].as_string(), "Stale");
  EXPECT_EQ(version()["resources"].size(), 0U) << "it has never answered";
  remote.versions[0].resources = std::make_shared<const Value>(
      parse_json(R"([{"name":"things","singularName":"thing","namespaced":true,"kind":"Thing","verbs":["get"]}])")
          .value());
  remote.versions[0].availability = Availability{true, "Passed", ""};
  EXPECT_EQ(version()["freshness"].as_string(), "Current");
  remote.versions[0].availability = Availability{false, "FailedDiscoveryCheck", ""};
  EXPECT_EQ(version()["freshness"].as_string(), "Stale");
  EXPECT_EQ(version()["resources"][0]["resource"].as_string(), "things");
}

TEST(OpenApi, OffersStrategicMergeToBuiltinKindsOnly) {  // OA-11
  const auto content = [](const Value& document, const std::string& path) {
    return document["paths"][path]["patch"]["requestBody"]["content"];
  };
  const Value apps = openapi_document(Kinds::compiled(), "apps", "v1");
  EXPECT_TRUE(content(apps, "/apis/apps/v1/namespaces/{namespace}/deployments/{name}")
                  .contains("application/strategic-merge-patch+json"));
  const Value policy = openapi_document(Kinds::compiled(), "policy.karmada.io", "v1alpha1");
  const Value types =
      content(policy, "/apis/policy.karmada.io/v1alpha1/namespaces/{namespace}/propagationpolicies/{name}");
  EXPECT_TRUE(types.contains("application/merge-patch+json"));
  EXPECT_FALSE(types.contains("application/strategic-merge-patch+json"));
}

TEST(OpenApi, OperationsAreDescribedAsTheyAre) {  // OA-14
  const Value document = openapi_document(Kinds::compiled(), "apps", "v1");
  const auto answer_of = [](const Value& operation, const char* code) {
    return operation["responses"][code]["content"]["application/json"]["schema"]["$ref"].str();
  };
  const auto names_of = [](const Value& parameters) {
    std::string names;
    for (const Value& each : parameters.items()) names += (names.empty() ? "" : ",") + each["name"].str();
    return names;
  };
  const std::string collection = "/apis/apps/v1/namespaces/{namespace}/deployments";
  const Value& many = document["paths"][collection];
  const Value& one = document["paths"][collection + "/{name}"];
  EXPECT_EQ(answer_of(many["get"], "200"), "#/components/schemas/io.k8s.api.apps.v1.DeploymentList");
  EXPECT_EQ(names_of(many["get"]["parameters"]),
            "allowWatchBookmarks,continue,fieldSelector,labelSelector,limit,resourceVersion,resourceVersionMatch,"
            "sendInitialEvents,timeoutSeconds,watch");
  EXPECT_EQ(many["get"]["operationId"].str(), "listAppsV1NamespacedDeployment");
  EXPECT_EQ(to_json(many["get"]["tags"]), R"(["apps_v1"])");
  EXPECT_EQ(document["paths"]["/apis/apps/v1/deployments"]["get"]["operationId"].str(),
            "listAppsV1DeploymentForAllNamespaces");
  EXPECT_EQ(answer_of(many["post"], "201"), "#/components/schemas/io.k8s.api.apps.v1.Deployment");
  const char* status = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Status";
  for (const Value& deletes : {many["delete"], one["delete"]}) {
    EXPECT_EQ(answer_of(deletes, "200"), status);
    EXPECT_EQ(deletes["requestBody"]["content"]["application/json"]["schema"]["$ref"].str(),
              "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions");
    EXPECT_FALSE(deletes["requestBody"].contains("required"));
  }
  EXPECT_EQ(many["delete"]["operationId"].str(), "deleteAppsV1CollectionNamespacedDeployment");
  EXPECT_EQ(names_of(one["delete"]["parameters"]), "dryRun,gracePeriodSeconds,orphanDependents,propagationPolicy");
  EXPECT_EQ(names_of(one["patch"]["parameters"]), "dryRun,fieldManager,fieldValidation,force");
  const Value& scale = document["paths"][collection + "/{name}/scale"];
  EXPECT_EQ(answer_of(scale["get"], "200"), "#/components/schemas/io.k8s.api.autoscaling.v1.Scale");
  EXPECT_EQ(scale["put"]["operationId"].str(), "replaceAppsV1NamespacedDeploymentScale");
  EXPECT_TRUE(document["paths"][collection + "/{name}/status"].contains("patch"));
  const Value& schemas = document["components"]["schemas"];
  EXPECT_EQ(schemas["io.k8s.api.apps.v1.DeploymentList"]["properties"]["items"]["items"]["$ref"].str(),
            "#/components/schemas/io.k8s.api.apps.v1.Deployment");
  for (const auto& shared : shared_schemas().members()) EXPECT_TRUE(schemas.contains(shared.key())) << shared.key();
  const Value rbac = openapi_document(Kinds::compiled(), "rbac.authorization.k8s.io", "v1");
  EXPECT_EQ(rbac["paths"]["/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}"]["get"]["operationId"].str(),
            "readRbacAuthorizationV1ClusterRole");
}

TEST(OpenApi, VersionTwoKeepsWhatSchemasRequire) {  // OA-13
  const Value swagger =
      to_swagger(parse_json(R"({"components":{"schemas":{"a":{"type":"object","required":["s","n"],"properties":{
      "s":{"type":"string","enum":["x","y"],"pattern":"^.$","maxLength":3,"default":"x","allOf":[{"minLength":1}]},
      "n":{"type":"string","nullable":true,"enum":["z"]},
      "i":{"type":"integer","minimum":1.5,"maximum":9,"exclusiveMaximum":true,"multipleOf":2},
      "l":{"type":"array","minItems":1,"maxItems":4,"uniqueItems":true,"items":{"type":"string"}},
      "m":{"type":"object","minProperties":1,"maxProperties":2,"additionalProperties":{"type":"string"}},
      "bad":{"type":"string","enum":7,"pattern":7}}}}}})")
                     .value());
  EXPECT_EQ(to_json(swagger["definitions"]["a"]),
            R"({"properties":{"bad":{"type":"string"},)"
            R"("i":{"exclusiveMaximum":true,"maximum":9,"minimum":1.5,"multipleOf":2,"type":"integer"},)"
            R"("l":{"items":{"type":"string"},"maxItems":4,"minItems":1,"type":"array","uniqueItems":true},)"
            R"("m":{"additionalProperties":{"type":"string"},"maxProperties":2,"minProperties":1,"type":"object"},)"
            R"("n":{},"s":{"enum":["x","y"],"maxLength":3,"pattern":"^.$","type":"string"}},)"
            R"("required":["s"],"type":"object"})");
  // NamedSchema {1 name, 2 value}; Schema {7 maximum, 8 exclusive, 11 maxLength, 13 pattern, 20 enum {2 yaml}, ...}.
  const std::string bytes = encode_swagger(swagger).definitions;
  for (const std::string& part :
       {std::string{"\x39\0\0\0\0\0\0\x22\x40\x40\x01", 11}, std::string{"\x58\x03\x6a\x03^.$"},
        std::string{"\xa2\x01\x05\x12\x03\"x\""}, std::string{"\x70\x04\x78\x01\x80\x01\x01"},
        std::string{"\x88\x01\x02\x90\x01\x01"}}) {
    EXPECT_NE(bytes.find(part), std::string::npos) << to_json(Value{part});
  }
}

TEST(OpenApi, ListsOfAllNamespacesAreWhereOldClientsLookForAKind) {  // kubectl 1.27's explain
  const Value document = openapi_document(Kinds::compiled(), "apps", "v1");
  const Value& list = document["paths"]["/apis/apps/v1/deployments"]["get"];
  EXPECT_EQ(list["x-kubernetes-group-version-kind"]["kind"].str(), "Deployment");
  EXPECT_EQ(list["x-kubernetes-action"].str(), "list");
}

TEST(OpenApi, TheMetadataOfObjectsIsADefinition) {  // OA-15
  const std::string name = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
  OpenApiDocuments documents;
  const auto kinds = std::make_shared<const Kinds>(Kinds::compiled());
  const Value swagger = parse_json(documents.version2({kinds}, false)->body).value();
  EXPECT_EQ(swagger["definitions"][name]["properties"]["labels"]["type"].str(), "object");
  EXPECT_NE(documents.version2({kinds}, true)->body.find(name), std::string::npos);
}

TEST(OpenApi, TheSchemaOfADefinitionRefersToItself) {  // OA-16
  const std::string name = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";
  const std::string reference = "#/definitions/" + name;
  OpenApiDocuments documents;
  const auto kinds = std::make_shared<const Kinds>(Kinds::compiled());
  const Value definitions = parse_json(documents.version2({kinds}, false)->body).value()["definitions"];
  const Value& version =
      definitions["io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition"]["properties"]
                 ["spec"]["properties"]["versions"]["items"]["properties"];
  EXPECT_EQ(version["schema"]["properties"]["openAPIV3Schema"]["$ref"].str(), reference);
  EXPECT_EQ(version["name"]["type"].str(), "string");
  const Value& properties = definitions[name]["properties"];
  EXPECT_EQ(properties["properties"]["additionalProperties"]["$ref"].str(), reference);
  EXPECT_EQ(properties["allOf"]["items"]["$ref"].str(), reference);
  EXPECT_EQ(properties["not"]["$ref"].str(), reference);
  EXPECT_EQ(properties["maxLength"]["type"].str(), "integer");
  EXPECT_TRUE(properties["default"]["$ref"].is_null());
}

TEST(OpenApi, DocumentsChangeOnlyWithTheirKinds) {  // OA-9
  OpenApiDocuments documents;
  const auto kinds = std::make_shared<const Kinds>(Kinds::compiled());
  const auto apps = documents.version3({kinds}, "apis/apps/v1");
  ASSERT_NE(apps, nullptr);
  const auto fewer = std::make_shared<const Kinds>(kinds->without("works.work.karmada.io"));
  EXPECT_EQ(documents.version3({fewer}, "apis/apps/v1"), apps) << "kept, not written again";
  EXPECT_NE(documents.index({fewer})->hash, documents.index({kinds})->hash);
  EXPECT_EQ(documents.version3({kinds}, "apis/sofas/v1"), nullptr);
  EXPECT_NE(documents.version2({kinds}, true)->body.size(), documents.version2({fewer}, true)->body.size());
}

TEST(OpenApi, DocumentsOfOtherServersAreAmongOurs) {
  const auto kinds = std::make_shared<const Kinds>(Kinds::compiled());
  const auto remote = std::make_shared<AggregatedVersions>();
  remote->versions = {remote_version("things.example.com", "v1", 2000), remote_version("none.example.com", "v1", 2000)};
  remote->versions[0].openapi =
      read_openapi(R"({"openapi":"3.0.0","paths":{"/apis/things.example.com/v1/things":{"get":{}}},
          "components":{"schemas":{"com.example.Thing":{"type":"object"}}}})",
                   "things.example.com", "v1")
          .value();
  OpenApiDocuments documents;
  const auto without = documents.index({kinds});
  const auto index = documents.index({kinds, remote});
  EXPECT_NE(index->hash, without->hash);
  const Value paths = parse_json(index->body).value()["paths"];
  EXPECT_EQ(paths["apis/things.example.com/v1"]["serverRelativeURL"].str(),
            "/openapi/v3/apis/things.example.com/v1?hash=" + remote->versions[0].openapi->hash);
  EXPECT_FALSE(paths.contains("apis/none.example.com/v1"));
  EXPECT_EQ(documents.version3({kinds, remote}, "apis/things.example.com/v1")->body, remote->versions[0].openapi->body);
  EXPECT_NE(documents.version2({kinds, remote}, false)->body.find("com.example.Thing"), std::string::npos);
  EXPECT_NE(documents.version2({kinds, remote}, true)->body.find("com.example.Thing"), std::string::npos);

  const auto later = std::make_shared<AggregatedVersions>(*remote);
  EXPECT_EQ(documents.index({kinds, later}), documents.index({kinds, remote})) << "the same documents";
  EXPECT_EQ(documents.index({kinds})->hash, without->hash);
}

}  // namespace
}  // namespace shiplog::api
