// clusters/NAME/proxy with real kubectl and trial members.
#include <string>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/support/fleet.h"
#include "tests/support/impersonator.h"

namespace shiplog::e2e {
namespace {

const std::string kClusters = "/apis/cluster.karmada.io/v1alpha1/clusters/";
const std::string kMaps = "/api/v1/namespaces/default/configmaps";

std::string config_map(const std::string& name, const std::string& value = "1") {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: default}\ndata: {a: \"" + value +
         "\"}\n";
}

class ClusterProxy : public ::testing::Test {
 protected:
  void join(const std::string& name) {
    fleet_.join(name);
    fleet_.kubectl_ok({"apply", "-f", "-"}, kImpersonatesAnyone, name);
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
  const ApiClient api = fleet_.api();
  const auto watch = api.watch(proxy("m1", kMaps + "?watch=true"));
  fleet_.kubectl_ok({"apply", "-f", "-"}, config_map("seen"), "m1");
  EXPECT_TRUE(eventually([&] {
    for (const Value& event : watch->events()) {
      if (event["object"]["metadata"]["name"] == Value{"seen"}) return true;
    }
    return false;
  }));
  EXPECT_FALSE(watch->ended());
}

TEST_F(ClusterProxy, TheMemberDecidesAboutTheUser_1_16_3) {
  fleet_.kubectl_ok({"create", "clusterrole", "reach-m1", "--verb=*", "--resource=clusters.cluster.karmada.io/proxy",
                     "--resource-name=m1"});
  fleet_.kubectl_ok({"create", "clusterrolebinding", "ann", "--clusterrole=reach-m1", "--user=ann"});
  const HttpHeaders ann{{"Impersonate-User", "ann"}};
  const auto as_ann = [&](const std::string& method, const std::string& path, const std::string& body = "") {
    HttpHeaders headers = ann;
    if (!body.empty()) headers.add("Content-Type", "application/yaml");
    return fleet_.api().call(method, proxy("m1", path), body, headers);
  };
  const Answer refused = as_ann("GET", kMaps);
  EXPECT_EQ(refused.status, 403) << "clusters/proxy gives no rights in the member: " << refused;
  EXPECT_NE(refused.message().find("ann"), std::string::npos) << refused;
  fleet_.kubectl_ok({"create", "rolebinding", "ann", "--clusterrole=edit", "--user=ann", "-n", "default"}, {}, "m1");
  EXPECT_TRUE(eventually([&] { return as_ann("GET", kMaps).status == 200; }));
  EXPECT_EQ(as_ann("POST", kMaps, config_map("of-ann")).status, 201);
  EXPECT_EQ(as_ann("GET", "/api/v1/namespaces/kube-system/secrets").status, 403);
  EXPECT_EQ(as_ann("DELETE", "/api/v1/namespaces/kube-system").status, 403);
  EXPECT_TRUE(eventually([&] {
    return fleet_.shiplogctl({"audit", "--refused", "--user", "ann"}).says("the member answered DELETE");
  })) << "what the member does not permit is in the audit trail";
}

TEST_F(ClusterProxy, ChangesAreInTheJournalBeforeTheResponse) {
  fleet_.kubectl_ok(through("m1", {"create", "configmap", "one", "--from-literal=password=hunter2"}));
  const Ran audit = fleet_.shiplogctl({"audit", "--verb", "create"});
  EXPECT_TRUE(audit.says("MemberRequested")) << audit;
  EXPECT_TRUE(audit.says("POST /api/v1/namespaces/default/configmaps -> 201")) << audit;
  EXPECT_FALSE(audit.says("hunter2"));
  fleet_.kubectl_ok(through("m1", {"get", "configmap", "one"}));
  EXPECT_EQ(fleet_.api().remove(proxy("m1", kMaps + "/gone")).status, 404);
  EXPECT_TRUE(fleet_.shiplogctl({"audit", "--verb", "delete"}).says("DELETE " + kMaps + "/gone -> 404"));
  EXPECT_FALSE(fleet_.shiplogctl({"audit", "--verb", "get"}).says("MemberRequested")) << "reads are not recorded";
  expect_replay_equals(fleet_, fleet_.api(), "sqlite:" + fleet_.path("plane/journal.db"));
}

TEST_F(ClusterProxy, AllClustersAtOnce_1_16_7) {
  join("m2");
  fleet_.kubectl_ok({"apply", "-f", "-"}, config_map("only-m1"), "m1");
  for (const char* member : {"m1", "m2"}) fleet_.kubectl_ok({"apply", "-f", "-"}, config_map("both"), member);
  const Answer list = fleet_.api().get(proxy("*", kMaps));
  ASSERT_EQ(list.status, 200) << list;
  EXPECT_EQ(list.json["items"].size(), 3U) << list;
  EXPECT_EQ(fleet_.api().get(proxy("*", kMaps + "/only-m1")).json["data"]["a"], Value{"1"});
  const Answer both = fleet_.api().get(proxy("*", kMaps + "/both"));
  EXPECT_EQ(both.status, 409);
  EXPECT_EQ(both.body, "conflict resource, exist in more than one cluster: m1,m2\n");
  const Answer none = fleet_.api().get(proxy("*", kMaps + "/none"));
  EXPECT_EQ(none.status, 404);
  EXPECT_EQ(none.body, "resource not found or don't have permission to get it\n");
  const Answer create = fleet_.api().post(proxy("*", kMaps), json("{}"));
  EXPECT_EQ(create.status, 405);
  EXPECT_EQ(create.body, "Request verb create is not support\n");
  EXPECT_EQ(fleet_.api().get(proxy("*", kMaps + "?watch=true")).body, "Request verb watch is not support\n");
  EXPECT_EQ(fleet_.api().remove(proxy("*", kMaps + "/only-m1")).status, 200);
  EXPECT_EQ(fleet_.api("m1").get(kMaps + "/only-m1").status, 404);
  EXPECT_EQ(fleet_.api().get(proxy("*", "/version")).status, 200) << "the control plane's";
  fleet_.kill("m2");
  EXPECT_EQ(fleet_.api().get(proxy("*", kMaps)).json["items"].size(), 1U) << "a cluster that fails is left out";
  fleet_.kill("m1");
  EXPECT_EQ(fleet_.api().get(proxy("*", kMaps)).body, "not found\n");
}

TEST(ClusterProxyAudit, PoliciesRecordProxiedRequestsLikeOthers) {
  Fleet fleet;
  write_file(fleet.path("policy.yaml"),
             "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n  resources:\n  - group: "
             "cluster.karmada.io\n    resources: [clusters/proxy]\n- level: None\n");
  fleet.serve("plane",
              {"--audit-policy-file=" + fleet.path("policy.yaml"), "--audit-log-path=" + fleet.path("audit.log")});
  fleet.join("m1");
  const std::string path = kClusters + "m1/proxy" + kMaps;
  EXPECT_NE(fleet.api().call("DELETE", path + "/a", "", {{"Audit-Id", "of-the-test"}}).status, 0);
  EXPECT_TRUE(eventually([&] { return read_file(fleet.path("audit.log")).find("of-the-test") != std::string::npos; }));
  const std::string log = read_file(fleet.path("audit.log"));
  const Value event = json(log.substr(0, log.find('\n')));
  EXPECT_EQ(event["objectRef"]["resource"], Value{"clusters"});
  EXPECT_EQ(event["objectRef"]["subresource"], Value{"proxy"});
  EXPECT_EQ(event["objectRef"]["name"], Value{"m1"});
  EXPECT_EQ(event["verb"], Value{"delete"});
  EXPECT_EQ(event["requestURI"], Value{path + "/a"});
}

}  // namespace
}  // namespace shiplog::e2e
