// kubectl logs, exec, attach and port-forward: pods run in members, and the control plane immediately responds with
// their location.
#include <chrono>
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/e2e/manifests.h"
#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kWebTemplates = deployment_manifest("web") + R"(apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Pod
metadata: {name: single}
spec: {containers: [{name: main, image: "nginx:1.27"}]}
)";

struct KubectlRelease {
  std::string program;
  bool prints_messages = true;  ///< false: it prints its own text for any 404
};

/// The program on the PATH, and the releases that tests/clients has installed.
std::vector<KubectlRelease> kubectls() {
  namespace fs = std::filesystem;
  const fs::path installed = SHIPLOG_CLIENTS_INSTALLED;
  std::vector<KubectlRelease> found = {{"kubectl"}};
  if (fs::exists(installed / "kubectl/usr/bin/kubectl"))
    found.push_back({installed / "kubectl/usr/bin/kubectl", false});
  if (!fs::exists(installed / "kubectls")) return found;
  for (const auto& release : fs::directory_iterator(installed / "kubectls")) {
    if (fs::exists(release.path() / "kubectl")) found.push_back({release.path() / "kubectl"});
  }
  return found;
}

TEST(PodLogs, KubectlFailsImmediatelyAndPrintsWherePodsRun) {
  Fleet fleet;
  fleet.serve();
  fleet.kubectl_ok({"apply", "-f", "-"}, kWebTemplates);
  // kubectl waits for a pod of a workload for 20 s (logs) or a minute (exec). The limit is above the time for a
  // response and below these.
  const std::chrono::seconds limit{15};
  for (const KubectlRelease& kubectl : kubectls()) {
    for (const auto& arguments : std::vector<std::vector<std::string>>{{"logs", "deployment/web"},
                                                                       {"logs", "-f", "deployment/web"},
                                                                       {"logs", "single"},
                                                                       {"exec", "deployment/web", "--", "true"},
                                                                       {"exec", "single", "--", "true"},
                                                                       {"attach", "deployment/web"},
                                                                       {"attach", "single"},
                                                                       {"port-forward", "deployment/web", ":80"},
                                                                       {"port-forward", "service/web", ":80"}}) {
      std::vector<std::string> command = {kubectl.program, "--cache-dir=" + fleet.path("cache")};
      command.insert(command.end(), arguments.begin(), arguments.end());
      const Ran ran =
          run(command, {{"HOME", fleet.path("home")}, {"KUBECONFIG", fleet.kubeconfig("plane")}}, "", limit);
      EXPECT_EQ(ran.code, 1) << ran;
      if (kubectl.prints_messages) {
        EXPECT_TRUE(ran.says("member cluster")) << ran;
      }
    }
  }
}

TEST(PodLogs, OtherWatchesOfPodsAreServed) {
  Fleet fleet;
  fleet.serve();
  fleet.kubectl_ok({"apply", "-f", "-"}, kWebTemplates);
  const ApiClient api = fleet.api();
  const std::string pods = "/api/v1/namespaces/default/pods?watch=true&timeoutSeconds=1";
  EXPECT_EQ(api.get(pods + "&labelSelector=app%3Dweb").status, 404) << "the watch that kubectl logs waits on";
  EXPECT_EQ(api.get(pods).status, 200);
  EXPECT_EQ(api.get(pods + "&labelSelector=app%3Dother").status, 200) << "no template has such pods";
  EXPECT_EQ(api.get(pods + "&labelSelector=app%3Dweb&allowWatchBookmarks=true").status, 200) << "an informer";
  EXPECT_EQ(api.get("/api/v1/pods?watch=true&timeoutSeconds=1&labelSelector=app%3Dweb").status, 200);
}

}  // namespace
}  // namespace shiplog::e2e
