// The life of a Deployment as in the quickstart guide: it is applied to the control plane, placed on three members,
// runs there, and its health is collected.
#include <algorithm>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kNginx = "/apis/apps/v1/namespaces/default/deployments/nginx";
const std::string kNginxBinding = "/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings/nginx-deployment";

using Placement = std::map<std::string, int64_t>;

class Quickstart : public ::testing::Test {
 protected:
  void SetUp() override {
    fleet_.serve();
    for (const char* name : {"member1", "member2", "member3"}) fleet_.join(name);
    api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  }

  void apply_example() { fleet_.kubectl_ok({"apply", "-f", SHIPLOG_EXAMPLES "/nginx"}); }

  Placement placement() const {
    Placement placed;
    const Value binding = api_->get(kNginxBinding).json;
    for (const Value& target : binding["spec"]["clusters"].items()) {
      placed[target["name"].str()] = target["replicas"].as_int();
    }
    return placed;
  }

  /// Ready pods of the Deployment, by member.
  Placement running() {
    Placement pods;
    for (const char* name : {"member1", "member2", "member3"}) {
      const Value list = fleet_.api(name).get("/api/v1/namespaces/default/pods?labelSelector=app%3Dnginx").json;
      int64_t ready = 0;
      for (const Value& pod : list["items"].items()) {
        for (const Value& condition : pod["status"]["conditions"].items()) {
          if (condition["type"].as_string() == "Ready" && condition["status"].as_string() == "True") ++ready;
        }
      }
      if (list["items"].size() > 0) pods[name] = ready;
    }
    return pods;
  }

  void expect_running(const Placement& wanted) {
    EXPECT_TRUE(eventually([&] { return placement() == wanted; })) << api_->get(kNginxBinding);
    EXPECT_TRUE(eventually([&] { return running() == wanted; }))
        << ::testing::PrintToString(running()) << " instead of " << ::testing::PrintToString(wanted);
    int64_t total = 0;
    for (const auto& [name, replicas] : wanted) total += replicas;
    EXPECT_TRUE(eventually([&] {
      const Value status = api_->get(kNginx).json["status"];
      return status["readyReplicas"].as_int() == total && status["availableReplicas"].as_int() == total &&
             status["replicas"].as_int() == total;
    })) << api_->get(kNginx);
  }

  Fleet fleet_;
  std::unique_ptr<ApiClient> api_;
};

TEST_F(Quickstart, ADeploymentRunsOnTheMembersThePolicyNamesAndItsHealthIsCollected) {
  apply_example();
  expect_running({{"member1", 1}, {"member2", 2}, {"member3", 3}});

  const Value binding = api_->get(kNginxBinding).json;
  for (const char* type : {"Scheduled", "FullyApplied"}) {
    const auto conditions = binding["status"]["conditions"].items();
    EXPECT_TRUE(std::ranges::any_of(conditions,
                                    [&](const Value& condition) {
                                      return condition["type"].as_string() == type &&
                                             condition["status"].as_string() == "True";
                                    }))
        << type << " of " << api_->get(kNginxBinding);
  }
  EXPECT_EQ(fleet_.kubectl_ok({"get", "works", "-A", "-l", "resourcebinding.karmada.io/permanent-id", "--no-headers",
                               "-o", "custom-columns=NS:.metadata.namespace"}),
            "karmada-es-member1\nkarmada-es-member2\nkarmada-es-member3\n");
  const std::string clusters = fleet_.shiplogctl_ok({"get", "clusters"});
  for (const char* name : {"member1", "member2", "member3"}) {
    EXPECT_NE(clusters.find(name), std::string::npos) << clusters;
  }
  // Each cause has an entry: the request, the binding, the placement, the dispatch, the status.
  const std::string chain = fleet_.shiplogctl_ok({"history", "deployment/nginx", "--chain"});
  for (const char* actor : {"kubernetes-admin", "binder", "scheduler", "dispatcher", "collector"}) {
    EXPECT_NE(chain.find(actor), std::string::npos) << actor << " is not in\n" << chain;
  }
}

TEST_F(Quickstart, ChangesOfTheTemplateReachTheMembers) {  // B-8
  apply_example();
  expect_running({{"member1", 1}, {"member2", 2}, {"member3", 3}});
  fleet_.kubectl_ok({"scale", "deployment", "nginx", "--replicas=12"});
  expect_running({{"member1", 2}, {"member2", 4}, {"member3", 6}});

  fleet_.kubectl_ok({"label", "deployment", "nginx", "tier=front"});
  fleet_.kubectl_ok({"set", "image", "deployment/nginx", "nginx=nginx:1.28"});
  for (const char* name : {"member1", "member2", "member3"}) {
    const ApiClient member = fleet_.api(name);
    EXPECT_TRUE(eventually([&] {
      const Value deployment = member.get(kNginx).json;
      return deployment["metadata"]["labels"]["tier"].as_string() == "front" &&
             deployment["spec"]["template"]["spec"]["containers"][0]["image"].as_string() == "nginx:1.28" &&
             deployment["status"]["updatedReplicas"] == deployment["spec"]["replicas"];
    })) << member.get(kNginx);
  }
  EXPECT_TRUE(fleet_.kubectl({"rollout", "status", "deployment/nginx", "--timeout=50s"}).ok());

  fleet_.kubectl_ok({"label", "deployment", "nginx", "tier-"});
  const ApiClient member = fleet_.api("member1");
  EXPECT_TRUE(eventually([&] { return !member.get(kNginx).json["metadata"]["labels"].contains("tier"); }))
      << member.get(kNginx);
}

TEST_F(Quickstart, AMemberThatThePolicyNoLongerNamesGivesItsReplicasToTheOthers) {
  apply_example();
  expect_running({{"member1", 1}, {"member2", 2}, {"member3", 3}});
  fleet_.kubectl_ok({"patch", "propagationpolicy", "nginx", "--type=merge", "-p",
                     R"({"spec":{"placement":{"clusterAffinity":{"clusterNames":["member1","member2"]}}}})"});
  expect_running({{"member1", 2}, {"member2", 4}});
  EXPECT_TRUE(eventually([&] { return fleet_.api("member3").get(kNginx).status == 404; }));
}

TEST_F(Quickstart, ADeletedDeploymentIsDeletedInAllMembers) {  // D-40
  apply_example();
  expect_running({{"member1", 1}, {"member2", 2}, {"member3", 3}});
  fleet_.kubectl_ok({"delete", "-f", SHIPLOG_EXAMPLES "/nginx", "--timeout=50s"});
  EXPECT_EQ(api_->get(kNginx).status, 404);
  EXPECT_TRUE(eventually([&] { return api_->get(kNginxBinding).status == 404; })) << api_->get(kNginxBinding);
  for (const char* name : {"member1", "member2", "member3"}) {
    EXPECT_TRUE(eventually([&] { return fleet_.api(name).get(kNginx).status == 404; })) << name;
  }
  EXPECT_TRUE(eventually([&] { return running().empty(); })) << ::testing::PrintToString(running());
  const std::string works =
      "/apis/work.karmada.io/v1alpha1/works?labelSelector=resourcebinding.karmada.io/permanent-id";
  EXPECT_TRUE(eventually([&] { return api_->get(works).json["items"].size() == 0; })) << api_->get(works);
}

TEST_F(Quickstart, AMemberThatLeavesIsCleanedUpAndItsReplicasMove) {
  apply_example();
  expect_running({{"member1", 1}, {"member2", 2}, {"member3", 3}});
  fleet_.shiplogctl_ok({"unjoin", "member3"});
  EXPECT_EQ(api_->get("/apis/cluster.karmada.io/v1alpha1/clusters/member3").status, 404);
  EXPECT_EQ(api_->get("/apis/work.karmada.io/v1alpha1/namespaces/karmada-es-member3/works").json["items"].size(), 0u);
  EXPECT_TRUE(eventually([&] { return api_->get("/api/v1/namespaces/karmada-es-member3").status == 404; }));
  EXPECT_EQ(api_->get("/api/v1/namespaces/karmada-cluster/secrets/member3").status, 404);
  expect_running({{"member1", 2}, {"member2", 4}});
}

}  // namespace
}  // namespace shiplog::e2e
