// Which rules hold: one line a rule, and a test that no rule of rules.txt is passed over in silence.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/support/process.h"

namespace shiplog::e2e {
namespace {

/// A line of rules.txt: NUMBER | LEVEL | WORDS [| HOW: WHY].
struct Rule {
  std::string number, level, words;
  std::string how;  // "", "not served", "no test", "in part", "see" (a test elsewhere in the tree)
  std::string why;  // of "see": FILE SUITE.NAME
  size_t line = 0;
};

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<Rule> read_rules() {
  std::vector<Rule> rules;
  std::istringstream file{read_file(SHIPLOG_CONFORMANCE_RULES)};
  std::string line;
  for (size_t number = 1; std::getline(file, line); ++number) {
    if (trimmed(line).empty() || line.starts_with('#')) continue;
    std::vector<std::string> parts;
    std::istringstream cut{line};
    for (std::string part; std::getline(cut, part, '|');) parts.push_back(trimmed(part));
    parts.resize(std::max<size_t>(parts.size(), 4));
    Rule rule{parts[0], parts[1], parts[2], "", "", number};
    if (const size_t colon = parts[3].find(':'); colon != std::string::npos) {
      rule.how = parts[3].substr(0, colon);
      rule.why = trimmed(parts[3].substr(colon + 1));
    }
    rules.push_back(std::move(rule));
  }
  return rules;
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> all = read_rules();
  return all;
}

/// "LIST-4" of "LIST_04_label_selectors"; empty: the name begins otherwise.
std::string rule_of(const std::string& test) {
  const size_t first = test.find('_');
  if (first == std::string::npos) return "";
  size_t end = first + 1;
  while (end < test.size() && test[end] >= '0' && test[end] <= '9') ++end;
  if (end == first + 1) return "";
  return test.substr(0, first) + "-" + std::to_string(std::stoi(test.substr(first + 1, end - first - 1)));
}

struct Counts {
  size_t tests = 0, run = 0, failed = 0;
};

/// Of the tests of this program, by rule.
std::map<std::string, Counts> counts() {
  std::map<std::string, Counts> found;
  const auto& unit = *::testing::UnitTest::GetInstance();
  for (int suite = 0; suite < unit.total_test_suite_count(); ++suite) {
    const auto& tests = *unit.GetTestSuite(suite);
    for (int index = 0; index < tests.total_test_count(); ++index) {
      const auto& test = *tests.GetTestInfo(index);
      Counts& rule = found[rule_of(test.name())];
      ++rule.tests;
      if (!test.should_run()) continue;
      ++rule.run;
      if (test.result()->Failed()) ++rule.failed;
    }
  }
  return found;
}

std::string outcome(const Rule& rule, const Counts& counted) {
  if (counted.failed > 0) return "FAIL";
  if (counted.run > 0) return rule.how == "in part" ? "in part" : "pass";
  if (counted.tests > 0) return "not run";
  if (rule.how == "see") return "elsewhere";
  return rule.how.empty() ? "no test" : rule.how;
}

std::string report() {
  const auto counted = counts();
  std::map<std::string, size_t> totals;
  std::ostringstream text;
  for (const Rule& rule : rules()) {
    const auto at = counted.find(rule.number);
    const std::string result = outcome(rule, at == counted.end() ? Counts{} : at->second);
    ++totals[result];
    std::string line = rule.number;
    line.resize(std::max<size_t>(line.size() + 1, 10), ' ');
    line += rule.level;
    line.resize(std::max<size_t>(line.size() + 1, 18), ' ');
    line += result;
    line.resize(std::max<size_t>(line.size() + 1, 30), ' ');
    line += rule.words;
    if (!rule.why.empty() && (at == counted.end() || rule.how == "in part")) line += " (" + rule.why + ")";
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

/// Writes the report when all tests have ended, and prints what is not as it should be.
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

TEST(Rules, EachHasATestOrSaysWhyNot) {
  ASSERT_TRUE(kReports);
  const auto counted = counts();
  for (const Rule& rule : rules()) {
    const std::string where = "rules.txt:" + std::to_string(rule.line) + ": " + rule.number;
    const bool tested = counted.contains(rule.number);
    EXPECT_FALSE(rule.words.empty()) << where << " says nothing";
    EXPECT_TRUE(tested || !rule.why.empty()) << where << " has neither a test nor a reason";
    if (rule.how.empty()) continue;
    const bool partly = rule.how == "in part";
    EXPECT_TRUE(partly || rule.how == "not served" || rule.how == "no test" || rule.how == "see")
        << where << " " << rule.how;
    EXPECT_FALSE(tested && !partly && rule.how != "see") << where << " has a test: the reason is out of date";
    EXPECT_TRUE(tested || !partly) << where << " holds in part, but no test says which";
  }
}

TEST(Rules, TestsAreNamedAfterRulesThatThereAre) {
  for (const auto& [number, counted] : counts()) {
    if (number.empty()) continue;  // these here
    EXPECT_TRUE(std::ranges::any_of(rules(), [&](const Rule& rule) { return rule.number == number; }))
        << number << " is not in rules.txt";
  }
  for (size_t index = 1; index < rules().size(); ++index) {
    const auto before = rules().begin() + static_cast<std::ptrdiff_t>(index);
    EXPECT_TRUE(std::none_of(rules().begin(), before, [&](const Rule& one) { return one.number == before->number; }))
        << before->number << " stands twice";
  }
}

TEST(Rules, TestsElsewhereAreThere) {
  for (const Rule& rule : rules()) {
    if (rule.how != "see") continue;
    const size_t space = rule.why.find(' ');
    const size_t dot = rule.why.rfind('.');
    ASSERT_TRUE(space != std::string::npos && dot > space) << rule.number << ": " << rule.why;
    const std::string test =
        "TEST(" + rule.why.substr(space + 1, dot - space - 1) + ", " + rule.why.substr(dot + 1) + ")";
    EXPECT_NE(read_file(SHIPLOG_SOURCE_DIR "/" + rule.why.substr(0, space)).find(test), std::string::npos)
        << rule.number << ": there is no " << test << " in " << rule.why.substr(0, space);
  }
}

}  // namespace
}  // namespace shiplog::e2e
