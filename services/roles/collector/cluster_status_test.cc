// What becomes of the documents of discovery.
#include "services/roles/collector/cluster_status.h"

#include <string>
#include <vector>

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

TEST(AggregatedApis, WithoutAGroupVersionThatCouldBeOneAreLeftOut) {
  for (const std::string& group : std::vector<std::string>{std::string(600, 'a'), "a b", "a\\r\\nb", "ä"}) {
    const auto apis = aggregated_apis(
        document(R"({"metadata":{"name":")" + group + R"("},"versions":[{"version":"v1","resources":[]}]},
                    {"metadata":{"name":"apps"},"versions":[{"version":"v1","resources":[]},{"version":5}]})"));
    ASSERT_TRUE(apis);
    EXPECT_FALSE(apis->complete);
    EXPECT_EQ(api_enablements(apis->lists), parsed(R"([{"groupVersion":"apps/v1","resources":[]}])")) << group;
  }
}

TEST(ApiEnablements, HaveTextsOnly_CL_20) {
  const Value list = slim_resources(
      parsed(R"({"groupVersion":"v1","resources":[{"name":["pods"],"kind":7},{"name":"pods","kind":"Pod"}]})"), 10);
  EXPECT_EQ(api_enablements(Value::array({list, slim_resources(parsed(R"({"groupVersion":{}})"), 10)})),
            parsed(R"([{"groupVersion":"v1","resources":[{"name":"pods","kind":"Pod"}]}])"));
}

TEST(ClusterVersion, IsAShortPrintableText_1_1_2) {
  EXPECT_EQ(git_version_from(parsed(R"({"gitVersion":"v1.34.0+k3s1","major":7})")), "v1.34.0+k3s1");
  for (const char* other :
       {R"({"gitVersion":["x"]})", R"({"gitVersion":7})", R"({"gitVersion":{"a":"b"}})", "{}", "[]"})
    EXPECT_EQ(git_version_from(parsed(other)), "") << other;
  EXPECT_EQ(git_version_from(parsed(R"({"gitVersion":"v1\u001b[2J\n"})")), "v1?[2J?");
  EXPECT_EQ(git_version_from(Value::object({{"gitVersion", std::string(5000, 'v')}})).size(), 259U);
}

TEST(ClusterIdentity, IsAShortText_1_3_2) {
  EXPECT_EQ(member_id_from(parsed(R"({"metadata":{"uid":"6f1b4a52"}})")), "6f1b4a52");
  EXPECT_EQ(member_id_from(parsed(R"({"metadata":{"uid":["x"]}})")), "");
  EXPECT_EQ(member_id_from(Value::object({{"metadata", Value::object({{"uid", std::string(5000, 'v')}})}})), "");
}

TEST(AggregatedApis, AreNotTakenFromAnotherDocument) {
  EXPECT_FALSE(aggregated_apis(parsed(R"({"kind":"APIGroupList","groups":[]})")));
  EXPECT_FALSE(aggregated_apis(Value{"text"}));
}

}  // namespace
}  // namespace shiplog::collector
