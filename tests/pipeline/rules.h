#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// The list of the pipeline's rules, and what the tests cite of them.
namespace shiplog::pipeline {

/// A test that shows a rule.
struct Evidence {
  std::string file;  // from the root of the tree
  std::string test;  // "Suite.Name"
};

struct CitedRule {
  std::string number, words;
  std::vector<Evidence> tests;
  std::string how, why;  // "": its tests show all of it; else "in part", "otherwise", "not served", "no test", and why
  size_t line = 0;
};

/// The content of rules.txt. A line that cannot be read is a mistake, and so is a number that is missing or not known.
struct List {
  std::vector<CitedRule> rules;
  std::vector<std::string> mistakes;
};
List read_rules(const std::string& text);

/// "Suite.Name" of each TEST, TEST_F and TEST_P of a source.
std::set<std::string> tests_in(std::string_view source);
/// From the macro of the test to the next one; empty: it is not there.
std::string_view text_of(std::string_view source, const std::string& test);

/// "D-42" and "D-45" of "Suite.TakesIt_D_42_to_D_45": the rules that a test name cites.
std::vector<std::string> numbers_in(std::string_view test);

enum class TestResult { kPassed, kFailed, kSkipped };
/// Of each "Suite.Name" in the log that ctest leaves behind; of several parameters the worst.
std::map<std::string, TestResult> outcomes_in(std::string_view log);

/// One line a rule, and totals.
std::string report(const std::vector<CitedRule>& rules, const std::map<std::string, TestResult>& outcomes);

}  // namespace shiplog::pipeline
