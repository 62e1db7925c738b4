#include "services/api/discovery.h"

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/api/openapi.h"
#include "services/api/openapi_documents.h"

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

TEST(OpenApi, ListsOfAllNamespacesAreWhereOldClientsLookForAKind) {  // kubectl 1.27's explain
  const Value document = openapi_document(Kinds::compiled(), "apps", "v1");
  const Value& list = document["paths"]["/apis/apps/v1/deployments"]["get"];
  EXPECT_EQ(list["x-kubernetes-group-version-kind"]["kind"].str(), "Deployment");
  EXPECT_EQ(list["x-kubernetes-action"].str(), "list");
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

}  // namespace
}  // namespace shiplog::api
