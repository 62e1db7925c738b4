// The commands of kubectl on a control plane with one member, and their output.
#include <gtest/gtest.h>

#include "tests/e2e/expect_contains.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

class Kubectl : public ::testing::Test {
 protected:
  void SetUp() override { fleet_.serve(); }
  std::string replicas(const std::string& name) {
    return fleet_.kubectl_ok({"get", "deployment", name, "-o", "jsonpath={.spec.replicas}"});
  }
  Fleet fleet_;
};

TEST_F(Kubectl, ChangesObjectsInAllItsWays) {
  expect_contains(fleet_.kubectl_ok({"create", "deployment", "web", "--image=nginx:1.27", "--replicas=2"}),
                  {"deployment.apps/web created"});
  EXPECT_EQ(fleet_.kubectl_ok({"label", "deployment", "web", "tier=front"}), "deployment.apps/web labeled\n");
  EXPECT_EQ(fleet_.kubectl_ok({"annotate", "deployment", "web", "note=x"}), "deployment.apps/web annotated\n");
  EXPECT_EQ(fleet_.kubectl_ok({"scale", "deployment", "web", "--replicas=4"}), "deployment.apps/web scaled\n");
  EXPECT_EQ(replicas("web"), "4");
  EXPECT_FALSE(fleet_.kubectl({"scale", "deployment", "web", "--current-replicas=2", "--replicas=3"}).ok());
  EXPECT_EQ(fleet_.kubectl_ok({"patch", "deployment", "web", "-p", R"({"spec":{"replicas":5}})"}),
            "deployment.apps/web patched\n");
  EXPECT_EQ(fleet_.kubectl_ok({"patch", "deployment", "web", "--type=json", "-p",
                               R"([{"op":"replace","path":"/spec/replicas","value":6}])"}),
            "deployment.apps/web patched\n");
  EXPECT_EQ(replicas("web"), "6");
  const Ran edited = fleet_.kubectl({"edit", "deployment", "web"}, "", "plane",
                                    {{"KUBE_EDITOR", "sed -i s/replicas:.6/replicas:\\ 7/"}});
  EXPECT_TRUE(edited.ok()) << edited;
  EXPECT_EQ(edited.out, "deployment.apps/web edited\n");
  EXPECT_EQ(replicas("web"), "7");
  EXPECT_EQ(fleet_.kubectl_ok({"set", "image", "deployment/web", "nginx=nginx:1.28"}),
            "deployment.apps/web image updated\n");
  expect_contains(fleet_.kubectl_ok({"set", "env", "deployment/web", "MODE=quiet"}),
                  {"deployment.apps/web env updated"});
  EXPECT_EQ(fleet_.kubectl_ok({"get", "deployments", "-l", "tier=front", "-o", "name"}), "deployment.apps/web\n");
  EXPECT_EQ(fleet_.kubectl_ok({"wait", "--for=jsonpath={.spec.replicas}=7", "deployment/web", "--timeout=20s"}),
            "deployment.apps/web condition met\n");
  EXPECT_EQ(fleet_.kubectl_ok({"delete", "deployment", "web", "--cascade=foreground", "--timeout=30s"}),
            "deployment.apps \"web\" deleted\n");
  const Ran missing = fleet_.kubectl({"get", "deployment", "web"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_EQ(missing.err, "Error from server (NotFound): deployments.apps \"web\" not found\n");
}

TEST_F(Kubectl, AppliesFilesAgainAndAgain) {
  const std::string manifest = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {app: one}}
data: {colour: red, size: "3"}
)";
  EXPECT_EQ(fleet_.kubectl_ok({"apply", "-f", "-"}, manifest), "configmap/settings created\n");
  EXPECT_EQ(fleet_.kubectl_ok({"apply", "-f", "-"}, manifest), "configmap/settings unchanged\n");
  std::string smaller = manifest;
  smaller.replace(smaller.find(", size"), 11, "");
  const Ran diff = fleet_.kubectl({"diff", "-f", "-"}, smaller);
  EXPECT_EQ(diff.code, 1) << diff;
  expect_contains(diff.out, {"-  size: \"3\""});
  EXPECT_EQ(fleet_.kubectl_ok({"apply", "-f", "-"}, smaller), "configmap/settings configured\n");
  EXPECT_EQ(fleet_.kubectl_ok({"get", "cm", "settings", "-o", "jsonpath={.data}"}), R"({"colour":"red"})");
  EXPECT_EQ(fleet_.kubectl_ok({"replace", "-f", "-"}, manifest), "configmap/settings replaced\n");
  const Ran unknown = fleet_.kubectl({"apply", "-f", "-"}, manifest + "sise: 3\n");
  EXPECT_FALSE(unknown.ok());
  EXPECT_TRUE(unknown.says("unknown field \"sise\"")) << unknown;
  const Ran broken = fleet_.kubectl({"apply", "-f", "-"}, "apiVersion: v1\nkind: [\n");
  EXPECT_FALSE(broken.ok());
  EXPECT_EQ(fleet_.kubectl_ok({"delete", "-f", "-"}, manifest), "configmap \"settings\" deleted\n");
}

TEST_F(Kubectl, RemovesFieldsAfterItHasGoneOverToServerSideApply) {  // SSA-12
  const std::string manifest = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: moved}
data: {key: v, legacy: v}
)";
  std::string smaller = manifest;
  smaller.replace(smaller.find(", legacy: v"), 11, "");
  const std::string managers = "jsonpath={.metadata.managedFields[*].manager}";
  fleet_.kubectl_ok({"apply", "-f", "-"}, manifest);
  fleet_.kubectl_ok({"apply", "--server-side", "-f", "-"}, manifest);
  EXPECT_EQ(fleet_.kubectl_ok({"get", "cm", "moved", "-o", managers}), "kubectl kubectl-last-applied");
  EXPECT_EQ(fleet_.kubectl_ok({"diff", "--server-side", "-f", "-"}, manifest), "");
  const std::string version = fleet_.kubectl_ok({"get", "cm", "moved", "-o", "jsonpath={.metadata.resourceVersion}"});
  fleet_.kubectl_ok({"apply", "--server-side", "-f", "-"}, manifest);
  EXPECT_EQ(fleet_.kubectl_ok({"get", "cm", "moved", "-o", "jsonpath={.metadata.resourceVersion}"}), version)
      << "nothing is left to migrate";
  fleet_.kubectl_ok({"apply", "--server-side", "-f", "-"}, smaller);
  EXPECT_EQ(fleet_.kubectl_ok({"get", "cm", "moved", "-o", "jsonpath={.data}"}), R"({"key":"v"})");
  fleet_.kubectl_ok({"apply", "-f", "-"}, manifest);
  fleet_.kubectl_ok({"apply", "-f", "-"}, smaller);
  EXPECT_EQ(fleet_.kubectl_ok({"get", "cm", "moved", "-o", "jsonpath={.data}"}), R"({"key":"v"})")
      << "back on the client's side, the annotation tells what was applied";
}

TEST_F(Kubectl, ShowsObjectsInAllItsForms) {
  fleet_.kubectl_ok({"apply", "-f", SHIPLOG_EXAMPLES "/nginx"});
  expect_contains(fleet_.kubectl_ok({"get", "deployments"}),
                  {"NAME    READY   UP-TO-DATE   AVAILABLE   AGE", "nginx   0/6"});
  expect_contains(fleet_.kubectl_ok({"get", "deployment", "nginx", "-o", "wide"}),
                  {"CONTAINERS", "nginx:1.27", "app=nginx"});
  expect_contains(fleet_.kubectl_ok({"get", "deployment", "nginx", "-o", "yaml"}),
                  {"kind: Deployment\n", "  replicas: 6\n"});
  EXPECT_EQ(json(fleet_.kubectl_ok({"get", "deployment", "nginx", "-o", "json"}))["spec"]["replicas"].as_int(), 6);
  expect_contains(fleet_.kubectl_ok({"get", "deployments,propagationpolicies,ns", "-A"}),
                  {"deployment.apps/nginx", "propagationpolicy.policy.karmada.io/nginx", "namespace/default"});
  expect_contains(fleet_.kubectl_ok({"describe", "deployment", "nginx"}),
                  {"Replicas:               6 desired", "nginx:1.27", "StrategyType:           RollingUpdate"});
  expect_contains(fleet_.kubectl_ok({"describe", "propagationpolicy", "nginx"}), {"Cluster Names:", "member1"});
  expect_contains(fleet_.kubectl_ok({"describe", "namespace", "default"}), {"Status:", "Active"});
  expect_contains(fleet_.kubectl_ok({"api-resources"}),
                  {"deployments", "propagationpolicies", "resourcebindings", "clusters"});
  expect_contains(fleet_.kubectl_ok({"explain", "deployment.spec.replicas"}),
                  {"KIND:       Deployment", "FIELD: replicas <integer>"});
  expect_contains(fleet_.kubectl_ok({"explain", "propagationpolicy.spec.placement"}), {"clusterAffinity"});
  EXPECT_EQ(fleet_.kubectl_ok({"get", "--raw", "/readyz"}), "ok");
  const Ran nosuch = fleet_.kubectl({"get", "sofas"});
  EXPECT_EQ(nosuch.err, "error: the server doesn't have a resource type \"sofas\"\n");
}

TEST_F(Kubectl, FollowsARolloutOnAMember) {
  fleet_.join("member1");
  fleet_.kubectl_ok({"create", "deployment", "web", "--image=nginx:1.27", "--replicas=2"});
  fleet_.kubectl_ok({"apply", "-f", "-"}, R"(apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement: {clusterAffinity: {clusterNames: [member1]}}
)");
  expect_contains(fleet_.kubectl_ok({"rollout", "status", "deployment/web", "--timeout=50s"}),
                  {"deployment \"web\" successfully rolled out"});
  fleet_.kubectl_ok({"wait", "--for=jsonpath={.status.availableReplicas}=2", "deployment/web", "--timeout=20s"});
  fleet_.kubectl_ok({"wait", "--for=condition=Available", "deployment/web", "--timeout=20s"});
  EXPECT_TRUE(fleet_.kubectl({"wait", "--for=condition=Ready", "cluster/member1", "--timeout=20s"}).ok());
  expect_contains(fleet_.kubectl_ok({"get", "clusters"}),
                  {"NAME", "VERSION", "MODE", "READY", "member1", "Push", "True"});
  expect_contains(fleet_.kubectl_ok({"get", "rb"}), {"NAME", "SCHEDULED", "FULLYAPPLIED", "web-deployment", "True"});

  // A watch shows each change down to the deletion and ends with it.
  Process& seen = fleet_.kubectl_beside({"get", "deployments", "-w", "--output-watch-events"});
  EXPECT_TRUE(eventually([&] { return read_file(seen.log()).find("ADDED") != std::string::npos; }))
      << read_file(seen.log());
  fleet_.kubectl_ok({"scale", "deployment", "web", "--replicas=3"});
  EXPECT_TRUE(eventually([&] { return read_file(seen.log()).find("3/3") != std::string::npos; }))
      << read_file(seen.log());
  fleet_.kubectl_ok({"delete", "deployment", "web", "--timeout=30s"});
  EXPECT_TRUE(eventually([&] { return read_file(seen.log()).find("DELETED") != std::string::npos; }))
      << read_file(seen.log());
}

}  // namespace
}  // namespace shiplog::e2e
