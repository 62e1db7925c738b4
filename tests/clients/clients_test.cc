// Clients as their users have them, each with a script that does a day's work against a control plane with one member.
// tests/clients/install.sh gets them (./dev test runs it). One that is missing is skipped with a loud word; where CI is
// set it fails.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <gtest/gtest.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kScripts = SHIPLOG_CLIENTS;
const std::string kInstalled = SHIPLOG_CLIENTS_INSTALLED;

bool runs(const std::vector<std::string>& command) { return run(command, {}, "", kPatience).ok(); }

bool all_are_wanted() {
  const char* ci = std::getenv("CI");
  return ci != nullptr && std::string{ci} == "true";
}

class Clients : public ::testing::Test {
 protected:
  void spend_a_day(std::vector<std::string> command, const Environment& extra = {}) {
    fleet_.serve();
    fleet_.join("member1");
    ASSERT_FALSE(HasFailure());
    Environment environment{{"HOME", fleet_.path("home")},
                            {"KUBECONFIG", fleet_.kubeconfig("plane")},
                            {"MEMBER", "member1"},
                            {"TMPDIR", fleet_.temporary()}};
    environment.insert(extra.begin(), extra.end());
    const Ran ran = run(command, environment, "", std::chrono::minutes{5});
    EXPECT_TRUE(ran.ok()) << ran;
    // The script's own last words: a script that stopped half-way without an error has not been through.
    EXPECT_TRUE(ran.says(": done")) << ran;
  }

 private:
  Fleet fleet_;
};

// The test ends here when the client is not there.
#define SHIPLOG_NEED(there, what)                                                                    \
  if (!(there)) {                                                                                    \
    const std::string missing = std::string{what} + " is missing: tests/clients/install.sh gets it"; \
    if (all_are_wanted()) FAIL() << missing;                                                         \
    std::cerr << "\nNOT TESTED: " << missing << "\n";                                                \
    GTEST_SKIP() << missing;                                                                         \
  }                                                                                                  \
  static_assert(true)

TEST_F(Clients, PythonSpendsADay) {
  SHIPLOG_NEED(runs({"/usr/bin/python3", "-c", "import kubernetes"}), "python3-kubernetes");
  spend_a_day({"/usr/bin/python3", kScripts + "/python/session.py"});
}

TEST_F(Clients, TheKubectlOnThePathSpendsADay) {
  SHIPLOG_NEED(runs({"kubectl", "version", "--client"}), "kubectl");
  spend_a_day({kScripts + "/kubectl/session.sh", "kubectl"});
}

TEST_F(Clients, DebiansKubectlSpendsADay) {
  const std::string kubectl = kInstalled + "/kubectl/usr/bin/kubectl";
  SHIPLOG_NEED(runs({kubectl, "version", "--client"}), "Debian's kubernetes-client");
  spend_a_day({kScripts + "/kubectl/session.sh", kubectl});
}

std::vector<std::string> kubectl_releases() {
  std::vector<std::string> releases;
  std::ifstream file{kScripts + "/kubectl/releases.txt"};
  for (std::string line; std::getline(file, line);) releases.push_back(line);
  return releases;
}

/// $SHIPLOG_KUBECTLS: "newest" (if it is not set), "all", or releases.
bool is_asked_for(const std::string& release) {
  const char* asked = std::getenv("SHIPLOG_KUBECTLS");
  const std::string words = asked == nullptr ? "newest" : asked;
  if (words == "newest") return release == kubectl_releases().front();
  return words == "all" || words.find(release) != std::string::npos;
}

class Kubectl : public Clients, public ::testing::WithParamInterface<std::string> {};

TEST_P(Kubectl, SpendsADay) {
  const std::string kubectl = kInstalled + "/kubectls/" + GetParam() + "/kubectl";
  if (!is_asked_for(GetParam())) {
    std::cerr << "\nNOT TESTED: kubectl " << GetParam() << " is run with SHIPLOG_KUBECTLS=all ./dev test\n";
    GTEST_SKIP() << "kubectl " << GetParam() << " is run with SHIPLOG_KUBECTLS=all";
  }
  SHIPLOG_NEED(runs({kubectl, "version", "--client"}), "kubectl " + GetParam());
  spend_a_day({kScripts + "/kubectl/session.sh", kubectl});
}

INSTANTIATE_TEST_SUITE_P(Releases, Kubectl, ::testing::ValuesIn(kubectl_releases()), [](const auto& release) {
  std::string name = release.param;
  std::ranges::replace(name, '.', '_');
  return name;
});

TEST_F(Clients, GoSpendsADayWithEarlierLibraries) {
  const std::string session = kInstalled + "/go/session-earlier";
  const char* asked = std::getenv("SHIPLOG_KUBECTLS");
  if (asked == nullptr || std::string{asked} != "all") {
    std::cerr << "\nNOT TESTED: client-go 0.26 is run with SHIPLOG_KUBECTLS=all ./dev test\n";
    GTEST_SKIP() << "client-go 0.26 is run with SHIPLOG_KUBECTLS=all";
  }
  SHIPLOG_NEED(std::filesystem::exists(session), "the session of client-go 0.26");
  spend_a_day({session});
}

TEST_F(Clients, GoSpendsADay) {
  const std::string session = kInstalled + "/go/session";
  SHIPLOG_NEED(std::filesystem::exists(session), "the session of client-go and controller-runtime");
  spend_a_day({session});
}

TEST_F(Clients, NodeSpendsADay) {
  const std::string modules = kInstalled + "/node";
  SHIPLOG_NEED(
      runs({"node", "--version"}) && std::filesystem::exists(modules + "/node_modules/@kubernetes/client-node"),
      "@kubernetes/client-node");
  spend_a_day({"node", kScripts + "/node/session.mjs"}, {{"CLIENT_MODULES", modules}});
}

}  // namespace
}  // namespace shiplog::e2e
