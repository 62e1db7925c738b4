#include "services/programs/shiplogd/upstream_flags.h"

#include <fstream>
#include <map>
#include <set>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

namespace shiplog {
namespace {

using Treatment = UpstreamFlag::Treatment;

std::string written(const UpstreamFlag& flag) {
  switch (flag.treatment) {
    case Treatment::kIgnored:
      return "no effect: " + flag.why;
    case Treatment::kFixed:
      return "always `" + flag.why + "`";
    case Treatment::kRefused:
      return "refused: " + flag.why;
  }
  return "";
}

/// The last column of a table of docs/reference/upstream-flags.md by flag, without those that are options.
std::map<std::string, std::string> documented(const std::string& wanted) {
  std::ifstream file{SHIPLOG_SOURCE_DIR "/docs/reference/upstream-flags.md"};
  std::map<std::string, std::string> rows;
  std::string section;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) section = line.substr(3);
    if (section != wanted || !line.starts_with("| `--")) continue;
    const size_t last = line.rfind(" | ", line.size() - 3);
    const std::string here = line.substr(last + 3, line.size() - last - 5);
    if (here != "option") rows[line.substr(5, line.find('`', 5) - 5)] = here;
  }
  return rows;
}

struct Parsed {
  Result<void> checked = ok();
  std::vector<std::string> warnings;
};
Parsed parse(std::vector<std::string> words, UpstreamPrograms programs = UpstreamPrograms::kControlPlane) {
  CLI::App app;
  UpstreamFlags flags{programs, {}};
  add_upstream_flags(app, flags);
  std::reverse(words.begin(), words.end());
  app.parse(words);
  Parsed parsed;
  parsed.checked = check_upstream_flags(app, flags, parsed.warnings);
  return parsed;
}

TEST(UpstreamFlags, TheDocumentListsThemAll_8_4) {
  using Section = std::pair<UpstreamPrograms, const char*>;
  for (const auto& [programs, section] : {Section{UpstreamPrograms::kControlPlane, "Flags"},
                                          Section{UpstreamPrograms::kEstimator, "Flags of the estimator"},
                                          Section{UpstreamPrograms::kAgent, "Flags of the agent"}}) {
    std::map<std::string, std::string> known;
    for (const UpstreamFlag& flag : upstream_flags(programs)) {
      EXPECT_TRUE(known.emplace(flag.name, written(flag)).second) << flag.name << " is listed twice";
    }
    EXPECT_EQ(known, documented(section));
    EXPECT_GT(known.size(), programs == UpstreamPrograms::kControlPlane ? 80U : 20U);
  }
}

TEST(UpstreamFlags, TheEstimatorTakesThoseOfItsProgramOnly_8_4_7) {
  const Parsed parsed = parse({"--parallelism=8", "--kube-api-qps=20"}, UpstreamPrograms::kEstimator);
  EXPECT_TRUE(parsed.checked);
  EXPECT_EQ(parsed.warnings.size(), 2U);
  EXPECT_THROW(parse({"--leader-elect"}, UpstreamPrograms::kEstimator), CLI::ParseError);
  EXPECT_THROW(parse({"--parallelism=8"}), CLI::ParseError);
}

TEST(UpstreamFlags, EachIsTreatedAsListed_8_4) {
  for (const UpstreamFlag& flag : upstream_flags(UpstreamPrograms::kControlPlane)) {
    const std::string word = "--" + flag.name;
    if (flag.treatment == Treatment::kIgnored) {
      const Parsed parsed = parse({word + "=true"});
      EXPECT_TRUE(parsed.checked) << flag.name;
      EXPECT_EQ(parsed.warnings, std::vector<std::string>{word + " has no effect: " + flag.why});
    } else if (flag.treatment == Treatment::kFixed) {
      const Parsed same = parse({word + "=" + flag.why});
      EXPECT_TRUE(same.checked) << flag.name;
      EXPECT_EQ(same.warnings, std::vector<std::string>{}) << flag.name;
      const Parsed other = parse({word + "=" + (flag.why == "true" ? "false" : "77s")});
      ASSERT_FALSE(other.checked) << flag.name;
      EXPECT_EQ(other.checked.error().message, word + ": it is always " + flag.why + " here; leave it out");
    } else {
      const Parsed parsed = parse({word + "=true"});
      ASSERT_FALSE(parsed.checked) << flag.name;
      EXPECT_EQ(parsed.checked.error().message, word + ": " + flag.why);
    }
  }
}

TEST(UpstreamFlags, ADurationMayBeWrittenInAnotherWay_8_4) {
  EXPECT_TRUE(parse({"--cluster-success-threshold=0.5m"}).checked);
  EXPECT_TRUE(parse({"--cluster-failure-threshold", "0m30s"}).checked);
  EXPECT_TRUE(parse({"-v", "4", "--leader-elect"}).checked) << "also a short name, and a switch without a value";
  EXPECT_TRUE(parse({}).warnings.empty());
}

TEST(UpstreamFlags, AValueMayBeEmpty_8_4) {
  const Parsed parsed = parse({"--master=", "--kubeconfig=", "--kube-api-qps", "5"});
  EXPECT_TRUE(parsed.checked);
  EXPECT_EQ(parsed.warnings.size(), 3U);
  EXPECT_FALSE(parse({"--cluster-provider=", "--v=1"}).checked);
}

}  // namespace
}  // namespace shiplog
