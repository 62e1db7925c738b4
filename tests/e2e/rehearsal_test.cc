// `shiplogctl rehearse` beside a real fleet, which it does not affect; and the same change for real.
#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/e2e/three_members.h"

namespace shiplog::e2e {
namespace {

class RehearsalOfAFleet : public ThreeMembers {
 protected:
  std::string state_hash() { return api_->get("/shiplog/v1/state").json["stateHash"].str(); }

  /// Until nothing is appended any more: hashes are compared.
  void settle() {
    std::string last;
    EXPECT_TRUE(eventually([&] {
      const std::string now = std::to_string(api_->get("/shiplog/v1/state").json["revision"].as_int());
      if (now == last) return true;
      last = now;
      std::this_thread::sleep_for(std::chrono::seconds{3});
      return false;
    }));
  }

  Value rehearsed(std::vector<std::string> options) {
    options.insert(options.begin(), "rehearse");
    options.insert(options.end(), {"-o", "json"});
    const auto parsed = parse_json(fleet_.shiplogctl_ok(options));
    EXPECT_TRUE(parsed);
    return parsed ? parsed.value() : Value{};
  }

  static std::string targets(const Value& list) {
    std::string text;
    for (const Value& target : list.items()) text += (text.empty() ? "" : " ") + target["cluster"].str();
    return text;
  }
};

TEST_F(RehearsalOfAFleet, MovesWhatTheTaintMovesAndChangesNothing) {
  apply(deployment("web") + placed("web", "web",
                                   "{clusterAffinity: {clusterNames: [member1, member2]}, "
                                   "spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]}"));
  apply(deployment("fixed") + policy("fixed", "fixed", "member3"));
  EXPECT_TRUE(eventually([&] { return !holders(kDeployment + "web").empty(); }));
  expect_holders(kDeployment + "fixed", "member3");
  const std::string at = holders(kDeployment + "web");
  const std::string other = at == "member1" ? "member2" : "member1";
  settle();

  const std::string before = state_hash();
  const std::string taint = at + "=fire=high:NoExecute";
  const Value report = rehearsed({"--taint", taint});
  ASSERT_EQ(report["workloads"].size(), 1U) << to_pretty_json(report);
  const Value& web = report["workloads"][0];
  EXPECT_EQ(web["name"].str(), "web");
  EXPECT_EQ(targets(web["from"]), at);
  EXPECT_EQ(targets(web["to"]), other);
  EXPECT_EQ(web["outcome"].str(), "healthy") << to_pretty_json(web);
  EXPECT_FALSE(report["allHealthyAfterSeconds"].is_null());

  const std::string text = fleet_.shiplogctl_ok({"rehearse", "--fail-cluster", at});
  EXPECT_NE(text.find("The fleet itself is not affected."), std::string::npos) << text;
  EXPECT_NE(text.find("no ClusterTaintPolicy"), std::string::npos) << text;
  EXPECT_NE(fleet_.shiplogctl_ok({"rehearse", "--taint", taint, "-o", "svg"}).find("<svg"), std::string::npos);
  EXPECT_EQ(state_hash(), before) << "the fleet is as it was";
  EXPECT_EQ(holders(kDeployment + "web"), at);

  // The same from the journal, as of that revision.
  const std::string journal = "--journal=sqlite:" + fleet_.path("plane/journal.db");
  const std::string revision = std::to_string(report["revision"].as_int());
  const Value from_file = rehearsed({"--taint", taint, journal, "--at", revision});
  EXPECT_EQ(to_json(from_file["workloads"]), to_json(report["workloads"]));
  const Ran beyond = fleet_.shiplogctl({"rehearse", "--taint", taint, journal, "--at", "999999"});
  EXPECT_NE(beyond.code, 0);
  EXPECT_TRUE(beyond.says("999999")) << beyond;
  EXPECT_TRUE(fleet_.shiplogctl({"rehearse", "--fail-cluster", "member9"}).says("there is no cluster \"member9\""));
  EXPECT_TRUE(fleet_.shiplogctl({"rehearse", "--fail-region", "eu"}).says("there is no region \"eu\""));
  EXPECT_TRUE(fleet_.shiplogctl({"rehearse"}).says("--fail-cluster, --fail-region or --taint"));

  patch("cluster", at, R"({"spec":{"taints":[{"key":"fire","value":"high","effect":"NoExecute"}]}})");
  expect_holders(kDeployment + "web", other);
}

// A user who may read one namespace, or what everybody with a path may, does not get the state.
TEST_F(RehearsalOfAFleet, NeedsTheRightToReadEverything) {
  apply(R"(apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: export-path}
rules: [{nonResourceURLs: ["/shiplog/v1/*"], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: read-all}
rules: [{apiGroups: ["*"], resources: ["*"], verbs: [get, list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: export-path}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: export-path}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: path-only}, {apiGroup: rbac.authorization.k8s.io, kind: User, name: reader}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: read-all}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: read-all}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: reader}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: tenant, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: tenant}]
)");
  for (const char* user : {"tenant", "path-only", "nobody"}) {
    const Ran refused = fleet_.shiplogctl({"rehearse", "--fail-cluster", "member1", "--as", user});
    EXPECT_NE(refused.code, 0) << user;
    EXPECT_TRUE(refused.says("orbidden") || refused.says("cannot")) << user << ": " << refused;
  }
  const Ran allowed = fleet_.shiplogctl({"rehearse", "--fail-cluster", "member1", "--as", "reader"});
  EXPECT_EQ(allowed.code, 0) << allowed;
}

}  // namespace
}  // namespace shiplog::e2e
