// The table of commands of Karmada's command line (tests/clients/matrix) on fleets of push members, of pull members,
// and of both. With shiplogctl it runs always; with karmadactl, unmodified, when SHIPLOG_KARMADACTL names it.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

const std::string kSession = SHIPLOG_CLIENTS "/matrix/session.sh";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The folder of the newest kubectl that tests/clients/install.sh has built.
std::string newest_kubectl() {
  std::ifstream releases{SHIPLOG_CLIENTS "/kubectl/releases.txt"};
  std::string newest;
  std::getline(releases, newest);
  return SHIPLOG_CLIENTS_INSTALLED "/kubectls/" + newest;
}

struct Membership {
  const char* name;
  std::vector<std::string> push, pull;
  bool upstream_agent = false;
};
void PrintTo(const Membership& membership, std::ostream* out) { *out << membership.name; }

class CommandMatrix : public ::testing::Test {
 protected:
  void run_session(const std::string& program, const Membership& membership, Environment extra) {
    fleet_.serve();
    std::string push, pull;
    for (const std::string& member : membership.push) push += (push.empty() ? "" : " ") + member;
    for (const std::string& member : membership.pull) pull += (pull.empty() ? "" : " ") + member;
    for (const auto* members : {&membership.push, &membership.pull}) {
      for (const std::string& member : *members) fleet_.member(member);
    }
    ASSERT_FALSE(HasFailure());
    extra.insert({{"HOME", fleet_.path("home")},
                  {"KUBECONFIG", fleet_.kubeconfig("plane")},
                  {"FLEET", std::filesystem::path{fleet_.kubeconfig("plane")}.parent_path()},
                  {"PUSH", push},
                  {"PULL", pull},
                  {"SHIPLOGD", SHIPLOG_BUILT "/shiplogd"},
                  {"TMPDIR", fleet_.temporary()}});
    const Ran ran = run({kSession, program}, extra, "", std::chrono::minutes{10});
    EXPECT_TRUE(ran.ok()) << ran;
    // The last output of the script: a script that stops early without an error has not completed.
    EXPECT_TRUE(ran.says(": done")) << ran;
  }

 private:
  Fleet fleet_;
};

// shiplogctl runs kubectl for some commands: the newest one, whose messages the table has.
TEST_F(CommandMatrix, ShiplogctlOnAMixedFleet) {
  if (!std::filesystem::exists(newest_kubectl() + "/kubectl")) {
    const std::string missing = "the newest kubectl is missing: tests/clients/install.sh builds it";
    if (variable("CI") == "true") FAIL() << missing;
    std::cerr << "\nNOT TESTED: " << missing << "\n";
    GTEST_SKIP() << missing;
  }
  run_session(SHIPLOG_BUILT "/shiplogctl", {"mixed", {"member1"}, {"member2"}},
              {{"PATH", newest_kubectl() + ":" + variable("PATH")}});
}

class KarmadactlMatrix : public CommandMatrix, public ::testing::WithParamInterface<Membership> {};

TEST_P(KarmadactlMatrix, EveryCommandSucceeds) {
  const std::string program = variable("SHIPLOG_KARMADACTL");
  if (program.empty()) {
    std::cerr << "\nNOT TESTED: karmadactl is run with SHIPLOG_KARMADACTL=FILE ./dev test -L clients\n";
    GTEST_SKIP() << "karmadactl is run with SHIPLOG_KARMADACTL=FILE";
  }
  const std::string agent = variable("SHIPLOG_KARMADA_AGENT");
  if (GetParam().upstream_agent && agent.empty()) {
    std::cerr << "\nNOT TESTED: karmada-agent is run with SHIPLOG_KARMADA_AGENT=FILE beside SHIPLOG_KARMADACTL\n";
    GTEST_SKIP() << "karmada-agent is run with SHIPLOG_KARMADA_AGENT=FILE";
  }
  run_session(program, GetParam(), {{"AGENT", GetParam().upstream_agent ? agent : ""}});
}

INSTANTIATE_TEST_SUITE_P(Fleets, KarmadactlMatrix,
                         ::testing::Values(Membership{"Push", {"member1", "member2"}, {}},
                                           Membership{"Pull", {}, {"member1", "member2"}},
                                           Membership{"Mixed", {"member1"}, {"member2"}},
                                           Membership{"PullByKarmadaAgent", {}, {"member1", "member2"}, true},
                                           Membership{"MixedByKarmadaAgent", {"member1"}, {"member2"}, true}),
                         [](const auto& fleet) { return std::string{fleet.param.name}; });

}  // namespace
}  // namespace shiplog::e2e
