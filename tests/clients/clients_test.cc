// Real clients, each with a session script that runs against a control plane with one member. tests/clients/install.sh
// installs them (./dev test runs it). A missing client is skipped with a message on standard error, and fails if
// CI=true.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <gtest/gtest.h>

#include "tests/support/fleet.h"
#include "tests/support/impersonator.h"

namespace shiplog::e2e {
namespace {

const std::string kScripts = SHIPLOG_CLIENTS;
const std::string kInstalled = SHIPLOG_CLIENTS_INSTALLED;

bool runs(const std::vector<std::string>& command) { return run(command, {}, "", kPatience).ok(); }

bool all_clients_required() {
  const char* ci = std::getenv("CI");
  return ci != nullptr && std::string{ci} == "true";
}

class Clients : public ::testing::Test {
 protected:
  void start() {
    fleet_.serve();
    fleet_.join("member1");
  }
  Fleet& fleet() { return fleet_; }
  Environment environment() const {
    return {{"HOME", fleet_.path("home")},
            {"KUBECONFIG", fleet_.kubeconfig("plane")},
            {"MEMBER", "member1"},
            {"TMPDIR", fleet_.temporary()}};
  }
  void run_session(std::vector<std::string> command, const Environment& extra = {}) {
    start();
    ASSERT_FALSE(HasFailure());
    Environment variables = environment();
    variables.insert(extra.begin(), extra.end());
    const Ran ran = run(command, variables, "", std::chrono::minutes{5});
    EXPECT_TRUE(ran.ok()) << ran;
    // The last output of the script: a script that stops early without an error has not completed.
    EXPECT_TRUE(ran.says(": done")) << ran;
  }

 private:
  Fleet fleet_;
};

// Ends the test if the client is not installed.
#define SHIPLOG_NEED(available, name)                                                                \
  if (!(available)) {                                                                                \
    const std::string missing = std::string{name} + " is missing: tests/clients/install.sh gets it"; \
    if (all_clients_required()) FAIL() << missing;                                                   \
    std::cerr << "\nNOT TESTED: " << missing << "\n";                                                \
    GTEST_SKIP() << missing;                                                                         \
  }                                                                                                  \
  static_assert(true)

TEST_F(Clients, PythonSessionSucceeds) {
  SHIPLOG_NEED(runs({"/usr/bin/python3", "-c", "import kubernetes"}), "python3-kubernetes");
  run_session({"/usr/bin/python3", kScripts + "/python/session.py"});
}

TEST_F(Clients, KubectlOnThePathSessionSucceeds) {
  SHIPLOG_NEED(runs({"kubectl", "version", "--client"}), "kubectl");
  run_session({kScripts + "/kubectl/session.sh", "kubectl"});
}

TEST_F(Clients, DebiansKubectlSessionSucceeds) {
  const std::string kubectl = kInstalled + "/kubectl/usr/bin/kubectl";
  SHIPLOG_NEED(runs({kubectl, "version", "--client"}), "Debian's kubernetes-client");
  run_session({kScripts + "/kubectl/session.sh", kubectl});
}

std::vector<std::string> kubectl_releases() {
  std::vector<std::string> releases;
  std::ifstream file{kScripts + "/kubectl/releases.txt"};
  for (std::string line; std::getline(file, line);) releases.push_back(line);
  return releases;
}

/// $SHIPLOG_KUBECTLS: "newest" (if it is not set), "all", or releases.
bool is_selected(const std::string& release) {
  const char* variable = std::getenv("SHIPLOG_KUBECTLS");
  const std::string selection = variable == nullptr ? "newest" : variable;
  if (selection == "newest") return release == kubectl_releases().front();
  return selection == "all" || selection.find(release) != std::string::npos;
}

class KubectlReleases : public Clients, public ::testing::WithParamInterface<std::string> {};

TEST_P(KubectlReleases, SessionSucceeds) {
  const std::string kubectl = kInstalled + "/kubectls/" + GetParam() + "/kubectl";
  if (!is_selected(GetParam())) {
    std::cerr << "\nNOT TESTED: kubectl " << GetParam() << " is run with SHIPLOG_KUBECTLS=all ./dev test\n";
    GTEST_SKIP() << "kubectl " << GetParam() << " is run with SHIPLOG_KUBECTLS=all";
  }
  SHIPLOG_NEED(runs({kubectl, "version", "--client"}), "kubectl " + GetParam());
  run_session({kScripts + "/kubectl/session.sh", kubectl});
}

INSTANTIATE_TEST_SUITE_P(Releases, KubectlReleases, ::testing::ValuesIn(kubectl_releases()), [](const auto& release) {
  std::string name = release.param;
  std::ranges::replace(name, '.', '_');
  return name;
});

TEST_F(Clients, GoSessionWithEarlierLibrariesSucceeds) {
  const std::string session = kInstalled + "/go/session-earlier";
  const char* variable = std::getenv("SHIPLOG_KUBECTLS");
  if (variable == nullptr || std::string{variable} != "all") {
    std::cerr << "\nNOT TESTED: client-go 0.26 is run with SHIPLOG_KUBECTLS=all ./dev test\n";
    GTEST_SKIP() << "client-go 0.26 is run with SHIPLOG_KUBECTLS=all";
  }
  SHIPLOG_NEED(std::filesystem::exists(session), "the session of client-go 0.26");
  run_session({session});
}

TEST_F(Clients, GoSessionSucceeds) {
  const std::string session = kInstalled + "/go/session";
  SHIPLOG_NEED(std::filesystem::exists(session), "the session of client-go and controller-runtime");
  run_session({session});
}

std::string colored(const std::string& name, const std::string& colour) {
  return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name +
         ", namespace: default}\ndata: {colour: " + colour + "}\n";
}

TEST_F(Clients, GoInformersFollowAMemberThroughTheClusterProxy) {
  const std::string session = kInstalled + "/go/session";
  SHIPLOG_NEED(std::filesystem::exists(session), "the session of client-go and controller-runtime");
  start();
  const auto in_member = [&](const std::vector<std::string>& words, const std::string& input = {}) {
    fleet().kubectl_ok(words, input, "member1");
  };
  in_member({"apply", "-f", "-"}, kImpersonatesAnyone);
  in_member({"apply", "-f", "-"}, colored("first", "red"));
  const std::string log = fleet().path("informers.log");
  Process informers{{session, "proxied"}, environment(), log};
  const auto sees = [&](const std::string& what) {
    return eventually([&] { return read_file(log).find("go: " + what + "\n") != std::string::npos; });
  };
  ASSERT_TRUE(sees("the caches are filled")) << read_file(log);
  EXPECT_TRUE(sees("added configmap first red")) << read_file(log);
  in_member({"apply", "-f", "-"}, colored("second", "red"));
  EXPECT_TRUE(sees("added configmap second red")) << read_file(log);
  in_member({"apply", "-f", "-"}, colored("second", "blue"));
  EXPECT_TRUE(sees("changed configmap second blue")) << read_file(log);
  in_member({"delete", "configmap", "second"});
  EXPECT_TRUE(sees("deleted configmap second blue")) << read_file(log);
  in_member({"create", "deployment", "web", "--image=nginx", "--replicas=2"});
  EXPECT_TRUE(sees("added deployment web 2")) << read_file(log);
  in_member({"scale", "deployment", "web", "--replicas=3"});
  EXPECT_TRUE(sees("changed deployment web 3")) << read_file(log);

  // Restarted, a trial member keeps its identity only: its objects are gone, and its versions begin anew.
  std::string address =
      fleet().kubectl_ok({"config", "view", "-o", "jsonpath={.clusters[0].cluster.server}"}, {}, "member1");
  fleet().kill("member1");
  fleet().member("member1", {"--listen=" + address.substr(address.rfind('/') + 1)});
  in_member({"apply", "-f", "-"}, kImpersonatesAnyone);
  EXPECT_TRUE(sees("deleted configmap first red")) << read_file(log);
  EXPECT_TRUE(sees("deleted deployment web 3")) << read_file(log);
  in_member({"apply", "-f", "-"}, colored("third", "green"));
  EXPECT_TRUE(sees("added configmap third green")) << read_file(log);
  in_member({"apply", "-f", "-"}, colored("the-end", "black"));
  EXPECT_TRUE(sees("done")) << read_file(log);
  EXPECT_TRUE(eventually([&] { return !informers.running(); }));
}

TEST_F(Clients, NodeSessionSucceeds) {
  const std::string modules = kInstalled + "/node";
  SHIPLOG_NEED(
      runs({"node", "--version"}) && std::filesystem::exists(modules + "/node_modules/@kubernetes/client-node"),
      "@kubernetes/client-node");
  run_session({"node", kScripts + "/node/session.mjs"}, {{"CLIENT_MODULES", modules}});
}

}  // namespace
}  // namespace shiplog::e2e
