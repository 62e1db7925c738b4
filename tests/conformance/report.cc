// The report with one line for each rule, and a test that every rule of rules.txt has a test or a reason.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/support/process.h"

namespace shiplog::e2e {
namespace {

/// A line of rules.txt: NUMBER | LEVEL | DESCRIPTION [| NOTE: REASON].
struct ConformanceRule {
  std::string number, level, description;
  std::string note;    // "", "not served", "no test", "in part", "see" (a test elsewhere in the tree)
  std::string reason;  // of "see": FILE SUITE.NAME
  size_t line = 0;
};

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<ConformanceRule> read_rules() {
  std::vector<ConformanceRule> rules;
  std::istringstream file{read_file(SHIPLOG_CONFORMANCE_RULES)};
  std::string line;
  for (size_t number = 1; std::getline(file, line); ++number) {
    if (trimmed(line).empty() || line.starts_with('#')) continue;
    std::vector<std::string> parts;
    std::istringstream cut{line};
    for (std::string part; std::getline(cut, part, '|');) parts.push_back(trimmed(part));
    parts.resize(std::max<size_t>(parts.size(), 4));
    ConformanceRule rule{parts[0], parts[1], parts[2], "", "", number};
    if (const size_t colon = parts[3].find(':'); colon != std::string::npos) {
      rule.note = parts[3].substr(0, colon);
      rule.reason = trimmed(parts[3].substr(colon + 1));
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

const std::vector<ConformanceRule>& rules() {
  static const std::vector<ConformanceRule> all = read_rules();
  return all;
}

/// "LIST-4" for "LIST_04_label_selectors"; empty for other names.
std::string rule_of(const std::string& test) {
  const size_t first = test.find('_');
  if (first == std::string::npos) return "";
  size_t end = first + 1;
  while (end < test.size() && test[end] >= '0' && test[end] <= '9') ++end;
  if (end == first + 1) return "";
  return test.substr(0, first) + "-" + std::to_string(std::stoi(test.substr(first + 1, end - first - 1)));
}

struct RuleCounts {
  size_t tests = 0, run = 0, failed = 0;
};

/// Results of the tests of this program, by rule.
std::map<std::string, RuleCounts> counts() {
  std::map<std::string, RuleCounts> found;
  const auto& unit = *::testing::UnitTest::GetInstance();
  for (int suite = 0; suite < unit.total_test_suite_count(); ++suite) {
    const auto& tests = *unit.GetTestSuite(suite);
    for (int index = 0; index < tests.total_test_count(); ++index) {
      const auto& test = *tests.GetTestInfo(index);
      RuleCounts& rule = found[rule_of(test.name())];
      ++rule.tests;
      if (!test.should_run()) continue;
      ++rule.run;
      if (test.result()->Failed()) ++rule.failed;
    }
  }
  return found;
}

std::string outcome(const ConformanceRule& rule, const RuleCounts& counted) {
  if (counted.failed > 0) return "FAIL";
  if (counted.run > 0) return rule.note == "in part" ? "in part" : "pass";
  if (counted.tests > 0) return "not run";
  if (rule.note == "see") return "elsewhere";
  return rule.note.empty() ? "no test" : rule.note;
}

std::string report() {
  const auto counted = counts();
  std::map<std::string, size_t> totals;
  std::ostringstream text;
  for (const ConformanceRule& rule : rules()) {
    const auto found = counted.find(rule.number);
    const std::string result = outcome(rule, found == counted.end() ? RuleCounts{} : found->second);
    ++totals[result];
    std::string line = rule.number;
    line.resize(std::max<size_t>(line.size() + 1, 10), ' ');
    line += rule.level;
    line.resize(std::max<size_t>(line.size() + 1, 18), ' ');
    line += result;
    line.resize(std::max<size_t>(line.size() + 1, 30), ' ');
    line += rule.description;
    if (!rule.reason.empty() && (found == counted.end() || rule.note == "in part")) line += " (" + rule.reason + ")";
    text << line << '\n';
  }
  text << '\n' << rules().size() << " rules:";
  const char* separator = " ";
  for (const auto& [result, count] : totals) {
    text << separator << count << ' ' << result;
    separator = ", ";
  }
  text << '\n';
  return text.str();
}

/// Writes the report when all tests have ended, and prints failures and totals.
class Reporter final : public ::testing::EmptyTestEventListener {
  void OnTestProgramEnd(const ::testing::UnitTest&) override {
    const std::string text = report();
    std::ofstream{SHIPLOG_CONFORMANCE_REPORT} << text;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
      if (line.find(" FAIL ") != std::string::npos || line.find(" rules: ") != std::string::npos) {
        std::cout << line << '\n';
      }
    }
  }
};
const bool kReports = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(new Reporter);
  return true;
}();

TEST(Rules, EachHasATestOrAReason) {
  ASSERT_TRUE(kReports);
  const auto counted = counts();
  for (const ConformanceRule& rule : rules()) {
    const std::string where = "rules.txt:" + std::to_string(rule.line) + ": " + rule.number;
    const bool tested = counted.contains(rule.number);
    EXPECT_FALSE(rule.description.empty()) << where << " has no description";
    EXPECT_TRUE(tested || !rule.reason.empty()) << where << " has neither a test nor a reason";
    if (rule.note.empty()) continue;
    const bool partly = rule.note == "in part";
    EXPECT_TRUE(partly || rule.note == "not served" || rule.note == "no test" || rule.note == "see")
        << where << " " << rule.note;
    EXPECT_FALSE(tested && !partly && rule.note != "see") << where << " has a test: the reason is out of date";
    EXPECT_TRUE(tested || !partly) << where << " holds in part, but has no test";
  }
}

TEST(Rules, TestsAreNamedAfterExistingRules) {
  for (const auto& [number, counted] : counts()) {
    if (number.empty()) continue;  // the tests of this file
    EXPECT_TRUE(std::ranges::any_of(rules(), [&](const ConformanceRule& rule) { return rule.number == number; }))
        << number << " is not in rules.txt";
  }
  for (size_t index = 1; index < rules().size(); ++index) {
    const auto before = rules().begin() + static_cast<std::ptrdiff_t>(index);
    EXPECT_TRUE(std::none_of(rules().begin(), before,
                             [&](const ConformanceRule& rule) { return rule.number == before->number; }))
        << before->number << " is listed twice";
  }
}

TEST(Rules, TestsInOtherFoldersExist) {
  for (const ConformanceRule& rule : rules()) {
    if (rule.note != "see") continue;
    const size_t space = rule.reason.find(' ');
    const size_t dot = rule.reason.rfind('.');
    ASSERT_TRUE(space != std::string::npos && dot > space) << rule.number << ": " << rule.reason;
    const std::string named =
        "(" + rule.reason.substr(space + 1, dot - space - 1) + ", " + rule.reason.substr(dot + 1) + ")";
    const std::string file = read_file(SHIPLOG_SOURCE_DIR "/" + rule.reason.substr(0, space));
    EXPECT_TRUE(file.find("TEST" + named) != std::string::npos || file.find("TEST_F" + named) != std::string::npos)
        << rule.number << ": there is no TEST or TEST_F " << named << " in " << rule.reason.substr(0, space);
  }
}

}  // namespace
}  // namespace shiplog::e2e
