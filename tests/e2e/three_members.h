#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "events/state/condition.h"
#include "tests/e2e/manifests.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {

inline const std::vector<std::string> kMembers = {"member1", "member2", "member3"};
inline const std::string kDeployment = "/apis/apps/v1/namespaces/default/deployments/";
inline const std::string kBindings = "/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings/";

/// What is off by default and moves or refuses workloads.
inline const std::string kAllGates =
    "--feature-gates=Failover=true,FederatedQuotaEnforcement=true,PropagationPolicyPreemption=true,"
    "WorkloadAffinity=true";

/// A control plane with three real members. After each test a replay of the journal must have the same state and
/// decisions.
class ThreeMembers : public ::testing::Test {
 protected:
  void SetUp() override {
    fleet_.serve("plane", options());
    for (const std::string& name : kMembers) fleet_.join(name);
    api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  }
  void TearDown() override { expect_replay_equals(fleet_, *api_, "sqlite:" + fleet_.path("plane/journal.db")); }

  /// Of the control plane: with everything on.
  virtual std::vector<std::string> options() const { return {kAllGates, "--enable-no-execute-taint-eviction"}; }

  void apply(const std::string& manifests) { fleet_.kubectl_ok({"apply", "-f", "-"}, manifests); }
  void patch(const std::string& kind, const std::string& name, const std::string& merge) {
    fleet_.kubectl_ok({"patch", kind, name, "--type=merge", "-p", merge});
  }

  static std::string deployment(const std::string& name, const std::string& pod = "") {
    return deployment_manifest(name, 1, "nginx:1.27", pod);
  }
  /// A policy for a Deployment, with a placement in YAML flow style and more lines of its spec.
  static std::string placed(const std::string& name, const std::string& deployment, const std::string& placement,
                            const std::string& more = "") {
    return "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: " + name +
           "}\nspec:\n  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: " + deployment +
           "}]\n  placement: " + placement + "\n" + more + "---\n";
  }
  static std::string policy(const std::string& name, const std::string& deployment, const std::string& clusters,
                            const std::string& more = "") {
    return placed(name, deployment, "{clusterAffinity: {clusterNames: [" + clusters + "]}}", more);
  }

  /// The members that have an object.
  std::string holders(const std::string& path) {
    std::string names;
    for (const std::string& member : kMembers) {
      if (fleet_.api(member).get(path).status == 200) names += (names.empty() ? "" : " ") + member;
    }
    return names;
  }
  void expect_holders(const std::string& path, const std::string& wanted) {
    EXPECT_TRUE(eventually([&] { return holders(path) == wanted; }))
        << path << " is on \"" << holders(path) << "\" instead of \"" << wanted << "\"";
  }
  /// Replicas of a Deployment in the members: "member1:2 member3:1".
  std::string replicas(const std::string& deployment) {
    std::string all;
    for (const std::string& member : kMembers) {
      const auto answer = fleet_.api(member).get(kDeployment + deployment);
      if (answer.status != 200) continue;
      all += (all.empty() ? "" : " ") + member + ":" + std::to_string(answer.json["spec"]["replicas"].as_int());
    }
    return all;
  }
  void expect_replicas(const std::string& deployment, const std::string& wanted) {
    EXPECT_TRUE(eventually([&] { return replicas(deployment) == wanted; }))
        << deployment << " has " << replicas(deployment) << " instead of " << wanted;
  }
  /// A condition of a Deployment's binding, as "status reason: message"; empty if it does not exist.
  std::string condition(const std::string& deployment, const std::string& type) {
    const Value binding = api_->get(kBindings + deployment + "-deployment").json;
    const Value& found = condition_of(binding, type);
    if (found.is_null()) return "";
    return found["status"].str() + " " + found["reason"].str() + ": " + found["message"].str();
  }

  Fleet fleet_;
  std::unique_ptr<ApiClient> api_;
};

}  // namespace shiplog::e2e
