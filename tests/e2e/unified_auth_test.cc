// The rights of the impersonator in members, as the cluster proxy uses them (1.17).
#include <string>

#include <gtest/gtest.h>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kRoles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const std::string kBindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";

class ImpersonationRights : public ::testing::Test {
 protected:
  void SetUp() override {
    fleet_.serve();
    for (const char* member : {"m1", "m2"}) fleet_.join(member);
  }
  /// `kubectl auth whoami` in the member with the impersonator's token.
  Ran as_impersonator(const std::string& member, std::vector<std::string> who) {
    const Value secret =
        fleet_.api().get("/api/v1/namespaces/karmada-cluster/secrets/" + member + "-impersonator").json;
    const std::string token = base64_decode(secret["data"]["token"].as_string()).value_or("");
    const std::string url =
        fleet_.kubectl_ok({"config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"}, {}, member);
    std::vector<std::string> words{"--kubeconfig=/dev/null",
                                   "--server=" + url,
                                   "--token=" + token,
                                   "--insecure-skip-tls-verify=true",
                                   "auth",
                                   "whoami",
                                   "-o",
                                   "name"};
    words.insert(words.end(), who.begin(), who.end());
    return fleet_.kubectl(words);
  }
  bool permitted(const std::string& member, std::vector<std::string> who) { return as_impersonator(member, who).ok(); }
  std::string events_of(const std::string& cluster) {
    return fleet_.kubectl_ok({"get", "events", "--field-selector=involvedObject.name=" + cluster});
  }

  Fleet fleet_;
};

TEST_F(ImpersonationRights, TheImpersonatorActsAsThoseWhoMayUseTheProxyAndAsNobodyElse_1_17_1_1_17_2_1_17_3) {
  EXPECT_FALSE(permitted("m1", {"--as=alice"}));
  fleet_.kubectl_ok({"create", "clusterrole", "m1-proxy", "--verb=get", "--resource=clusters.cluster.karmada.io/proxy",
                     "--resource-name=m1"});
  fleet_.kubectl_ok({"create", "clusterrolebinding", "m1-proxy", "--clusterrole=m1-proxy", "--user=alice",
                     "--group=team", "--serviceaccount=ci:robot"});
  ASSERT_TRUE(eventually([&] { return permitted("m1", {"--as=alice"}); }));
  EXPECT_TRUE(permitted("m1", {"--as=alice", "--as-group=team"}));
  EXPECT_TRUE(permitted("m1", {"--as=system:serviceaccount:ci:robot"}));
  EXPECT_FALSE(permitted("m1", {"--as=bob"}));
  EXPECT_FALSE(permitted("m1", {"--as=alice", "--as-group=other"}));
  EXPECT_FALSE(permitted("m1", {"--as=system:serviceaccount:ci:other"}));
  EXPECT_FALSE(permitted("m1", {"--as=alice", "--as-uid=7"}));
  EXPECT_FALSE(permitted("m2", {"--as=alice"})) << "the role names m1";
  EXPECT_TRUE(eventually([&] { return events_of("m1").find("SyncImpersonationConfigSucceed") != std::string::npos; }))
      << events_of("m1");

  fleet_.kubectl_ok({"delete", "clusterrolebinding", "m1-proxy"});
  EXPECT_TRUE(eventually([&] { return !permitted("m1", {"--as=alice"}); })) << "what is revoked here is revoked there";
}

TEST_F(ImpersonationRights, WhatIsChangedInTheMemberIsRestoredAndUnjoiningTakesItBack_1_17_2) {
  const ApiClient member = fleet_.api("m1");
  const std::string role = kRoles + "/karmada-impersonator";
  ASSERT_TRUE(eventually([&] { return member.get(role).status == 200; }));
  Value widened = member.get(role).json;
  widened.set("rules", json(R"([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}])"));
  ASSERT_EQ(member.put(role, widened).status, 200);
  EXPECT_TRUE(eventually([&] { return to_json(member.get(role).json["rules"]).find("\"*\"") == std::string::npos; }));
  fleet_.shiplogctl_ok({"unjoin", "m1"});
  EXPECT_EQ(member.get(role).status, 404);
  EXPECT_EQ(member.get(kBindings + "/karmada-impersonator").status, 404);
}

}  // namespace
}  // namespace shiplog::e2e
