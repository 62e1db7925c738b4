#include "tests/rules/rules.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <sstream>

namespace shiplog::rules {
namespace {

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  return std::string{text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1)};
}

std::vector<std::string> cut(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(at);
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool is_number(const std::string& text) { return !text.empty() && std::ranges::all_of(text, ::isdigit); }

/// "FILE SUITE.NAME, SUITE.NAME; FILE SUITE.NAME".
bool read_tests(const std::string& text, std::vector<Evidence>& tests) {
  for (const std::string& one : cut(text, ';')) {
    const size_t space = one.find(' ');
    if (space == std::string::npos) return false;
    for (const std::string& test : cut(std::string_view{one}.substr(space), ',')) {
      if (std::ranges::count(test, '.') != 1 || test.find(' ') != std::string::npos) return false;
      tests.push_back({one.substr(0, space), test});
    }
  }
  return true;
}

/// It has tests, and a remark.
bool partly(const CitedRule& rule) { return rule.how == "in part" || rule.how == "otherwise"; }

/// "in part: WHY" and the like.
bool read_how(const std::string& text, CitedRule& rule) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return false;
  rule.how = trimmed(std::string_view{text}.substr(0, colon));
  rule.why = trimmed(std::string_view{text}.substr(colon + 1));
  const bool known = partly(rule) || rule.how == "not served" || rule.how == "no test" || rule.how == "open";
  return known && !rule.why.empty();
}

/// Empty: the line is a rule.
std::string read_rule(const std::string& line, CitedRule& rule) {
  const auto parts = cut(line, '|');
  if (parts.size() < 3 || parts.size() > 4) return "is not NUMBER | WORDS | TESTS [| in part: WHY]";
  rule.codes = cut(parts[0], ' ');
  std::erase(rule.codes, "");
  if (rule.codes.empty()) return "has no number";
  rule.number = rule.codes.front();
  rule.codes.erase(rule.codes.begin());
  rule.words = parts[1];
  if (rule.words.empty()) return "says nothing";
  if (parts.size() == 3 && read_how(parts[2], rule)) {
    return partly(rule) ? "holds in part or otherwise, but no test shows how" : "";
  }
  rule.how = rule.why = "";
  if (!read_tests(parts[2], rule.tests)) return "names no test as FILE SUITE.NAME, and gives no reason";
  if (parts.size() == 4 && (!read_how(parts[3], rule) || !partly(rule))) return "ends otherwise than \"in part: WHY\"";
  return "";
}

/// "D-" of the family "D", "2.6." of "2.6".
std::string before_number(const std::string& family) {
  return family + (std::isdigit(static_cast<unsigned char>(family.back())) != 0 ? "." : "-");
}

/// The numbers of "D 48": D-1 to D-48.
std::vector<std::string> numbers_of(const std::string& declared, std::set<std::string>& families) {
  const auto words = cut(declared, ' ');
  if (words.size() != 2 || words[0].empty() || !is_number(words[1])) return {};
  families.insert(words[0]);
  std::vector<std::string> numbers;
  for (int at = 1; at <= std::stoi(words[1]); ++at) numbers.push_back(before_number(words[0]) + std::to_string(at));
  return numbers;
}

void compare(const std::vector<std::string>& declared, List& list) {
  for (const std::string& number : declared) {
    const auto count = std::ranges::count(list.rules, number, &CitedRule::number);
    if (count == 0) list.mistakes.push_back(number + " has no line");
    if (count > 1) list.mistakes.push_back(number + " stands twice");
  }
  for (const CitedRule& rule : list.rules) {
    if (std::ranges::find(declared, rule.number) == declared.end()) {
      list.mistakes.push_back("line " + std::to_string(rule.line) + ": there is no rule " + rule.number);
    }
  }
}

bool name_part(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

struct CitedTest {
  size_t at = 0;
  std::string test;
};

std::string next_word(std::string_view source, size_t& at) {
  while (at < source.size() && std::isspace(static_cast<unsigned char>(source[at])) != 0) ++at;
  const size_t begin = at;
  while (at < source.size() && name_part(source[at])) ++at;
  return std::string{source.substr(begin, at - begin)};
}

std::vector<CitedTest> all_tests(std::string_view source) {
  std::vector<CitedTest> found;
  for (size_t at = source.find("TEST"); at != std::string_view::npos; at = source.find("TEST", at + 1)) {
    if (at > 0 && source[at - 1] != '\n') continue;  // in a comment, or part of another word
    size_t next = at;
    const std::string macro = next_word(source, next);
    if (macro != "TEST" && macro != "TEST_F" && macro != "TEST_P") continue;
    if (next >= source.size() || source[next++] != '(') continue;
    const std::string suite = next_word(source, next);
    if (next >= source.size() || source[next++] != ',') continue;
    found.push_back({at, suite + "." + next_word(source, next)});
  }
  return found;
}

/// A number or code that a text names at `at`, with "-" or "." between its parts; empty: none.
struct NamedNumber {
  std::string family;
  int number = 0;
  size_t end = 0;
};
std::optional<NamedNumber> number_at(std::string_view text, size_t at) {
  const auto digits = [&](size_t from) {
    size_t end = from;
    while (end < text.size() && end - from < 4 && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    return end;
  };
  size_t end = at;
  if (std::isupper(static_cast<unsigned char>(text[at])) != 0) {
    while (end < text.size() && std::isupper(static_cast<unsigned char>(text[end])) != 0) ++end;
    if (end == text.size() || (text[end] != '-' && text[end] != '_')) return std::nullopt;
    const size_t last = digits(end + 1);
    if (last == end + 1) return std::nullopt;
    return NamedNumber{std::string{text.substr(at, end - at)},
                       std::stoi(std::string{text.substr(end + 1, last - end - 1)}), last};
  }
  std::vector<std::string> parts;
  char separator = 0;
  for (size_t from = at; parts.size() < 3; from = end + 1) {
    end = digits(from);
    if (end == from) return std::nullopt;
    parts.emplace_back(text.substr(from, end - from));
    if (parts.size() == 3) break;
    if (end == text.size() || (text[end] != '.' && text[end] != '_')) return std::nullopt;
    if (separator != 0 && text[end] != separator) return std::nullopt;
    separator = text[end];
  }
  return NamedNumber{parts[0] + "." + parts[1], std::stoi(parts[2]), end};
}

/// All that a text names, as "D-42" and "2.6.4"; of "D-37 to D-39" and "D_37_to_D_39" also what is between.
std::set<std::string> numbers_named(std::string_view text) {
  std::set<std::string> named;
  std::optional<NamedNumber> before;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool begins =
        at == 0 || (!name_part(text[at - 1]) && text[at - 1] != '.' && text[at - 1] != '-') || (text[at - 1] == '_');
    if (!begins) continue;
    const auto found = number_at(text, at);
    if (!found) continue;
    int from = found->number;
    if (before && before->family == found->family) {
      const std::string_view between = text.substr(before->end, at - before->end);
      if (between == " to " || between == "_to_") from = before->number;
    }
    for (int number = from; number <= found->number; ++number) {
      named.insert(before_number(found->family) + std::to_string(number));
    }
    before = found;
    at = found->end - 1;
  }
  return named;
}

/// "Suite.Name" of "Prefix/Suite.Name/parameter".
std::string plain(std::string_view test) {
  const size_t dot = test.find('.');
  if (dot == std::string_view::npos) return "";
  const size_t prefix = test.rfind('/', dot);
  const size_t suffix = test.find('/', dot);
  const size_t begin = prefix == std::string_view::npos ? 0 : prefix + 1;
  return std::string{test.substr(begin, suffix == std::string_view::npos ? suffix : suffix - begin)};
}

void note(std::map<std::string, TestResult>& outcomes, const std::string& test, TestResult outcome) {
  if (test.empty()) return;
  const auto [known, is_new] = outcomes.emplace(test, outcome);
  if (is_new || known->second == TestResult::kFailed) return;
  if (outcome != TestResult::kPassed) known->second = outcome;
}

struct RuleResult {
  std::string result;
  std::vector<std::string> causes;  // of one that is not as the list claims
};

RuleResult result_of(const CitedRule& rule, const std::map<std::string, TestResult>& outcomes, const Source& source) {
  if (rule.tests.empty()) return {rule.how, {}};
  RuleResult found{rule.how.empty() ? "pass" : rule.how, {}};
  bool failed = false;
  for (const Evidence& one : rule.tests) {
    const std::string name = one.file + " " + one.test;
    const auto outcome = outcomes.find(one.test);
    if (outcome == outcomes.end()) {
      found.causes.push_back("not run: " + name);
    } else if (outcome->second == TestResult::kSkipped) {
      found.causes.push_back("skipped: " + name);
    } else if (outcome->second == TestResult::kFailed) {
      failed = true;
      found.causes.push_back("failed: " + name);
    }
    if (!refers_to(text_of(source(one.file), one.test), rule)) {
      found.causes.push_back("does not refer to the rule: " + name);
    }
  }
  if (!found.causes.empty()) found.result = failed ? "FAIL" : "not shown";
  return found;
}

void pad(std::string& line, size_t width) { line.resize(std::max(line.size() + 1, width), ' '); }

}  // namespace

List read_rules(const std::string& text) {
  List list;
  std::vector<std::string> declared;
  std::istringstream file{text};
  std::string line;
  std::string next;
  size_t number = 0;
  const auto finish = [&](size_t last) {
    if (line.empty()) return;
    if (line.starts_with("numbers:")) {
      for (const std::string& one : cut(std::string_view{line}.substr(8), ',')) {
        for (std::string& each : numbers_of(one, list.families)) declared.push_back(std::move(each));
      }
    } else {
      CitedRule rule;
      rule.line = last;
      const std::string mistake = read_rule(line, rule);
      if (!mistake.empty()) list.mistakes.push_back("line " + std::to_string(last) + " " + mistake + ": " + line);
      if (!rule.number.empty()) list.rules.push_back(std::move(rule));
    }
    line.clear();
  };
  size_t begun = 0;
  while (std::getline(file, next)) {
    ++number;
    if (trimmed(next).empty() || next.starts_with('#')) continue;
    if (next.front() == ' ') {  // goes on
      line += " " + trimmed(next);
      continue;
    }
    finish(begun);
    line = trimmed(next);
    begun = number;
  }
  finish(begun);
  compare(declared, list);
  return list;
}

std::set<std::string> tests_in(std::string_view source) {
  std::set<std::string> tests;
  for (CitedTest& one : all_tests(source)) tests.insert(std::move(one.test));
  return tests;
}

std::string_view text_of(std::string_view source, const std::string& test) {
  const auto found = all_tests(source);
  const auto at = std::ranges::find(found, test, &CitedTest::test);
  if (at == found.end()) return {};
  size_t begin = at->at;
  while (begin > 1) {  // the comment above
    const size_t line = source.rfind('\n', begin - 2) + 1;
    if (!source.substr(line).starts_with("//")) break;
    begin = line;
  }
  const size_t end = source.find("\n}", at->at);
  return source.substr(begin, end == std::string_view::npos ? end : end + 3 - begin);
}

bool refers_to(std::string_view text, const CitedRule& rule) {
  const auto named = numbers_named(text);
  return named.contains(rule.number) ||
         std::ranges::any_of(rule.codes, [&](const std::string& code) { return named.contains(code); });
}

std::vector<const CitedRule*> List::named(const std::string& number) const {
  std::vector<const CitedRule*> found;
  for (const CitedRule& rule : rules) {
    if (rule.number == number || std::ranges::find(rule.codes, number) != rule.codes.end()) found.push_back(&rule);
  }
  return found;
}

std::vector<std::string> numbers_in(std::string_view test, const List& list) {
  const auto words = cut(test.substr(test.find('.') + 1), '_');
  const auto digits_of = [&](size_t at) {
    return at < words.size() ? words[at].substr(0, words[at].find_first_not_of("0123456789")) : "";
  };
  std::vector<std::string> numbers;
  for (size_t at = 1; at + 1 < words.size(); ++at) {
    const std::string letters = words[at] + "-" + digits_of(at + 1);
    const std::string family = words[at] + "." + digits_of(at + 1);
    if (is_number(digits_of(at + 1)) && (list.families.contains(words[at]) || !list.named(letters).empty())) {
      numbers.push_back(letters);
    } else if (list.families.contains(family) && is_number(digits_of(at + 2))) {
      numbers.push_back(family + "." + digits_of(at + 2));
      at += 2;
    }
  }
  return numbers;
}

std::map<std::string, TestResult> outcomes_in(std::string_view log) {
  std::map<std::string, TestResult> outcomes;
  std::string running;  // it has begun, and no end is given
  const auto died = [&] {
    note(outcomes, running, TestResult::kFailed);
    running.clear();
  };
  while (!log.empty()) {
    const size_t end = std::min(log.find('\n'), log.size());
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(std::min(end + 1, log.size()));
    // What a test prints without a line's end stands before it.
    const auto told = [&](std::string_view mark) -> std::optional<std::string> {
      const size_t at = line.find(mark);
      if (at == std::string_view::npos) return std::nullopt;
      const std::string_view rest = line.substr(at + mark.size());
      return plain(rest.substr(0, std::min(rest.find(' '), rest.find(','))));
    };
    if (const auto test = told("[ RUN      ] ")) {
      died();
      running = *test;
    } else if (line.starts_with("<end of output>")) {
      died();
    } else if (running.empty()) {
      continue;  // a summary
    } else if (told("[       OK ] ") == running) {
      note(outcomes, running, TestResult::kPassed);
      running.clear();
    } else if (told("[  FAILED  ] ") == running) {
      died();
    } else if (told("[  SKIPPED ] ") == running) {
      note(outcomes, running, TestResult::kSkipped);
      running.clear();
    }
  }
  died();
  return outcomes;
}

std::string report(const std::vector<CitedRule>& rules, const std::map<std::string, TestResult>& outcomes,
                   const Source& source) {
  std::map<std::string, size_t> totals;
  std::ostringstream text;
  for (const CitedRule& rule : rules) {
    const RuleResult found = result_of(rule, outcomes, source);
    ++totals[found.result];
    std::string line = rule.number;
    pad(line, 9);
    line += found.result;
    pad(line, 21);
    line += rule.words;
    if (!rule.why.empty()) line += " (" + rule.why + ")";
    text << line << '\n';
    for (const std::string& cause : found.causes) text << std::string(21, ' ') << cause << '\n';
  }
  text << '\n' << rules.size() << " rules:";
  const char* separator = " ";
  for (const auto& [result, count] : totals) {
    text << separator << count << ' ' << result;
    separator = ", ";
  }
  text << '\n';
  return text.str();
}

}  // namespace shiplog::rules
