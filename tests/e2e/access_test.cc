// Users, roles and tokens as kubectl shows them.
#include <algorithm>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

void expect_says(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    EXPECT_NE(text.find(word), std::string::npos) << word << " is not in\n" << text;
  }
}

TEST(Access, ATeamGetsItsNamespaceAndNothingElse) {
  Fleet fleet;
  fleet.serve();
  fleet.kubectl_ok({"create", "namespace", "shop"});
  const std::vector<std::string> ann = {"--as=ann", "--as-group=shop-team", "-n", "shop"};
  const auto as_ann = [&](std::vector<std::string> words) {
    words.insert(words.end(), ann.begin(), ann.end());
    return fleet.kubectl(words);
  };
  const Ran refused = as_ann({"get", "deployments"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.err,
            "Error from server (Forbidden): deployments.apps is forbidden: User \"ann\" cannot list resource "
            "\"deployments\" in API group \"apps\" in the namespace \"shop\"\n");
  EXPECT_EQ(as_ann({"auth", "can-i", "create", "deployments"}).out, "no\n");

  fleet.kubectl_ok({"create", "rolebinding", "shop-team", "--clusterrole=edit", "--group=shop-team", "-n", "shop"});
  const Ran may = as_ann({"auth", "can-i", "create", "deployments"});
  EXPECT_EQ(may.out, "yes\n") << may;
  EXPECT_EQ(may.code, 0);
  expect_says(as_ann({"auth", "can-i", "--list"}).out, {"propagationpolicies.policy.karmada.io", "deployments.apps",
                                                        "selfsubjectaccessreviews", "[/openapi/*]"});
  EXPECT_TRUE(as_ann({"create", "deployment", "web", "--image=nginx:1.27"}).ok());
  EXPECT_FALSE(as_ann({"create", "role", "r", "--verb=get", "--resource=pods"}).ok());
  EXPECT_EQ(
      fleet.kubectl({"auth", "can-i", "create", "deployments", "-n", "default", "--as=ann", "--as-group=shop-team"})
          .out,
      "no\n");
  expect_says(fleet.kubectl_ok({"auth", "can-i", "--list"}), {"*.*"});
  const Value refusals = parse_json(fleet.shiplogctl_ok({"audit", "--refused", "--user=ann", "-o", "json"})).value();
  const auto denied = [&](const char* verb, const char* type) {
    return std::ranges::any_of(refusals["items"].items(), [&](const Value& one) {
      return one["verb"].as_string() == verb && one["result"].as_string() == "denied" &&
             one["events"][0]["object"]["type"].as_string() == type;
    });
  };
  EXPECT_TRUE(denied("list", "deployments.apps")) << to_json(refusals);
  EXPECT_TRUE(denied("create", "roles.rbac.authorization.k8s.io")) << to_json(refusals);
  expect_says(fleet.shiplogctl_ok({"audit", "--refused"}), {"RequestDenied", "ann", "denied: 403 Forbidden"});
}

TEST(Access, AServiceAccountActsWithItsToken) {
  Fleet fleet;
  fleet.serve();
  fleet.kubectl_ok({"create", "serviceaccount", "deployer"});
  fleet.kubectl_ok({"create", "rolebinding", "deployer", "--clusterrole=edit", "--serviceaccount=default:deployer"});
  std::string token = fleet.kubectl_ok({"create", "token", "deployer", "--duration=20m"});
  while (!token.empty() && token.back() == '\n') token.pop_back();
  // A certificate would come first: another user of the same kubeconfig has the token alone.
  fleet.kubectl_ok({"config", "set-credentials", "deployer", "--token=" + token});
  const auto as_deployer = [&](std::vector<std::string> words) {
    words.push_back("--user=deployer");
    return fleet.kubectl(words);
  };
  expect_says(as_deployer({"auth", "whoami"}).out,
              {"system:serviceaccount:default:deployer", "system:serviceaccounts"});
  EXPECT_TRUE(as_deployer({"create", "configmap", "made", "--from-literal=a=b"}).ok());
  const Ran refused = as_deployer({"get", "nodes"});
  expect_says(refused.err, {"nodes is forbidden: User \"system:serviceaccount:default:deployer\" cannot list resource "
                            "\"nodes\" in API group \"\" at the cluster scope"});
  fleet.kubectl_ok({"delete", "serviceaccount", "deployer"});
  const Ran gone = as_deployer({"get", "configmaps"});
  EXPECT_FALSE(gone.ok());
  expect_says(gone.err, {"You must be logged in to the server"});
}

}  // namespace
}  // namespace shiplog::e2e
