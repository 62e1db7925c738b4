// Clients as their users have them, each with a script that does a day's work against a control plane with one member.
// tests/clients/install.sh gets them (./dev test runs it). One that is missing is skipped with a loud word; where CI is
// set it fails.
#include <chrono>
#include <cstdlib>
#include <filesystem>
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
