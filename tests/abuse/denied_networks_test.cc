// Addresses that the control plane never connects to: they are refused when an object with such an address is written,
// and again when a name resolves to one.
#include <string>

#include <gtest/gtest.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

std::string cluster(const std::string& name, const std::string& endpoint) {
  return "apiVersion: cluster.karmada.io/v1alpha1\nkind: Cluster\nmetadata: {name: " + name +
         "}\nspec: {syncMode: Push, apiEndpoint: \"" + endpoint +
         "\", secretRef: {namespace: karmada-cluster, name: any}}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: "
         "any, namespace: karmada-cluster}\nstringData: {token: t}\n";
}

std::string webhook(const std::string& name, const std::string& url) {
  return "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\nmetadata: {name: " + name +
         "}\nwebhooks:\n- name: a.example.com\n  clientConfig: {url: \"" + url +
         "\"}\n  rules: [{apiGroups: [\"\"], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]\n"
         "  sideEffects: None\n  admissionReviewVersions: [v1]\n";
}

std::string condition(const ApiClient& api, const std::string& name) {
  const Value object = api.get("/apis/cluster.karmada.io/v1alpha1/clusters/" + name).json;
  for (const Value& item : object["status"]["conditions"].items()) {
    if (item["type"].as_string() == "Ready") return item["message"].str();
  }
  return "";
}

TEST(DeniedNetworks, LinkLocalAddressesAreRefusedByDefault) {
  Fleet fleet;
  fleet.serve();
  for (const char* host : {"169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]"}) {
    const std::string url = std::string{"https://"} + host + "/latest";
    for (const std::string& manifest : {cluster("meta", url), webhook("meta", url)}) {
      const Ran refused = fleet.kubectl({"create", "-f", "-"}, manifest);
      EXPECT_TRUE(refused.says("which --denied-networks excludes")) << refused;
    }
  }
  // A form of the address that only the resolver understands.
  fleet.kubectl_ok({"apply", "-f", "-"}, cluster("decimal", "https://2852039166:443"));
  EXPECT_TRUE(eventually([&] {
    return condition(fleet.api(), "decimal").find("in the denied network 169.254.0.0/16") != std::string::npos;
  })) << condition(fleet.api(), "decimal");
}

TEST(DeniedNetworks, ANameThatResolvesToADeniedAddressIsNotCalled) {
  Fleet fleet;
  fleet.serve("plane", {"--denied-networks=127.0.0.0/8,::1/128"});
  fleet.member("m1");
  std::string url = fleet.kubectl_ok({"config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"}, {}, "m1");
  url.replace(url.find("127.0.0.1"), 9, "localhost");
  fleet.kubectl_ok({"apply", "-f", "-"}, cluster("m1", url));
  EXPECT_TRUE(eventually([&] {
    return condition(fleet.api(), "m1").find("not called: localhost leads to") != std::string::npos;
  })) << condition(fleet.api(), "m1");
  fleet.kubectl_ok({"apply", "-f", "-"}, webhook("local", url));
  const Ran refused = fleet.kubectl({"create", "configmap", "any"});
  EXPECT_TRUE(refused.says("not called: localhost leads to")) << refused;
  EXPECT_EQ(fleet.log_tail("m1", 1 << 20).find("request."), std::string::npos);
}

TEST(DeniedNetworks, AnInvalidNetworkPreventsTheStart) {
  Fleet fleet;
  const Ran ran =
      run({SHIPLOGD, "serve", "--data-dir=" + fleet.path("x"), "--denied-networks=10.0.0.0/40"}, {}, "", kPatience);
  EXPECT_EQ(ran.code, 2);
  EXPECT_TRUE(ran.says("--denied-networks: \"10.0.0.0/40\" is not a network")) << ran;
}

}  // namespace
}  // namespace shiplog::e2e
