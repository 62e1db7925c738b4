#include "tests/pipeline/rules.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <sstream>

namespace shiplog::pipeline {
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
  return (partly(rule) || rule.how == "not served" || rule.how == "no test") && !rule.why.empty();
}

/// Empty: the line is a rule.
std::string read_rule(const std::string& line, CitedRule& rule) {
  const auto parts = cut(line, '|');
  if (parts.size() < 3 || parts.size() > 4) return "is not NUMBER | WORDS | TESTS [| in part: WHY]";
  rule.number = parts[0];
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

/// The numbers of "D 48": D-1 to D-48.
std::vector<std::string> numbers_of(const std::string& declared) {
  const auto words = cut(declared, ' ');
  if (words.size() != 2 || !is_number(words[1])) return {};
  std::vector<std::string> numbers;
  for (int at = 1; at <= std::stoi(words[1]); ++at) numbers.push_back(words[0] + "-" + std::to_string(at));
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

std::string result_of(const CitedRule& rule, const std::map<std::string, TestResult>& outcomes) {
  if (rule.tests.empty()) return rule.how;
  bool all = true;
  for (const Evidence& one : rule.tests) {
    const auto found = outcomes.find(one.test);
    if (found == outcomes.end() || found->second == TestResult::kSkipped) {
      all = false;
    } else if (found->second == TestResult::kFailed) {
      return "FAIL";
    }
  }
  if (!all) return "not run";
  return rule.how.empty() ? "pass" : rule.how;
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
        for (std::string& each : numbers_of(one)) declared.push_back(std::move(each));
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
  for (size_t at = 0; at < found.size(); ++at) {
    if (found[at].test != test) continue;
    const size_t end = at + 1 < found.size() ? found[at + 1].at : source.size();
    return source.substr(found[at].at, end - found[at].at);
  }
  return {};
}

std::vector<std::string> numbers_in(std::string_view test) {
  constexpr std::string_view kLetters = "NDSMXBETL";
  std::vector<std::string> numbers;
  const auto words = cut(test.substr(test.find('.') + 1), '_');
  for (size_t at = 1; at + 1 < words.size(); ++at) {
    if (words[at].size() != 1 || kLetters.find(words[at]) == std::string_view::npos) continue;
    const size_t digits = std::min(words[at + 1].find_first_not_of("0123456789"), words[at + 1].size());
    if (digits > 0) numbers.push_back(words[at] + "-" + words[at + 1].substr(0, digits));
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

std::string report(const std::vector<CitedRule>& rules, const std::map<std::string, TestResult>& outcomes) {
  std::map<std::string, size_t> totals;
  std::ostringstream text;
  for (const CitedRule& rule : rules) {
    const std::string result = result_of(rule, outcomes);
    ++totals[result];
    std::string line = rule.number;
    pad(line, 9);
    line += result;
    pad(line, 21);
    line += rule.words;
    if (!rule.why.empty()) line += " (" + rule.why + ")";
    text << line << '\n';
    if (result != "FAIL" && result != "not run") continue;
    for (const Evidence& one : rule.tests) {
      const auto found = outcomes.find(one.test);
      if (found != outcomes.end() && found->second == TestResult::kPassed) continue;
      const bool failed = found != outcomes.end() && found->second == TestResult::kFailed;
      text << std::string(21, ' ') << (failed ? "failed: " : "not run: ") << one.file << ' ' << one.test << '\n';
    }
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

}  // namespace shiplog::pipeline
