// What ResourceRegistries select.
#include "services/api/search/search_plan.h"

#include <memory>

#include <gtest/gtest.h>

#include "tests/support/literals.h"

namespace shiplog::api {
namespace {

using test::json;

using ClusterPtr = std::shared_ptr<const Cluster>;
ClusterPtr view(const Value& object) { return std::make_shared<const Cluster>(cluster_from(object)); }
ClusterPtr cluster(const std::string& name, const std::string& more = {}) {
  return view(json(R"({"metadata":{"name":")" + name + R"("},"spec":{},"status":{"conditions":[)" + more +
                   R"({"type":"Ready","status":"True"}]}})"));
}

Value registry(const std::string& selectors, const std::string& target = "{}") {
  return json(R"({"spec":{"targetCluster":)" + target + R"(,"resourceSelectors":[)" + selectors + "]}}");
}

const std::string kPods = R"({"apiVersion":"v1","kind":"Pod"})";
const std::string kPodsOf = R"({"apiVersion":"v1","kind":"Pod","namespace":)";

/// "CLUSTER PATH" of each.
std::vector<std::string> paths(const SearchPlan& plan) {
  std::vector<std::string> found;
  for (const auto& [resource, scopes] : plan.scopes) {
    for (const CachedScope& scope : scopes) found.push_back(scope.cluster + " " + scope.path());
  }
  return found;
}
std::vector<std::string> planned(const std::vector<Value>& registries, const std::vector<ClusterPtr>& clusters) {
  return paths(search_plan(registries, clusters, Kinds::compiled()));
}
using Paths = std::vector<std::string>;

TEST(SearchPlan, SelectsKindsOfClusters_6_1_2) {
  const std::vector<ClusterPtr> clusters{cluster("m1"), cluster("m2")};
  EXPECT_EQ(planned({registry(kPods)}, clusters), (Paths{"m1 /api/v1/pods", "m2 /api/v1/pods"}));
  EXPECT_EQ(planned({registry(kPods, R"({"clusterNames":["m2"]})")}, clusters), (Paths{"m2 /api/v1/pods"}));
  EXPECT_EQ(
      planned({registry(R"({"apiVersion":"apps/v1","kind":"Deployment","namespace":"a"})", R"({"exclude":["m1"]})")},
              clusters),
      (Paths{"m2 /apis/apps/v1/namespaces/a/deployments"}));
}

TEST(SearchPlan, UnitesRegistriesAndNamespaces_6_4_7) {
  const std::vector<ClusterPtr> clusters{cluster("m1")};
  EXPECT_EQ(planned({registry(kPodsOf + R"("a"})"), registry(kPodsOf + R"("b"})")}, clusters),
            (Paths{"m1 /api/v1/namespaces/a/pods", "m1 /api/v1/namespaces/b/pods"}));
  EXPECT_EQ(planned({registry(kPodsOf + R"("a"})"), registry(kPods)}, clusters), (Paths{"m1 /api/v1/pods"}))
      << "all include each of them";
  EXPECT_EQ(planned({registry(R"({"apiVersion":"v1","kind":"Node","namespace":"a"})")}, clusters),
            (Paths{"m1 /api/v1/nodes"}))
      << "a kind without namespaces";
}

TEST(SearchPlan, LeavesOutClustersThatAreNotReadyOrTerminating_6_1_3) {
  const ClusterPtr deleted = view(json(R"({"metadata":{"name":"m2","deletionTimestamp":"2026-01-01T00:00:00Z"},
      "spec":{},"status":{"conditions":[{"type":"Ready","status":"True"}]}})"));
  const ClusterPtr unknown = view(
      json(R"({"metadata":{"name":"m3"},"spec":{},"status":{"conditions":[{"type":"Ready","status":"Unknown"}]}})"));
  const ClusterPtr fresh = view(json(R"({"metadata":{"name":"m4"},"spec":{}})"));
  EXPECT_EQ(planned({registry(kPods)}, {cluster("m1"), deleted, unknown, fresh}), (Paths{"m1 /api/v1/pods"}));
}

TEST(SearchPlan, LeavesOutKindsThatAClusterDoesNotServe_6_1_4) {
  const auto reporting = [](const std::string& complete) {
    return view(json(R"({"metadata":{"name":"m1"},"spec":{},"status":{"conditions":[
        {"type":"Ready","status":"True"},{"type":"CompleteAPIEnablements","status":")" +
                     complete + R"("}],"apiEnablements":[
        {"groupVersion":"v1","resources":[{"kind":"Pod","name":"pods"}]}]}})"));
  };
  const Value both = registry(kPods + R"(,{"apiVersion":"apps/v1","kind":"Deployment"})");
  EXPECT_EQ(planned({both}, {reporting("True")}), (Paths{"m1 /api/v1/pods"}));
  EXPECT_EQ(planned({both}, {reporting("False")}), (Paths{"m1 /apis/apps/v1/deployments", "m1 /api/v1/pods"}))
      << "what is not known to be missing is tried";
}

TEST(SearchPlan, NamesWhatIsRegisteredAlsoWithoutAnyCluster_6_4_2) {
  const SearchPlan plan = search_plan(
      {registry(kPods + R"(,{"apiVersion":"no.such/v1","kind":"Thing"},{})", R"({"clusterNames":["none"]})")},
      {cluster("m1")}, Kinds::compiled());
  EXPECT_EQ(plan.registered, (std::set<std::string>{"v1/pods"}));
  EXPECT_TRUE(plan.scopes.empty());
}

TEST(SearchPlan, RequestsNoOtherPathsForANamespace) {
  const std::string service = kPodsOf + R"("default/services/http:x:80/proxy/admin"},)";
  EXPECT_EQ(planned({registry(service + kPodsOf + R"(".."},)" + kPodsOf + R"("a"})")}, {cluster("m1")}),
            (Paths{"m1 /api/v1/namespaces/a/pods"}));
}

TEST(SearchPlan, HasAtMostSoManyNamespacesOfAKind) {
  std::string selectors;
  for (size_t i = 0; i < kMostNamespaces + 3; ++i) {
    selectors += (i > 0 ? "," : "") + kPodsOf + "\"n" + std::to_string(1000 + i) + "\"}";
  }
  const SearchPlan plan = search_plan({registry(selectors)}, {cluster("m1")}, Kinds::compiled());
  EXPECT_EQ(paths(plan).size(), kMostNamespaces);
  EXPECT_EQ(plan.left_out, (std::map<std::string, size_t>{{"v1/pods", 3}}));
  EXPECT_EQ(planned({registry(selectors), registry(kPods)}, {cluster("m1")}), (Paths{"m1 /api/v1/pods"}));
}

TEST(SearchPlan, DoesNotChangeWithWhatClustersReportAllTheTime) {
  const Value before = json(R"({"metadata":{"name":"m1","labels":{"a":"1"}},"status":{"conditions":[
      {"type":"Ready","status":"True"}],"resourceSummary":{"allocated":{"cpu":"1"}}}})");
  Value summary = before;
  summary.edit("status").edit("resourceSummary").edit("allocated").set("cpu", "2");
  EXPECT_TRUE(same_for_search(before, summary));
  Value labelled = before;
  labelled.edit("metadata").edit("labels").set("a", "2");
  EXPECT_FALSE(same_for_search(before, labelled));
  const Value unready = json(R"({"metadata":{"name":"m1","labels":{"a":"1"}},"status":{"conditions":[
      {"type":"Ready","status":"False"}]}})");
  EXPECT_FALSE(same_for_search(before, unready));
  EXPECT_FALSE(same_for_search(Value{}, before));
}

}  // namespace
}  // namespace shiplog::api
