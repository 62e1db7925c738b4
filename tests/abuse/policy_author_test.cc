// With --enable-policy-author-check, the right to write policies does not include the right to read (decision 0028).
#include <gtest/gtest.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

TEST(PolicyAuthor, APolicyPropagatesOnlyObjectsThatItsAuthorMayRead) {
  Fleet fleet;
  fleet.serve("plane", {"--enable-policy-author-check"});
  fleet.join("member1");
  const ApiClient api = fleet.api();
  fleet.kubectl_ok({"apply", "-f", "-"}, R"(
apiVersion: v1
kind: Namespace
metadata: {name: team-a}
---
apiVersion: v1
kind: Secret
metadata: {name: password, namespace: team-a}
stringData: {p: hunter2}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: team-a}
data: {a: b}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: releaser, namespace: team-a}
rules:
- {apiGroups: [policy.karmada.io], resources: [propagationpolicies, overridepolicies], verbs: ["*"]}
- {apiGroups: [""], resources: [configmaps], verbs: [get, list]}
)");
  fleet.kubectl_ok({"create", "rolebinding", "mallory", "--role=releaser", "--user=mallory", "-n", "team-a"});
  const auto as_mallory = [&](std::vector<std::string> arguments, const std::string& input) {
    arguments.insert(arguments.end(), {"--as=mallory", "-n", "team-a"});
    const Ran ran = fleet.kubectl(arguments, input);
    EXPECT_TRUE(ran.ok()) << ran;
  };
  // She sets another user as the author.
  as_mallory({"create", "-f", "-"}, R"(
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata:
  name: all
  annotations: {policy.shiplog.io/author: '{"user":"kubernetes-admin","groups":["system:masters"]}'}
spec:
  resourceSelectors: [{apiVersion: v1, kind: Secret}, {apiVersion: v1, kind: ConfigMap}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)");
  as_mallory({"annotate", "propagationpolicy", "all", "--overwrite",
              R"(policy.shiplog.io/author={"user":"kubernetes-admin","groups":["system:masters"]})"},
             "");
  const std::string author = fleet.kubectl_ok({"get", "propagationpolicy", "all", "-n", "team-a", "-o",
                                               R"(jsonpath={.metadata.annotations.policy\.shiplog\.io/author})"});
  EXPECT_NE(author.find(R"("user":"mallory")"), std::string::npos) << author;

  const auto on_member = [&](const std::string& path) {
    return fleet.api("member1").get("/api/v1/namespaces/team-a/" + path).status == 200;
  };
  EXPECT_TRUE(eventually([&] { return on_member("configmaps/settings"); }));
  const std::string reason = "its author mallory may not get secrets in namespace team-a";
  EXPECT_TRUE(eventually([&] {
    return fleet.kubectl_ok({"get", "events", "-n", "team-a"}).find(reason) != std::string::npos;
  }));
  EXPECT_TRUE(fleet.shiplogctl({"why", "secret/password", "-n", "team-a"}).says(reason))
      << fleet.shiplogctl({"why", "secret/password", "-n", "team-a"});
  EXPECT_FALSE(on_member("secrets/password"));

  fleet.kubectl_ok({"create", "role", "reader", "--verb=get", "--resource=secrets", "-n", "team-a"});
  fleet.kubectl_ok({"create", "rolebinding", "reader", "--role=reader", "--user=mallory", "-n", "team-a"});
  EXPECT_TRUE(eventually([&] { return on_member("secrets/password"); })) << "now she is permitted";
  expect_replay_equals(fleet, api, "sqlite:" + fleet.path("plane/journal.db"));
}

}  // namespace
}  // namespace shiplog::e2e
