// Every flag and feature gate of docs/reference/upstream-flags.md, given to the program (8.4).
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/process.h"
#include "tests/support/test_directory.h"

namespace shiplog::e2e {
namespace {

/// A row of a table: its cells without the marks of code.
std::vector<std::vector<std::string>> rows(const std::string& begin) {
  std::ifstream file{SHIPLOG_SOURCE_DIR "/docs/reference/upstream-flags.md"};
  std::vector<std::vector<std::string>> all;
  std::string section;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) section = line.substr(3);
    if (section != begin || !line.starts_with("| `")) continue;
    std::vector<std::string> cells;
    for (size_t at = 2; at < line.size();) {
      const size_t end = line.find(" |", at);
      std::string cell = end < at ? "" : line.substr(at, end - at);
      std::erase(cell, '`');
      cells.push_back(std::move(cell));
      at = end + 3;
    }
    all.push_back(std::move(cells));
  }
  return all;
}

class UpstreamFlagsOfTheProgram : public ::testing::Test {
 protected:
  /// Ends because of the journal, unless an option is wrong before that.
  Ran serve(std::vector<std::string> options) {
    std::vector<std::string> command = {SHIPLOG_BUILT "/shiplogd", "serve", "--data-dir=" + folder_.file("data"),
                                        "--journal=" + kNoJournal};
    command.insert(command.end(), options.begin(), options.end());
    return run(command, {}, "", std::chrono::seconds{60});
  }
  static bool options_are_taken(const Ran& ran) { return ran.says(kNoJournal); }
  /// Ends because of the kubeconfig, unless an option is wrong before that.
  Ran estimator(std::vector<std::string> options) {
    std::vector<std::string> command = {SHIPLOG_BUILT "/shiplogd", "estimator", "--cluster-name=m1",
                                        "--kubeconfig=" + folder_.file(kNoKubeconfig)};
    command.insert(command.end(), options.begin(), options.end());
    return run(command, {}, "", std::chrono::seconds{60});
  }

  static inline const std::string kNoKubeconfig = "no-such-kubeconfig";
  static inline const std::string kNoJournal = "no-such-journal:anywhere";
  TestDirectory folder_{"flags"};
};

TEST_F(UpstreamFlagsOfTheProgram, TheirDefaultsAreTaken_8_4) {
  std::vector<std::string> words;
  std::vector<std::string> ignored;
  for (const auto& row : rows("Flags")) {
    ASSERT_EQ(row.size(), 4U) << row.front();
    const std::string& flag = row[0];
    const std::string& here = row[3];
    if (here.starts_with("refused")) continue;
    if (here.starts_with("no effect")) ignored.push_back(flag);
    if (row[1].empty() && here == "option") continue;  // its default is not to be given
    words.push_back(flag + "=" + (flag.ends_with("bind-address") ? "127.0.0.1:0" : row[1]));
  }
  EXPECT_GT(words.size(), 90U);
  const Ran ran = serve(words);
  EXPECT_TRUE(options_are_taken(ran)) << ran;
  for (const std::string& flag : ignored) EXPECT_TRUE(ran.says(flag + " has no effect: ")) << flag << "\n" << ran;
}

TEST_F(UpstreamFlagsOfTheProgram, WhatIsAnOptionIsInTheHelp_8_4) {
  const Ran help = run({SHIPLOG_BUILT "/shiplogd", "serve", "--help"}, {}, "", std::chrono::seconds{60});
  for (const auto& row : rows("Flags")) {
    EXPECT_EQ(help.says(row[0] + " ") || help.says(row[0] + "\n"), row[3] == "option") << row[0];
  }
}

TEST_F(UpstreamFlagsOfTheProgram, WhatIsRefusedHasAnExplanation_8_4) {
  int refused = 0;
  for (const auto& row : rows("Flags")) {
    if (row[3].starts_with("refused: ")) {
      const Ran ran = serve({row[0] + "=" + row[1]});
      EXPECT_EQ(ran.code, 2);
      EXPECT_TRUE(ran.says(row[0] + ": " + row[3].substr(9))) << ran;
      ++refused;
    } else if (row[3].starts_with("always ")) {
      const Ran ran = serve({row[0] + "=" + (row[1] == "true" ? "false" : "77s")});
      EXPECT_EQ(ran.code, 2);
      EXPECT_TRUE(ran.says(row[0] + ": it is always " + row[1] + " here")) << ran;
      ++refused;
    }
  }
  EXPECT_GT(refused, 15);
}

TEST_F(UpstreamFlagsOfTheProgram, OfTheEstimatorAreTakenWithTheirDefaults_8_4_7) {
  const Ran help = run({SHIPLOG_BUILT "/shiplogd", "estimator", "--help"}, {}, "", std::chrono::seconds{60});
  std::vector<std::string> words;
  std::vector<std::string> ignored;
  for (const auto& row : rows("Flags of the estimator")) {
    ASSERT_EQ(row.size(), 3U) << row.front();
    const bool option = row[2] == "option";
    EXPECT_EQ(help.says(row[0] + " ") || help.says(row[0] + "\n"), option) << row[0];
    if (!option) ignored.push_back(row[0]);
    if (option && row[1].empty()) continue;  // its default is not to be given
    words.push_back(row[0] + "=" + (row[0].ends_with("bind-address") ? "127.0.0.1:0" : row[1]));
  }
  EXPECT_GE(words.size(), 30U);
  const Ran ran = estimator(words);
  EXPECT_TRUE(ran.says(kNoKubeconfig)) << ran;
  for (const std::string& flag : ignored) EXPECT_TRUE(ran.says(flag + " has no effect: ")) << flag << "\n" << ran;

  EXPECT_TRUE(estimator({"--server_port=10352", "--master="}).says(kNoKubeconfig));
  for (const char* wrong : {"--server-port=0", "--server-port=70000", "--feature-gates=Teleportation=true"}) {
    const Ran refused = estimator({wrong});
    EXPECT_EQ(refused.code, 2) << wrong;
    EXPECT_FALSE(refused.says(kNoKubeconfig)) << refused;
  }
}

TEST_F(UpstreamFlagsOfTheProgram, GatesAreTakenWithTheirDefaults_0_1) {
  std::string gates;
  for (const auto& row : rows("Feature gates")) {
    ASSERT_EQ(row.size(), 3U);
    gates += (gates.empty() ? "" : ",") + row[0] + "=" + row[1];
    const std::string other = row[1] == "true" ? "false" : "true";
    const Ran ran = serve({"--feature-gates=" + row[0] + "=" + other});
    EXPECT_EQ(options_are_taken(ran), !row[2].starts_with("always")) << ran;
    EXPECT_EQ(ran.says(row[0] + "=" + other + " has no effect") || ran.says(row[0] + " has no effect"),
              row[2].find("no effect") != std::string::npos)
        << ran;
  }
  EXPECT_TRUE(options_are_taken(serve({"--feature-gates=" + gates}))) << gates;
}

TEST_F(UpstreamFlagsOfTheProgram, NamesMayHaveUnderscores_8_4) {
  const Ran ran = serve({"--kube_api_qps=50", "--log_dir=/var/log", "--skip_headers", "-v", "4"});
  EXPECT_TRUE(options_are_taken(ran)) << ran;
  EXPECT_TRUE(ran.says("--log-dir has no effect")) << ran;
}

TEST_F(UpstreamFlagsOfTheProgram, ControllersThatAreAlwaysOnMayBeNamed_8_4_3) {
  for (const char* taken : {"*,binding,gracefulEviction", "*,-multiclusterservice,-federatedHorizontalPodAutoscaler",
                            "*,descheduler", "*,-hpaScaleTargetMarker"}) {
    EXPECT_TRUE(options_are_taken(serve({"--controllers=" + std::string{taken}}))) << taken;
  }
  EXPECT_TRUE(serve({"--controllers=*,-binding"}).says("\"-binding\" cannot be switched on or off"));
  EXPECT_TRUE(serve({"--controllers=*,bindings"}).says("\"bindings\" cannot be switched on or off"));
}

TEST_F(UpstreamFlagsOfTheProgram, ATimeoutIsADurationOrMilliseconds_8_4_5) {
  for (const char* taken : {"3s", "2000", "1m30s", "500ms"}) {
    EXPECT_TRUE(options_are_taken(serve({"--scheduler-estimator-timeout=" + std::string{taken}}))) << taken;
  }
  for (const char* wrong : {"0", "-1s", "soon", ""}) {
    EXPECT_FALSE(options_are_taken(serve({"--scheduler-estimator-timeout=" + std::string{wrong}}))) << wrong;
  }
}

}  // namespace
}  // namespace shiplog::e2e
