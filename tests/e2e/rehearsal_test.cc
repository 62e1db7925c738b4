// `shiplogctl rehearse` beside a real fleet, which it does not affect; and the same change for real.
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/e2e/three_members.h"

namespace shiplog::e2e {
namespace {

class RehearsalOfAFleet : public ThreeMembers {
 protected:
  std::vector<std::string> options() const override {
    auto all = ThreeMembers::options();
    all.push_back("--allow-no-execute-taint-policy");
    return all;
  }

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

// Other settings show in the result of a rehearsal, and not in the fleet.
TEST_F(RehearsalOfAFleet, OptionsChangeTheRehearsalAlone) {
  for (const std::string& member : kMembers) {
    patch("cluster", member, R"({"spec":{"region":"region-of-)" + member + R"("}})");
  }
  apply(R"(apiVersion: policy.karmada.io/v1alpha1
kind: ClusterTaintPolicy
metadata: {name: away}
spec:
  addOnConditions: [{conditionType: Ready, operator: NotIn, statusValues: ["True"]}]
  removeOnConditions: [{conditionType: Ready, operator: In, statusValues: ["True"]}]
  taints: [{key: away, effect: NoExecute}]
)");
  const std::string waits =
      "clusterTolerations: [{key: away, operator: Exists, effect: NoExecute, tolerationSeconds: 300}]";
  apply(deployment("web") + placed("web", "web",
                                   "{clusterAffinity: {clusterNames: [member1, member2]}, "
                                   "spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}], " +
                                       waits + "}"));
  EXPECT_TRUE(eventually([&] { return !holders(kDeployment + "web").empty(); }));
  const std::string at = holders(kDeployment + "web");
  const std::string other = at == "member1" ? "member2" : "member1";
  settle();
  const std::string web_alone = std::to_string(api_->get("/shiplog/v1/state").json["revision"].as_int());
  apply(deployment("fixed") +
        placed("fixed", "fixed", "{clusterAffinity: {clusterNames: [" + at + "]}, " + waits + "}"));
  expect_holders(kDeployment + "fixed", at);
  settle();
  const std::string before = state_hash();

  const auto outcome = [&](const Value& report, const std::string& name) {
    for (const Value& workload : report["workloads"].items()) {
      if (workload["name"].as_string() == name) return workload;
    }
    return Value{};
  };
  const auto region_fails = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"--fail-region", "region-of-" + at});
    return rehearsed(std::move(more));
  };
  const Value ten_minutes = region_fails({"--for", "10m"});
  EXPECT_EQ(to_json(ten_minutes["failedClusters"]), "[\"" + at + "\"]");
  EXPECT_EQ(ten_minutes["workloads"].size(), 2U) << to_pretty_json(ten_minutes);
  EXPECT_EQ(targets(outcome(ten_minutes, "web")["to"]), other);
  EXPECT_EQ(outcome(ten_minutes, "web")["outcome"].str(), "healthy") << to_pretty_json(ten_minutes);
  EXPECT_EQ(outcome(ten_minutes, "fixed")["outcome"].str(), "does not fit");

  const Value two_minutes = region_fails({"--for", "2m"});
  EXPECT_EQ(outcome(two_minutes, "web")["outcome"].str(), "stays");
  EXPECT_NE(outcome(two_minutes, "web")["reason"].str().find("it tolerates the taint"), std::string::npos);

  const Value at_once = region_fails({"--for", "2m", "--toleration-seconds", "0", "--ready-after", "5s"});
  EXPECT_EQ(outcome(at_once, "web")["outcome"].str(), "healthy") << to_pretty_json(at_once);

  const Value budget = region_fails(
      {"--for", "10m", "--set", "eviction-budget=evictions=1,window=1h", "--set", "graceful-eviction-timeout=1m"});
  EXPECT_EQ(budget["evictions"].as_int(), 1) << to_pretty_json(budget);
  EXPECT_EQ(outcome(budget, "web")["outcome"].str(), "stays");
  EXPECT_NE(outcome(budget, "web")["reason"].str().find("--eviction-budget"), std::string::npos);
  EXPECT_EQ(budget["eviction"]["gracefulTimeout"].str(), "1m");

  const Value off = region_fails({"--for", "10m", "--feature-gates", "Failover=false"});
  EXPECT_EQ(off["evictions"].as_int(), 0);
  EXPECT_NE(outcome(off, "web")["reason"].str().find("do not evict"), std::string::npos);

  const Value earlier = region_fails({"--at", web_alone});
  EXPECT_EQ(std::to_string(earlier["revision"].as_int()), web_alone);
  EXPECT_EQ(earlier["workloads"].size(), 1U) << to_pretty_json(earlier);

  const std::string text = fleet_.shiplogctl_ok({"rehearse", "--fail-region", "region-of-" + at, "--limit", "1"});
  EXPECT_NE(text.find("region region-of-" + at), std::string::npos) << text;
  EXPECT_NE(text.find("and 1 more workload"), std::string::npos) << text;
  EXPECT_EQ(state_hash(), before) << "the fleet is as it was";
  EXPECT_EQ(holders(kDeployment + "web"), at);
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
