// What becomes of the documents of discovery.
#include "services/roles/collector/cluster_status.h"

#include <string>

#include <gtest/gtest.h>

#include "events/base/json.h"

namespace shiplog::collector {
namespace {

Value parsed(const std::string& text) { return parse_json(text).value(); }

Value document(const std::string& items) {
  return parsed(R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[)" +
                items + "]}");
}

TEST(AggregatedApis, AreListsWithoutSubresources_CL_20) {
  const auto apis = aggregated_apis(document(R"(
    {"metadata":{"name":"apps"},"versions":[
      {"version":"v1","freshness":"Current","resources":[
        {"resource":"deployments","responseKind":{"group":"apps","version":"v1","kind":"Deployment"},
         "subresources":[{"subresource":"scale","responseKind":{"group":"autoscaling","version":"v1","kind":"Scale"}}]},
        {"resource":"odd","subresources":[{"subresource":"status"}]}]},
      {"version":"v1beta1","freshness":"Current","resources":[]}]})"));
  ASSERT_TRUE(apis);
  EXPECT_TRUE(apis->complete);
  EXPECT_EQ(apis->lists, parsed(R"([{"groupVersion":"apps/v1","resources":[{"name":"deployments","kind":"Deployment"}]},
                                    {"groupVersion":"apps/v1beta1","resources":[]}])"));
}

TEST(AggregatedApis, OfTheCoreGroupHaveNoGroup_CL_20) {
  const auto apis = aggregated_apis(document(
      R"({"metadata":{},"versions":[{"version":"v1","resources":[{"resource":"pods","responseKind":{"kind":"Pod"}}]}]})"));
  ASSERT_TRUE(apis);
  EXPECT_EQ(apis->lists, parsed(R"([{"groupVersion":"v1","resources":[{"name":"pods","kind":"Pod"}]}])"));
}

TEST(AggregatedApis, OfAServerThatDoesNotAnswerAreLeftOut_CL_19) {
  const auto apis = aggregated_apis(document(R"(
    {"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale","resources":[
      {"resource":"pods","responseKind":{"kind":"PodMetrics"}}]}]})"));
  ASSERT_TRUE(apis);
  EXPECT_FALSE(apis->complete);
  EXPECT_EQ(apis->lists.size(), 0U);
}

TEST(AggregatedApis, AreBounded) {
  std::string resources;
  for (size_t number = 0; number < kMostResources + 5; ++number) {
    resources += std::string{number == 0 ? "" : ","} + R"({"resource":"r)" + std::to_string(number) +
                 R"(","responseKind":{"kind":"R"}})";
  }
  const std::string version = R"({"version":"v1","resources":[)" + resources + "]}";
  const auto many = aggregated_apis(document(R"({"metadata":{"name":"g"},"versions":[)" + version + "]}"));
  EXPECT_EQ(many->lists[0]["resources"].size(), kMostResources);
  EXPECT_FALSE(many->complete);

  std::string versions;
  for (size_t number = 0; number < kMostGroupVersions + 5; ++number) {
    versions += std::string{number == 0 ? "" : ","} + R"({"version":"v)" + std::to_string(number) + R"("})";
  }
  const auto wide = aggregated_apis(document(R"({"metadata":{"name":"g"},"versions":[)" + versions + "]}"));
  EXPECT_EQ(wide->lists.size(), kMostGroupVersions);
  EXPECT_FALSE(wide->complete);
}

TEST(AggregatedApis, AreNotTakenFromAnotherDocument) {
  EXPECT_FALSE(aggregated_apis(parsed(R"({"kind":"APIGroupList","groups":[]})")));
  EXPECT_FALSE(aggregated_apis(Value{"text"}));
}

}  // namespace
}  // namespace shiplog::collector
