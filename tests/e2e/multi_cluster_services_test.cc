// Services across clusters: MultiClusterService, and ServiceExport with ServiceImport (5.7).
#include <algorithm>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "tests/e2e/manifests.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kSlices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const std::string kService =
    "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec:\n"
    "  selector: {app: web}\n  ports: [{port: 80}]\n---\n";
const std::string kMcs = "/apis/networking.karmada.io/v1alpha1/namespaces/default/multiclusterservices/web";

std::string policy(const std::string& name, const std::string& selectors, const std::string& clusters) {
  return "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: " + name +
         "}\nspec:\n  resourceSelectors:\n" + selectors + "  placement: {clusterAffinity: {clusterNames: [" + clusters +
         "]}}\n---\n";
}

std::string definition(const std::string& kind, const std::string& plural) {
  return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: " + plural +
         ".multicluster.x-k8s.io, annotations: {api-approved.kubernetes.io: none}}\nspec:\n"
         "  group: multicluster.x-k8s.io\n  scope: Namespaced\n"
         "  names: {kind: " +
         kind + ", plural: " + plural +
         "}\n  versions:\n  - name: v1alpha1\n    served: true\n    storage: true\n"
         "    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}\n---\n";
}

class ServicesAcrossClusters : public ::testing::Test {
 protected:
  void TearDown() override { expect_replay_equals(fleet_, fleet_.api(), "sqlite:" + fleet_.path("plane/journal.db")); }

  void apply(const std::string& yaml, const std::string& to = "plane") {
    fleet_.kubectl_ok({"apply", "-f", "-"}, yaml, to);
  }
  /// Of the slices in a process with a prefix, the addresses of all endpoints.
  std::string addresses(const std::string& process, const std::string& prefix) {
    std::string all;
    const Answer answer = fleet_.api(process).get(kSlices);
    for (const Value& slice : answer.json["items"].items()) {
      if (!slice["metadata"]["name"].as_string().starts_with(prefix)) continue;
      for (const Value& endpoint : slice["endpoints"].items()) all += endpoint["addresses"][0].str() + " ";
    }
    return all;
  }
  /// The pods' of one member, once there are so many.
  std::string pods(const std::string& member, size_t count) {
    std::string own;
    EXPECT_TRUE(eventually([&] {
      own = addresses(member, "web-");
      return std::ranges::count(own, ' ') == static_cast<std::ptrdiff_t>(count);
    })) << member
        << ": " << own;
    return own;
  }
  void expect_addresses(const std::string& process, const std::string& prefix, const std::string& wanted) {
    EXPECT_TRUE(eventually([&] { return addresses(process, prefix) == wanted; }))
        << process << " has " << addresses(process, prefix) << "in " << prefix << ", not " << wanted;
  }
  std::string condition(const std::string& type) {
    const Value object = fleet_.api().get(kMcs).json;
    for (const Value& each : object["status"]["conditions"].items()) {
      if (each["type"].as_string() == type) return each["reason"].str();
    }
    return "";
  }

  Fleet fleet_;
};

TEST_F(ServicesAcrossClusters, ConsumersHaveTheEndpointsOfPushAndPullProviders_5_7_6) {
  fleet_.serve("plane", {"--feature-gates=MultiClusterService=true"});
  fleet_.join("m1");
  fleet_.join_pull("p1");
  fleet_.join("m2");
  apply(deployment_manifest("web", 2) + kService +
        policy("web", "  - {apiVersion: apps/v1, kind: Deployment, name: web}\n", "m1, p1") +
        "apiVersion: networking.karmada.io/v1alpha1\nkind: MultiClusterService\nmetadata: {name: web}\nspec:\n"
        "  types: [CrossCluster]\n  providerClusters: [{name: m1}, {name: p1}]\n  consumerClusters: [{name: m2}]\n");
  const std::string of_m1 = pods("m1", 2);
  const std::string of_p1 = pods("p1", 2);
  expect_addresses("m2", "m1-web-", of_m1);
  expect_addresses("m2", "p1-web-", of_p1);
  EXPECT_EQ(addresses("m1", "p1-web-"), "") << "it is no consumer";
  EXPECT_EQ(fleet_.api("m2").get("/api/v1/namespaces/default/services/web").status, 200);
  EXPECT_TRUE(eventually([&] { return condition("EndpointSliceDispatched") == "EndpointSliceDispatchedSucceed"; }));
  EXPECT_EQ(condition("ServiceApplied"), "ServiceAppliedSucceed");
  EXPECT_TRUE(eventually([&] {
    return fleet_.kubectl_ok({"get", "events", "--field-selector=involvedObject.kind=MultiClusterService"})
               .find("DispatchEndpointSliceSucceed") != std::string::npos;
  }));

  fleet_.kill("plane");
  fleet_.kubectl_ok({"delete", "pod", "--all"}, {}, "m1");
  fleet_.serve("plane");
  EXPECT_TRUE(eventually([&] {
    const std::string now = addresses("m1", "web-");
    return std::ranges::count(now, ' ') == 2 && now != of_m1 && addresses("m2", "m1-web-") == now;
  })) << "the gate stays as in the journal; m2 has "
      << addresses("m2", "m1-web-");

  fleet_.kubectl_ok({"delete", "multiclusterservice", "web"});
  expect_addresses("m2", "m1-web-", "");
  expect_addresses("m2", "p1-web-", "");
  EXPECT_EQ(fleet_.api("m2").get("/api/v1/namespaces/default/services/web").status, 200) << "5.7.9";
  EXPECT_EQ(pods("p1", 2), of_p1) << "what the members have of their own stays";
}

TEST_F(ServicesAcrossClusters, AnImportedServiceHasTheEndpointsOfTheExportedOne_5_7_10) {
  fleet_.serve();
  for (const auto& [name, kind, plural] :
       {std::tuple{"m1", "ServiceExport", "serviceexports"}, std::tuple{"m2", "ServiceImport", "serviceimports"}}) {
    fleet_.member(name);
    apply(definition(kind, plural), name);
    fleet_.shiplogctl_ok({"join", name, "--cluster-kubeconfig", fleet_.kubeconfig(name)});
  }
  apply(
      deployment_manifest("web", 2) + kService +
      "apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ServiceExport\nmetadata: {name: web}\n---\n" +
      policy("web",
             "  - {apiVersion: apps/v1, kind: Deployment, name: web}\n  - {apiVersion: v1, kind: Service, name: web}\n"
             "  - {apiVersion: multicluster.x-k8s.io/v1alpha1, kind: ServiceExport, name: web}\n",
             "m1") +
      "apiVersion: multicluster.x-k8s.io/v1alpha1\nkind: ServiceImport\nmetadata: {name: web}\nspec:\n"
      "  type: ClusterSetIP\n  ports: [{port: 80, protocol: TCP}]\n---\n" +
      policy("import", "  - {apiVersion: multicluster.x-k8s.io/v1alpha1, kind: ServiceImport, name: web}\n", "m2"));
  const std::string of_m1 = pods("m1", 2);
  expect_addresses("plane", "imported-m1-web-", of_m1);
  expect_addresses("m2", "imported-m1-web-", of_m1);
  const auto derived = [&] { return fleet_.api("m2").get("/api/v1/namespaces/default/services/derived-web"); };
  EXPECT_TRUE(eventually([&] { return derived().status == 200; }));
  EXPECT_EQ(derived().json["spec"]["ports"][0]["port"].as_int(), 80);
  EXPECT_EQ(fleet_.api("m1").get("/api/v1/namespaces/default/services/derived-web").status, 404);

  fleet_.kubectl_ok({"delete", "serviceexport", "web"});
  expect_addresses("plane", "imported-m1-web-", "");
  expect_addresses("m2", "imported-m1-web-", "");
  fleet_.kubectl_ok({"delete", "serviceimport", "web"});
  EXPECT_TRUE(eventually([&] { return derived().status == 404; }));
}

}  // namespace
}  // namespace shiplog::e2e
