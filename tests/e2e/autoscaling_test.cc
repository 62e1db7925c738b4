// Autoscalers in the members decide on replicas: the control plane does not revert them, and the template follows.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/e2e/three_members.h"

namespace shiplog::e2e {
namespace {

class Autoscaling : public ThreeMembers {
 protected:
  void restart_with(const std::string& controllers) {
    fleet_.kill("plane");
    fleet_.serve("plane", {"--controllers=" + controllers});
    api_ = std::make_unique<ApiClient>(fleet_.kubeconfig("plane"));
  }
  /// A Deployment of four replicas, divided among two members, and an autoscaler of it in both.
  void deploy() {
    std::string four = deployment("web");
    four.replace(four.find("replicas: 1"), 11, "replicas: 4");
    apply(four +
          "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\nspec:\n"
          "  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n  minReplicas: 1\n  maxReplicas: "
          "9\n---\n"
          "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: web}\nspec:\n"
          "  resourceSelectors:\n  - {apiVersion: apps/v1, kind: Deployment, name: web}\n"
          "  - {apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, name: web}\n"
          "  placement: {clusterAffinity: {clusterNames: [member1, member2]}, replicaScheduling: "
          "{replicaSchedulingType: Divided, replicaDivisionPreference: Weighted}}\n");
    expect_holders("/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/web", "member1 member2");
    expect_replicas("web", "member1:2 member2:2");
    EXPECT_TRUE(eventually([&] { return mark() == "true"; }));
    change_template("mark");  // and with it the mark
  }
  /// Scales like an autoscaler.
  void scale_in(const std::string& member, int replicas) {
    fleet_.kubectl_ok({"scale", "deployment/web", "--replicas=" + std::to_string(replicas)}, {}, member);
  }
  std::string mark() {
    return api_->get(kDeployment + "web")
        .json["metadata"]["labels"]["resourcetemplate.karmada.io/retain-replicas"]
        .str();
  }
  int64_t asked_for() { return api_->get(kDeployment + "web").json["spec"]["replicas"].as_int(); }
  void expect_asked_for(int64_t replicas) {
    EXPECT_TRUE(eventually([&] { return asked_for() == replicas; })) << asked_for() << " instead of " << replicas;
  }
  /// Once it exists on the members, they have received all earlier decisions.
  void change_template(const std::string& value) {
    patch("deployment", "web", R"({"metadata":{"annotations":{"seen":")" + value + R"("}}})");
    for (const char* member : {"member1", "member2"}) {
      EXPECT_TRUE(eventually([&] {
        return fleet_.api(member).get(kDeployment + "web").json["metadata"]["annotations"]["seen"].as_string() == value;
      })) << member;
    }
  }
};

TEST_F(Autoscaling, MembersKeepTheReplicasThatAreDecidedThere_E_21) {
  restart_with("*,hpaScaleTargetMarker");
  deploy();
  scale_in("member1", 5);
  change_template("first");
  EXPECT_EQ(replicas("web"), "member1:5 member2:2");
  EXPECT_EQ(asked_for(), 4) << "deploymentReplicasSyncer is not enabled";
}

TEST_F(Autoscaling, TheTemplateFollowsAndTheMarkIsRemovedWithTheAutoscaler_E_21) {
  restart_with("*,hpaScaleTargetMarker");
  deploy();
  restart_with("*,hpaScaleTargetMarker,deploymentReplicasSyncer");
  scale_in("member1", 5);
  expect_asked_for(7);
  change_template("scaled");
  EXPECT_EQ(replicas("web"), "member1:5 member2:2");
  fleet_.kubectl_ok({"scale", "deployment/web", "--replicas=20"});
  expect_asked_for(7);
  EXPECT_EQ(replicas("web"), "member1:5 member2:2");

  fleet_.kubectl_ok({"delete", "hpa", "web"});
  EXPECT_TRUE(eventually([&] { return mark().empty(); }));
  EXPECT_TRUE(eventually([&] {
    const std::string now = replicas("web");
    return now == "member1:4 member2:3" || now == "member1:3 member2:4";
  })) << replicas("web");
}

}  // namespace
}  // namespace shiplog::e2e
