// Causes and traces of everything that a fleet records, with real processes.
#include <map>
#include <cstdio>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "tests/e2e/three_members.h"

namespace shiplog::e2e {
namespace {

class Causality : public ThreeMembers {};

TEST_F(Causality, Explore) {
  apply(R"(
apiVersion: policy.karmada.io/v1alpha1
kind: FederatedResourceQuota
metadata: {name: limits}
spec: {overall: {cpu: 100}, staticAssignments: [{clusterName: member2, hard: {cpu: 1}}]}
---
)" + deployment("web") + deployment("db") + placed("web", "web", "{clusterAffinity: {clusterNames: [member1, member2]}, spreadConstraints: [{spreadByField: cluster, minGroups: 1, maxGroups: 1}]}") + policy("db", "db", "member1"));
  expect_holders(kDeployment + "db", "member1");
  EXPECT_TRUE(eventually([&] { return !holders(kDeployment + "web").empty(); }));
  ::sleep(3);
  apply(policy("db", "db", "member1, member3"));
  expect_holders(kDeployment + "db", "member1 member3");
  const std::string on = holders(kDeployment + "web");
  fleet_.kubectl({"patch", "cluster", on, "--type=merge", "-p", R"({"spec":{"taints":[{"key":"fire","effect":"NoExecute"}]}})"});
  EXPECT_TRUE(eventually([&] { const auto now = holders(kDeployment + "web"); return !now.empty() && now != on; }));
  ::sleep(2);
  fleet_.kill("member3");
  ::sleep(20);
  fleet_.kubectl({"delete", "deployment", "db"});
  ::sleep(3);
  fleet_.kubectl({"get", "secrets", "--as=ann"});
  ::sleep(2);
  const Value all = api_->get("/shiplog/v1/audit?limit=0&order=oldest").json;
  std::map<std::string, std::array<int, 3>> sums;
  for (const Value& e : all["items"].items()) {
    std::string kinds;
    for (const Value& ev : e["events"].items()) { if (kinds.find(ev["kind"].str()) == std::string::npos) kinds += ev["kind"].str() + " "; }
    auto& s = sums[e["service"].str() + " " + e["verb"].str() + " " + kinds];
    ++s[0]; if (e["trace"].str().empty()) ++s[1]; if (e["cause"]["entry"].str().empty()) ++s[2];
  }
  for (auto& [k, s] : sums) std::printf("%5d  notrace=%d nocause=%d  %s\n", s[0], s[1], s[2], k.c_str());
  FILE* f = std::fopen("/tmp/effects-audit.json", "w"); std::fputs(to_json(all).c_str(), f); std::fclose(f);
}

}  // namespace
}  // namespace shiplog::e2e
