// clusters/NAME/proxy with real kubectl and trial members.
#include <string>

#include <gtest/gtest.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kClusters = "/apis/cluster.karmada.io/v1alpha1/clusters/";
const std::string kMaps = "/api/v1/namespaces/default/configmaps";

std::string config_map(const std::string& name, const std::string& value = "1") {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: default}\ndata: {a: \"" + value +
         "\"}\n";
}

/// What unified auth brings to a member: its impersonator may act as anyone.
const std::string kImpersonator = R"(
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: test-impersonator}
rules:
- {apiGroups: [""], resources: [users, groups, serviceaccounts], verbs: [impersonate]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: test-impersonator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: test-impersonator}
subjects: [{kind: ServiceAccount, name: karmada-impersonator, namespace: karmada-cluster}]
)";

class ClusterProxy : public ::testing::Test {
 protected:
  void join(const std::string& name) {
    fleet_.join(name);
    fleet_.kubectl_ok({"apply", "-f", "-"}, kImpersonator, name);
  }
  void SetUp() override {
    fleet_.serve();
    join("m1");
    server_ = fleet_.kubectl_ok({"config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"});
  }
  /// kubectl as a Karmada user types it: the server is the proxy of a cluster.
  std::vector<std::string> through(const std::string& cluster, std::vector<std::string> words) const {
    words.insert(words.begin(), "--server=" + server_ + kClusters + cluster + "/proxy");
    return words;
  }
  static std::string proxy(const std::string& cluster, const std::string& path) {
    return kClusters + cluster + "/proxy" + path;
  }

  Fleet fleet_;
  std::string server_;
};

TEST_F(ClusterProxy, KubectlWorksThroughIt_1_16_2) {
  fleet_.kubectl_ok(through("m1", {"apply", "-f", "-"}), config_map("one"));
  EXPECT_EQ(fleet_.api("m1").get(kMaps + "/one").status, 200);
  EXPECT_EQ(fleet_.api().get(kMaps + "/one").status, 404) << "it is an object of the member only";
  fleet_.kubectl_ok(through("m1", {"patch", "configmap", "one", "--type=merge", "-p", R"({"data":{"a":"2"}})"}));
  EXPECT_EQ(fleet_.kubectl_ok(through("m1", {"get", "configmap", "one", "-o", "jsonpath={.data.a}"})), "2");
  EXPECT_NE(fleet_.kubectl_ok(through("m1", {"get", "configmaps"})).find("one"), std::string::npos);
  fleet_.kubectl_ok(through("m1", {"delete", "configmap", "one"}));
  EXPECT_EQ(fleet_.api("m1").get(kMaps + "/one").status, 404);
}

TEST_F(ClusterProxy, WatchesStream) {
  const auto watch = fleet_.api().watch(proxy("m1", kMaps + "?watch=true"));
  fleet_.kubectl_ok({"apply", "-f", "-"}, config_map("seen"), "m1");
  EXPECT_TRUE(eventually([&] {
    for (const Value& event : watch->events()) {
      if (event["object"]["metadata"]["name"] == Value{"seen"}) return true;
    }
    return false;
  }));
  EXPECT_FALSE(watch->ended());
}

}  // namespace
}  // namespace shiplog::e2e
