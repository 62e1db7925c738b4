// Helm and Argo CD's health checks against a control plane with three members: the chart of `helm create` is installed,
// upgraded, rolled back and removed, each with --wait, as on a single cluster.
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include <gtest/gtest.h>

#include "tests/e2e/three_members.h"

namespace shiplog::e2e {
namespace {

const std::string kInstalled = SHIPLOG_CLIENTS_INSTALLED;

class Helm : public ThreeMembers {
 protected:
  static std::string program(const std::string& name) { return kInstalled + "/helm/" + name; }
  static bool installed() {
    return std::filesystem::exists(program("helm")) && std::filesystem::exists(program("health"));
  }
  Ran helm(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), program("helm"));
    return run(arguments, {{"HOME", fleet_.path("home")}, {"KUBECONFIG", fleet_.kubeconfig("plane")}}, "",
               kPatience * 2);
  }
  void helm_ok(const std::vector<std::string>& arguments) {
    const Ran ran = helm(arguments);
    EXPECT_TRUE(ran.ok()) << ran;
  }
  /// "Deployment web Healthy", a line for each object.
  std::string health(std::vector<std::string> objects) {
    objects.insert(objects.begin(), "get");
    objects.insert(objects.end(), {"-o", "json"});
    const Ran ran = run({program("health")}, {}, fleet_.kubectl_ok(objects), kPatience);
    EXPECT_TRUE(ran.ok()) << ran;
    return ran.out;
  }
  void expect_health(const std::vector<std::string>& objects, const std::string& wanted) {
    std::string last;
    EXPECT_TRUE(eventually([&] { return (last = health(objects)).find(wanted) != std::string::npos; }))
        << wanted << " is not in\n"
        << last;
  }
  /// Expects "IMAGE AVAILABLE/REPLICAS" on every member.
  void expect_everywhere(const std::string& name, const std::string& wanted) {
    for (const std::string& member : kMembers) {
      const Value deployment = fleet_.api(member).get(kDeployment + name).json;
      EXPECT_EQ(deployment["spec"]["template"]["spec"]["containers"][0]["image"].str() + " " +
                    std::to_string(deployment["status"]["availableReplicas"].as_int()) + "/" +
                    std::to_string(deployment["spec"]["replicas"].as_int()),
                wanted)
          << member;
    }
  }
};

// Ends the test if the programs are not installed; it fails if CI=true.
#define SHIPLOG_NEED_HELM()                                                          \
  if (!installed()) {                                                                \
    const std::string missing = "helm is missing: tests/clients/install.sh gets it"; \
    const char* ci = std::getenv("CI");                                              \
    if (ci != nullptr && std::string{ci} == "true") FAIL() << missing;               \
    std::cerr << "\nNOT TESTED: " << missing << "\n";                                \
    GTEST_SKIP() << missing;                                                         \
  }                                                                                  \
  static_assert(true)

TEST_F(Helm, InstallsUpgradesRollsBackAndRemovesAChartOnThreeMembers) {
  SHIPLOG_NEED_HELM();
  const std::string chart = fleet_.path("web");
  helm_ok({"create", chart});
  apply(R"(apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web}
spec:
  resourceSelectors:
  - {apiVersion: apps/v1, kind: Deployment}
  - {apiVersion: v1, kind: Service}
  - {apiVersion: v1, kind: ServiceAccount, name: web}
  placement: {clusterAffinity: {clusterNames: [member1, member2, member3]}}
)");
  const std::string wait = "--timeout=60s";
  helm_ok({"install", "web", chart, "--set", "image.tag=1", "--wait", "--atomic", wait});
  expect_everywhere("web", "nginx:1 1/1");
  EXPECT_EQ(health({"deployment,service,serviceaccount", "-l", "app.kubernetes.io/name=web"}),
            "Deployment web Healthy \nService web Healthy \nServiceAccount web -\n");

  helm_ok({"upgrade", "web", chart, "--set", "image.tag=2,replicaCount=2", "--wait", "--atomic", wait});
  expect_everywhere("web", "nginx:2 2/2");

  // An image that cannot be pulled: the upgrade fails, and helm restores the previous release.
  const Ran failed = helm({"upgrade", "web", chart, "--set", "image.repository=fail/nginx,image.tag=3,replicaCount=2",
                           "--wait", "--atomic", "--timeout=5s"});
  EXPECT_FALSE(failed.ok()) << failed;
  EXPECT_TRUE(failed.says("has been rolled back due to atomic being set")) << failed;
  expect_everywhere("web", "nginx:2 2/2");

  helm_ok({"rollback", "web", "1", "--wait", wait});
  expect_everywhere("web", "nginx:1 1/1");
  EXPECT_TRUE(helm({"status", "web"}).says("STATUS: deployed"));

  helm_ok({"upgrade", "web", chart, "--set", "image.tag=1,service.type=LoadBalancer", "--wait", "--atomic", wait});
  const Value service = json(fleet_.kubectl_ok({"get", "service", "web", "-o", "json"}));
  EXPECT_GE(service["spec"]["ports"][0]["nodePort"].as_int(), 30000);
  EXPECT_GE(service["status"]["loadBalancer"]["ingress"].size(), 1U);

  helm_ok({"uninstall", "web", "--wait", wait});
  expect_holders(kDeployment + "web", "");
}

TEST_F(Helm, ArgoCDReportsAllKindsHealthyOnceEveryMemberIs) {
  SHIPLOG_NEED_HELM();
  const std::string pod = R"({metadata: {labels: {app: all}}, spec: {containers: [{name: main, image: "nginx:1"}]}})";
  apply(R"(apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec: {replicas: 2, serviceName: db, selector: {matchLabels: {app: all}}, template: )" +
        pod + R"(}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec: {selector: {matchLabels: {app: all}}, template: )" +
        pod + R"(}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {progressDeadlineSeconds: 2, selector: {matchLabels: {app: all}}, template: )" +
        pod + R"(}
---
apiVersion: batch/v1
kind: Job
metadata: {name: task}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: "task:1"}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: alone}
spec: {containers: [{name: main, image: "nginx:1"}]}
---
apiVersion: v1
kind: Service
metadata: {name: front}
spec: {type: LoadBalancer, selector: {app: all}, ports: [{port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: door}
spec: {defaultBackend: {service: {name: front, port: {number: 80}}}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: all}
spec:
  resourceSelectors:
  - {apiVersion: apps/v1, kind: StatefulSet}
  - {apiVersion: apps/v1, kind: DaemonSet}
  - {apiVersion: apps/v1, kind: Deployment}
  - {apiVersion: batch/v1, kind: Job}
  - {apiVersion: v1, kind: Pod}
  - {apiVersion: v1, kind: Service}
  - {apiVersion: networking.k8s.io/v1, kind: Ingress}
  placement: {clusterAffinity: {clusterNames: [member1, member2, member3]}}
)");
  for (const auto& [objects, wanted] :
       std::vector<std::pair<std::string, std::string>>{{"statefulset/db", "StatefulSet db Healthy"},
                                                        {"daemonset/agent", "DaemonSet agent Healthy"},
                                                        {"deployment/web", "Deployment web Healthy"},
                                                        {"job/task", "Job task Healthy"},
                                                        {"pod/alone", "Pod alone Healthy"},
                                                        {"service/front", "Service front Healthy"},
                                                        {"ingress/door", "Ingress door Healthy"}}) {
    expect_health({objects}, wanted);
  }
  expect_health({"replicasets"}, " Healthy");
  fleet_.kubectl_ok({"set", "image", "deployment/web", "main=fail/nginx"});
  expect_health({"deployment/web"}, "Deployment web Degraded");
}

}  // namespace
}  // namespace shiplog::e2e
