// Users, roles and tokens with kubectl.
#include <algorithm>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/e2e/expect_contains.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

TEST(Access, ATeamGetsItsNamespaceAndNothingElse) {
  Fleet fleet;
  fleet.serve();
  fleet.kubectl_ok({"create", "namespace", "shop"});
  const std::vector<std::string> ann = {"--as=ann", "--as-group=shop-team", "-n", "shop"};
  const auto as_ann = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), ann.begin(), ann.end());
    return fleet.kubectl(arguments);
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
  expect_contains(as_ann({"auth", "can-i", "--list"}).out, {"propagationpolicies.policy.karmada.io", "deployments.apps",
                                                            "selfsubjectaccessreviews", "[/openapi/*]"});
  EXPECT_TRUE(as_ann({"create", "deployment", "web", "--image=nginx:1.27"}).ok());
  EXPECT_FALSE(as_ann({"create", "role", "r", "--verb=get", "--resource=pods"}).ok());
  EXPECT_EQ(
      fleet.kubectl({"auth", "can-i", "create", "deployments", "-n", "default", "--as=ann", "--as-group=shop-team"})
          .out,
      "no\n");
  expect_contains(fleet.kubectl_ok({"auth", "can-i", "--list"}), {"*.*"});
  const Value refusals = parse_json(fleet.shiplogctl_ok({"audit", "--refused", "--user=ann", "-o", "json"})).value();
  const auto denied = [&](const char* verb, const char* type) {
    return std::ranges::any_of(refusals["items"].items(), [&](const Value& refusal) {
      return refusal["verb"].as_string() == verb && refusal["result"].as_string() == "denied" &&
             refusal["events"][0]["object"]["type"].as_string() == type;
    });
  };
  EXPECT_TRUE(denied("list", "deployments.apps")) << to_json(refusals);
  EXPECT_TRUE(denied("create", "roles.rbac.authorization.k8s.io")) << to_json(refusals);
  expect_contains(fleet.shiplogctl_ok({"audit", "--refused"}), {"RequestDenied", "ann", "denied: 403 Forbidden"});
}

TEST(Access, AServiceAccountActsWithItsToken) {
  Fleet fleet;
  fleet.serve();
  fleet.kubectl_ok({"create", "serviceaccount", "deployer"});
  fleet.kubectl_ok({"create", "rolebinding", "deployer", "--clusterrole=edit", "--serviceaccount=default:deployer"});
  std::string token = fleet.kubectl_ok({"create", "token", "deployer", "--duration=20m"});
  while (!token.empty() && token.back() == '\n') token.pop_back();
  // A client certificate would take precedence: another user of the same kubeconfig has only the token.
  fleet.kubectl_ok({"config", "set-credentials", "deployer", "--token=" + token});
  const auto as_deployer = [&](std::vector<std::string> arguments) {
    arguments.push_back("--user=deployer");
    return fleet.kubectl(arguments);
  };
  expect_contains(as_deployer({"auth", "whoami"}).out,
                  {"system:serviceaccount:default:deployer", "system:serviceaccounts"});
  EXPECT_TRUE(as_deployer({"create", "configmap", "made", "--from-literal=a=b"}).ok());
  const Ran refused = as_deployer({"get", "nodes"});
  expect_contains(refused.err,
                  {"nodes is forbidden: User \"system:serviceaccount:default:deployer\" cannot list resource "
                   "\"nodes\" in API group \"\" at the cluster scope"});
  fleet.kubectl_ok({"delete", "serviceaccount", "deployer"});
  const Ran response = as_deployer({"get", "configmaps"});
  EXPECT_FALSE(response.ok());
  expect_contains(response.err, {"You must be logged in to the server"});
}

}  // namespace
}  // namespace shiplog::e2e
