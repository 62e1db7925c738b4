#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// Lists of rules (tests/pipeline/rules.txt, tests/fleet/rules.txt), and what the tests cite of them.
namespace shiplog::rules {

/// A test that shows a rule.
struct Evidence {
  std::string file;  // from the root of the tree
  std::string test;  // "Suite.Name"
};

struct CitedRule {
  std::string number;              // "D-42" or "2.6.4"
  std::vector<std::string> codes;  // other codes of the same rule, of docs/reference: "TN-28"
  std::string words;
  std::vector<Evidence> tests;
  /// "": its tests show all of it; else "in part", "otherwise", "not served", "no test", "open", and why.
  std::string how, why;
  size_t line = 0;
};

/// The content of rules.txt. A line that cannot be read is a mistake, and so is a number that is missing or not known.
struct List {
  std::vector<CitedRule> rules;
  std::set<std::string> families;  // of its numbers: "D", "2.6"
  std::vector<std::string> mistakes;

  /// That have this number or code.
  std::vector<const CitedRule*> named(const std::string& number) const;
};
List read_rules(const std::string& text);

/// "Suite.Name" of each TEST, TEST_F and TEST_P of a source.
std::set<std::string> tests_in(std::string_view source);
/// The test with the comment above it, to the brace that ends it; empty: it is not there.
std::string_view text_of(std::string_view source, const std::string& test);

/// The text names the rule by its number or one of its codes: "D-42", "_D_42", "2.6.4", "_2_6_4", or a range of them.
bool refers_to(std::string_view text, const CitedRule& rule);

/// The numbers and codes of `list` that a test name cites: "D-42" and "D-45" of "Suite.TakesIt_D_42_to_D_45", "2.6.4"
/// of "Suite.Ends_2_6_4". Of a family that the list has, also those that it does not have.
std::vector<std::string> numbers_in(std::string_view test, const List& list);

enum class TestResult { kPassed, kFailed, kSkipped };
/// Of each "Suite.Name" in the log that ctest leaves behind; of several parameters the worst.
std::map<std::string, TestResult> outcomes_in(std::string_view log);

/// The content of a file of the tree; empty: it is not there.
using Source = std::function<std::string(const std::string& file)>;

/// One line a rule, and totals. A rule passes if all its tests ran, were not skipped, passed, and refer to it.
std::string report(const std::vector<CitedRule>& rules, const std::map<std::string, TestResult>& outcomes,
                   const Source& source);

}  // namespace shiplog::rules
