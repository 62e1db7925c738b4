#include "tests/pipeline/rules.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

namespace shiplog::pipeline {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

const List& rules() {
  static const List all = read_rules(content_of(SHIPLOG_PIPELINE_RULES));
  return all;
}

const std::string& source(const std::string& file) {
  static std::map<std::string, std::string> read;
  const auto [found, is_new] = read.try_emplace(file);
  if (is_new) found->second = content_of(SHIPLOG_SOURCE_DIR "/" + file);
  return found->second;
}

TEST(PipelineRules, EachHasATestOrAReason) {
  EXPECT_GT(rules().rules.size(), 300U);
  for (const std::string& mistake : rules().mistakes) ADD_FAILURE() << "rules.txt: " << mistake;
}

TEST(PipelineRules, TestsExistWhereTheListCitesThem) {
  for (const CitedRule& rule : rules().rules) {
    for (const Evidence& one : rule.tests) {
      EXPECT_TRUE(tests_in(source(one.file)).contains(one.test))
          << "rules.txt:" << rule.line << ": " << rule.number << ": there is no " << one.test << " in " << one.file;
    }
  }
}

/// Whether a text names the number itself, not only one that it begins.
bool names(std::string_view text, const std::string& number) {
  for (size_t at = text.find(number); at != std::string_view::npos; at = text.find(number, at + 1)) {
    const size_t end = at + number.size();
    if (end == text.size() || text[end] < '0' || text[end] > '9') return true;
  }
  return false;
}

TEST(PipelineRules, WorkedExamplesAreNamedInTheirTests) {
  for (const CitedRule& rule : rules().rules) {
    if (!rule.number.starts_with("X-")) continue;
    std::string underscored = rule.number;
    underscored[1] = '_';
    for (const Evidence& one : rule.tests) {
      const std::string_view text = text_of(source(one.file), one.test);
      EXPECT_TRUE(names(text, rule.number) || names(text, underscored))
          << "rules.txt:" << rule.line << ": " << one.test << " in " << one.file << " does not name " << rule.number;
    }
  }
}

/// Of the whole tree, by file.
std::map<std::string, std::set<std::string>> all_tests() {
  namespace fs = std::filesystem;
  std::map<std::string, std::set<std::string>> found;
  for (const char* top : {"events", "projections", "services", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator{fs::path{SHIPLOG_SOURCE_DIR} / top}) {
      const std::string file = fs::relative(entry.path(), SHIPLOG_SOURCE_DIR).string();
      // Those of the Kubernetes API are about rules of another sheet.
      if (!file.ends_with("_test.cc") || file.starts_with("tests/conformance/") ||
          file.starts_with("tests/pipeline/")) {
        continue;
      }
      found[file] = tests_in(source(file));
    }
  }
  return found;
}

TEST(PipelineRules, ThoseThatTestsAreNamedAfterAreServed) {
  const auto files = all_tests();
  EXPECT_GT(files.size(), 100U);
  for (const auto& [file, tests] : files) {
    for (const std::string& test : tests) {
      for (const std::string& number : numbers_in(test)) {
        const auto rule = std::ranges::find(rules().rules, number, &CitedRule::number);
        if (rule == rules().rules.end()) {
          ADD_FAILURE() << file << ": " << test << " is named after " << number << ", which is not in rules.txt";
        } else if (rule->tests.empty()) {
          ADD_FAILURE() << "rules.txt:" << rule->line << ": " << number << " is said to be \"" << rule->how
                        << "\", but there is " << test << " in " << file << ": name it there";
        }
      }
    }
  }
}

TEST(PipelineList, ReportsWhatIsWrongWithIt) {
  const auto mistakes = [](const std::string& lines) {
    std::string all;
    for (const std::string& one : read_rules("numbers: D 2, T 1\n" + lines).mistakes) all += one + "\n";
    return all;
  };
  const std::string rest = "D-2 | b | no test: c\nT-1 | table | a.cc A.B, A.C; b.cc B.A | in part: d\n";
  EXPECT_EQ(mistakes("# words\n\nD-1 | a | f.cc\n   A.B\n" + rest), "");
  EXPECT_EQ(mistakes(rest), "D-1 has no line\n");
  EXPECT_EQ(mistakes("D-1 | a | f.cc A.B\n" + rest + "D-1 | a | f.cc A.B\n"), "D-1 stands twice\n");
  EXPECT_EQ(mistakes("D-1 | a | f.cc A.B\n" + rest + "D-3 | a | f.cc A.B\n"), "line 5: there is no rule D-3\n");
  for (const char* line : {"D-1 | a", "D-1 | | f.cc A.B", "D-1 | a | A.B", "D-1 | a | in progress", "D-1 | a | f.cc A",
                           "D-1 | a | in part: it", "D-1 | a | otherwise: it", "D-1 | a | f.cc A.B | not served: it",
                           "D-1 | a | not served: "}) {
    EXPECT_NE(mistakes(line + ("\n" + rest)), "") << line;
  }
}

TEST(PipelineList, FindsTheTestsOfASource) {
  const std::string text =
      "// TEST(No, None)\nTEST(A, B) {  // D-1\n}\nTEST_F(Long,\n       Name) {}\nTEST_P(P, Q) {}\n";
  EXPECT_EQ(tests_in(text), (std::set<std::string>{"A.B", "Long.Name", "P.Q"}));
  EXPECT_EQ(text_of(text, "A.B"), "TEST(A, B) {  // D-1\n}\n");
  EXPECT_EQ(text_of(text, "A.C"), "");
}

TEST(PipelineList, ReadsTheNumbersInTheNameOfATest) {
  using Numbers = std::vector<std::string>;
  EXPECT_EQ(numbers_in("Suite.TakesIt_D_42_to_D_45"), (Numbers{"D-42", "D-45"}));
  EXPECT_EQ(numbers_in("Suite.WaitsForTheTouch_D_48c_S_4"), (Numbers{"D-48", "S-4"}));
  EXPECT_EQ(numbers_in("Suite.Table_5_1_DEL_12_TN_28"), Numbers{});
  EXPECT_EQ(numbers_in("D_1.None"), Numbers{}) << "a suite is about many";
}

TEST(PipelineReport, JoinsRulesWithWhatTheLastRunFound) {
  const auto outcomes = outcomes_in(
      "[ RUN      ] A.Good\n[       OK ] A.Good (1 ms)\n"
      "[ RUN      ] A.Bad\nwhy\n[  FAILED  ] A.Bad (1 ms)\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] A.Bad\n"
      "<end of output>\n"
      "[ RUN      ] X/P.Q/0\nnot a whole line[       OK ] X/P.Q/0 (0 ms)\n"
      "[ RUN      ] X/P.Q/1\n[  FAILED  ] X/P.Q/1, where GetParam() = 1 (0 ms)\n"
      "[ RUN      ] A.Skipped\n[  SKIPPED ] A.Skipped (0 ms)\n"
      "[ RUN      ] A.Crashed\n<end of output>\n[ RUN      ] A.LastOfAll\n");
  EXPECT_EQ(outcomes, (std::map<std::string, TestResult>{{"A.Bad", TestResult::kFailed},
                                                         {"A.Crashed", TestResult::kFailed},
                                                         {"A.Good", TestResult::kPassed},
                                                         {"A.LastOfAll", TestResult::kFailed},
                                                         {"A.Skipped", TestResult::kSkipped},
                                                         {"P.Q", TestResult::kFailed}}));
  const List list = read_rules(
      "numbers: D 7\nD-1 | one | a.cc A.Good\nD-2 | two | a.cc A.Good, A.Bad\nD-3 | three | a.cc A.Good; b.cc A.Other\n"
      "D-4 | four | a.cc A.Good | in part: half\nD-5 | five | not served: no\nD-6 | six | a.cc A.Skipped\nD-7 | seven "
      "| a.cc A.Good | otherwise: better\n");
  EXPECT_EQ(report(list.rules, outcomes),
            "D-1      pass        one\n"
            "D-2      FAIL        two\n"
            "                     failed: a.cc A.Bad\n"
            "D-3      not run     three\n"
            "                     not run: b.cc A.Other\n"
            "D-4      in part     four (half)\n"
            "D-5      not served  five (no)\n"
            "D-6      not run     six\n"
            "                     not run: a.cc A.Skipped\n"
            "D-7      otherwise   seven (better)\n"
            "\n7 rules: 1 FAIL, 1 in part, 2 not run, 1 not served, 1 otherwise, 1 pass\n");
}

}  // namespace
}  // namespace shiplog::pipeline
