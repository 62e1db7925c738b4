// kubectl logs, exec, attach and port-forward: pods run in members, and the control plane's answer tells where, at
// once.
#include <chrono>
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

constexpr const char* kTemplates = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "nginx:1.27"}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Pod
metadata: {name: single}
spec: {containers: [{name: main, image: "nginx:1.27"}]}
)";

struct Kubectl {
  std::string program;
  bool prints_answers = true;  ///< an old one prints a text of its own for any 404
};

/// The one on the PATH, and where tests/clients has installed them its oldest and its newest.
std::vector<Kubectl> kubectls() {
  namespace fs = std::filesystem;
  const fs::path installed = SHIPLOG_CLIENTS_INSTALLED;
  std::vector<Kubectl> found = {{"kubectl"}};
  if (fs::exists(installed / "kubectl/usr/bin/kubectl"))
    found.push_back({installed / "kubectl/usr/bin/kubectl", false});
  if (!fs::exists(installed / "kubectls")) return found;
  for (const auto& release : fs::directory_iterator(installed / "kubectls")) {
    if (fs::exists(release.path() / "kubectl")) found.push_back({release.path() / "kubectl"});
  }
  return found;
}

TEST(PodLogs, KubectlFailsAtOnceAndIsToldWherePodsRun) {
  Fleet fleet;
  fleet.serve();
  fleet.kubectl_ok({"apply", "-f", "-"}, kTemplates);
  // kubectl waits for a pod of a workload for 20 s (logs) or a minute (exec). These limits are above what
  // an answer takes and far below what waiting takes.
  const std::chrono::seconds at_once{15};
  for (const Kubectl& kubectl : kubectls()) {
    for (const auto& words : std::vector<std::vector<std::string>>{{"logs", "deployment/web"},
                                                                   {"logs", "-f", "deployment/web"},
                                                                   {"logs", "single"},
                                                                   {"exec", "deployment/web", "--", "true"},
                                                                   {"exec", "single", "--", "true"},
                                                                   {"attach", "deployment/web"},
                                                                   {"attach", "single"},
                                                                   {"port-forward", "deployment/web", ":80"},
                                                                   {"port-forward", "service/web", ":80"}}) {
      std::vector<std::string> command = {kubectl.program, "--cache-dir=" + fleet.path("cache")};
      command.insert(command.end(), words.begin(), words.end());
      const Ran ran =
          run(command, {{"HOME", fleet.path("home")}, {"KUBECONFIG", fleet.kubeconfig("plane")}}, "", at_once);
      EXPECT_EQ(ran.code, 1) << ran;
      if (kubectl.prints_answers) {
        EXPECT_TRUE(ran.says("member cluster")) << ran;
      }
    }
  }
}

TEST(PodLogs, OtherWatchesOfPodsAreServed) {
  Fleet fleet;
  fleet.serve();
  fleet.kubectl_ok({"apply", "-f", "-"}, kTemplates);
  const ApiClient api = fleet.api();
  const std::string pods = "/api/v1/namespaces/default/pods?watch=true&timeoutSeconds=1";
  EXPECT_EQ(api.get(pods + "&labelSelector=app%3Dweb").status, 404) << "the one that kubectl logs waits on";
  EXPECT_EQ(api.get(pods).status, 200);
  EXPECT_EQ(api.get(pods + "&labelSelector=app%3Dother").status, 200) << "no template has such pods";
  EXPECT_EQ(api.get(pods + "&labelSelector=app%3Dweb&allowWatchBookmarks=true").status, 200) << "an informer";
  EXPECT_EQ(api.get("/api/v1/pods?watch=true&timeoutSeconds=1&labelSelector=app%3Dweb").status, 200);
}

TEST(PodLogs, ATrialMemberTellsThatItsPodsAreSimulated) {
  Fleet fleet;
  fleet.member("member1");
  fleet.kubectl_ok({"create", "deployment", "web", "--image=nginx:1.27"}, "", "member1");
  EXPECT_TRUE(eventually([&] { return fleet.kubectl({"logs", "deployment/web"}, "", "member1").says("simulated"); }));
}

}  // namespace
}  // namespace shiplog::e2e
