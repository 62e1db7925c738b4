// kubectl rollout status, history and undo: the control plane stores no ReplicaSets and ControllerRevisions and serves
// views of the history instead.
#include "events/base/json.h"
#include "tests/e2e/expect_contains.h"
#include "tests/e2e/three_members.h"

namespace shiplog::e2e {
namespace {

class Rollouts : public ThreeMembers {
 protected:
  /// A workload of one of the three kinds with two replicas, and a policy that places it on all members.
  void deploy(const std::string& kind, const std::string& name) {
    const std::string replicas = kind == "DaemonSet" ? "" : "  replicas: 2\n";
    const std::string service = kind == "StatefulSet" ? "  serviceName: " + name + "\n" : "";
    apply("apiVersion: apps/v1\nkind: " + kind + "\nmetadata: {name: " + name +
          ", annotations: {kubernetes.io/change-cause: first}}\nspec:\n" + replicas + service +
          "  selector: {matchLabels: {app: " + name + "}}\n  template:\n    metadata: {labels: {app: " + name +
          "}}\n    spec:\n      containers:\n      - {name: main, image: \"nginx:1\"}\n---\n" +
          "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: " + name +
          "}\nspec:\n  resourceSelectors: [{apiVersion: apps/v1, kind: " + kind + ", name: " + name +
          "}]\n  placement: {clusterAffinity: {clusterNames: [member1, member2, member3]}}\n");
  }
  std::string rolled_out(const std::string& workload) {
    return fleet_.kubectl_ok({"rollout", "status", workload, "--timeout=60s"});
  }
  void set_image(const std::string& workload, const std::string& image, const std::string& cause) {
    fleet_.kubectl_ok({"set", "image", workload, "main=" + image});
    fleet_.kubectl_ok({"annotate", workload, "kubernetes.io/change-cause=" + cause, "--overwrite"});
  }
  std::string image(const std::string& workload, const std::string& process = "plane") {
    return fleet_.kubectl_ok({"get", workload, "-o", "jsonpath={.spec.template.spec.containers[0].image}"}, "",
                             process);
  }
  std::string history(const std::string& workload) { return fleet_.kubectl_ok({"rollout", "history", workload}); }

  /// Status, history, undo and restart, as in a cluster.
  void roll(const std::string& kind, const std::string& workload) {
    const std::string name = workload.substr(workload.find('/') + 1);
    deploy(kind, name);
    rolled_out(workload);
    set_image(workload, "nginx:2", "second");
    rolled_out(workload);
    for (const std::string& member : kMembers) EXPECT_EQ(image(workload, member), "nginx:2") << member;
    expect_contains(history(workload), {"first", "second"});
    expect_contains(fleet_.kubectl_ok({"rollout", "history", workload, "--revision=1"}), {"nginx:1"});
    fleet_.kubectl_ok({"rollout", "undo", workload});
    rolled_out(workload);
    EXPECT_EQ(image(workload), "nginx:1");
    for (const std::string& member : kMembers) EXPECT_EQ(image(workload, member), "nginx:1") << member;
    fleet_.kubectl_ok({"rollout", "undo", workload, "--to-revision=2"});
    EXPECT_EQ(image(workload), "nginx:2");
    fleet_.kubectl_ok({"rollout", "restart", workload});
    rolled_out(workload);
  }
};

TEST_F(Rollouts, OfADeployment) {
  roll("Deployment", "deployment/web");
  const std::string paused = fleet_.kubectl_ok({"rollout", "pause", "deployment/web"});
  expect_contains(paused, {"paused"});
  fleet_.kubectl_ok({"rollout", "resume", "deployment/web"});
  rolled_out("deployment/web");
  EXPECT_TRUE(fleet_.kubectl({"wait", "--for=condition=Available", "deployment/web", "--timeout=30s"}).ok());
  expect_contains(fleet_.kubectl_ok({"describe", "deployment", "web"}),
                  {"NewReplicaSet:", "(2/2 replicas created)", "MinimumReplicasAvailable", "NewReplicaSetAvailable"});
}

TEST_F(Rollouts, OfAStatefulSetAndADaemonSet) {
  roll("StatefulSet", "statefulset/db");
  roll("DaemonSet", "daemonset/agent");
}

TEST_F(Rollouts, ViewsAreReadOnlyAndNotPropagated) {
  deploy("Deployment", "web");
  rolled_out("deployment/web");
  const Value listed = json(fleet_.kubectl_ok({"get", "rs", "-l", "shiplog.io/view=true", "-o", "json"}));
  ASSERT_EQ(listed["items"].size(), 1U);
  const Value view = listed["items"][0];
  const std::string name = view["metadata"]["name"].str();
  EXPECT_EQ(view["status"]["readyReplicas"].as_int(), 2);
  EXPECT_EQ(json(fleet_.kubectl_ok({"get", "rs", name, "-o", "json"})), view);
  for (const auto& write : std::vector<std::vector<std::string>>{
           {"delete", "rs", name}, {"label", "rs", name, "a=b"}, {"scale", "rs", name, "--replicas=1"}}) {
    const Ran ran = fleet_.kubectl(write);
    EXPECT_FALSE(ran.ok()) << ran;
    EXPECT_TRUE(ran.says("read-only view of the rollout history of Deployment \"web\"")) << ran;
  }
  EXPECT_EQ(api_->remove("/apis/apps/v1/namespaces/default/replicasets").status, 200);
  EXPECT_TRUE(fleet_.kubectl({"get", "rs", name}).ok()) << "it is still in the history";
  const Ran copied = fleet_.kubectl({"create", "-f", "-"}, to_json([&] {
                                      Value copy = view;
                                      copy.edit("metadata").erase("resourceVersion");
                                      copy.edit("metadata").set("name", "copy");
                                      return copy;
                                    }()));
  EXPECT_TRUE(copied.says("a copy of a read-only view")) << copied;
  // A ReplicaSet that a user creates is stored and propagated like any object.
  apply(R"(apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: mine}
spec:
  replicas: 1
  selector: {matchLabels: {app: mine}}
  template: {metadata: {labels: {app: mine}}, spec: {containers: [{name: main, image: "nginx:1"}]}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: sets}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: ReplicaSet}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)");
  expect_holders("/apis/apps/v1/namespaces/default/replicasets/mine", "member1");
  EXPECT_EQ(fleet_.kubectl_ok({"get", "rb", "-o", "name"}),
            "resourcebinding.work.karmada.io/mine-replicaset\nresourcebinding.work.karmada.io/web-deployment\n");
  // A list that begins a watch contains the same objects as the watch: stored objects only.
  const Value cached = api_->get("/apis/apps/v1/namespaces/default/replicasets?resourceVersion=0").json;
  ASSERT_EQ(cached["items"].size(), 1U);
  EXPECT_EQ(cached["items"][0]["metadata"]["name"].str(), "mine");
}

TEST_F(Rollouts, AFailedRolloutIsReportedAndUndone) {
  deploy("Deployment", "web");
  patch("deployment", "web", R"({"spec":{"progressDeadlineSeconds":2}})");
  rolled_out("deployment/web");
  fleet_.kubectl_ok({"set", "image", "deployment/web", "main=fail/nginx"});
  const Ran failed = fleet_.kubectl({"rollout", "status", "deployment/web", "--timeout=60s"});
  EXPECT_FALSE(failed.ok());
  EXPECT_TRUE(failed.says("exceeded its progress deadline")) << failed;
  fleet_.kubectl_ok({"rollout", "undo", "deployment/web"});
  expect_contains(rolled_out("deployment/web"), {"successfully rolled out"});
}

}  // namespace
}  // namespace shiplog::e2e
