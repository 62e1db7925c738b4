#include "tests/rules/rules.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

namespace shiplog::rules {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// The lists of the tree: tests/<name>/rules.txt.
class RuleLists : public ::testing::TestWithParam<const char*> {
 protected:
  const std::string file = std::string{"tests/"} + GetParam() + "/rules.txt";
  const List list = read_rules(content_of(SHIPLOG_SOURCE_DIR "/" + file));
};
INSTANTIATE_TEST_SUITE_P(All, RuleLists, ::testing::Values("pipeline", "fleet"));

const std::string& source(const std::string& file) {
  static std::map<std::string, std::string> read;
  const auto [found, is_new] = read.try_emplace(file);
  if (is_new) found->second = content_of(SHIPLOG_SOURCE_DIR "/" + file);
  return found->second;
}

TEST_P(RuleLists, HaveATestOrAReasonForEachRule) {
  EXPECT_GT(list.rules.size(), 200U);
  for (const std::string& mistake : list.mistakes) ADD_FAILURE() << file << ": " << mistake;
}

TEST_P(RuleLists, CiteTestsThatExistAndReferToTheRule) {
  for (const CitedRule& rule : list.rules) {
    for (const Evidence& one : rule.tests) {
      const std::string where = file + ":" + std::to_string(rule.line) + ": " + rule.number + ": ";
      const std::string_view text = text_of(source(one.file), one.test);
      ASSERT_FALSE(text.empty()) << where << "there is no " << one.test << " in " << one.file;
      EXPECT_TRUE(refers_to(text, rule)) << where << one.test << " in " << one.file << " does not refer to it";
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
      // Those of the Kubernetes API are about rules of another list, and the names in this folder are made up.
      if (!file.ends_with("_test.cc") || file.starts_with("tests/conformance/") || file.starts_with("tests/rules/")) {
        continue;
      }
      found[file] = tests_in(source(file));
    }
  }
  return found;
}

TEST_P(RuleLists, CiteATestForEachRuleThatTestsAreNamedAfter) {
  const auto files = all_tests();
  EXPECT_GT(files.size(), 100U);
  for (const auto& [source_file, tests] : files) {
    for (const std::string& test : tests) {
      for (const std::string& number : numbers_in(test, list)) {
        const auto rules = list.named(number);
        EXPECT_FALSE(rules.empty()) << source_file << ": " << test << " is named after " << number
                                    << ", which is not in " << file;
        const bool shown = std::ranges::any_of(rules, [](const CitedRule* rule) { return !rule->tests.empty(); });
        EXPECT_TRUE(rules.empty() || shown)
            << file << ":" << rules.front()->line << ": " << number << " is said to be \"" << rules.front()->how
            << "\"; cite there: " << source_file << " " << test;
      }
    }
  }
}

TEST(RuleList, ReportsWhatIsWrongWithIt) {
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

TEST(RuleList, HasNumbersInTwoFormsAndOtherCodes) {
  const List list =
      read_rules("numbers: D 1, 2.6 2\nD-1 | a | f.cc A.B\n2.6.1 TN-25 | b | open: c\n2.6.2 | c | f.cc A.B\n");
  EXPECT_EQ(list.mistakes, std::vector<std::string>{});
  EXPECT_EQ(list.families, (std::set<std::string>{"2.6", "D"}));
  ASSERT_EQ(list.named("TN-25").size(), 1U);
  EXPECT_EQ(list.named("TN-25").front()->number, "2.6.1");
  EXPECT_TRUE(list.named("TN-2").empty());
}

TEST(RuleList, FindsTheTestsOfASource) {
  const std::string text =
      "// TEST(No, None)\nTEST(A, B) {  // D-1\n}\nint x;\n// D-2\n// too\nTEST_F(Long,\n       Name) {\n}\nTEST_P(P, "
      "Q) {}\n";
  EXPECT_EQ(tests_in(text), (std::set<std::string>{"A.B", "Long.Name", "P.Q"}));
  EXPECT_EQ(text_of(text, "A.B"), "// TEST(No, None)\nTEST(A, B) {  // D-1\n}\n");
  EXPECT_EQ(text_of(text, "Long.Name"), "// D-2\n// too\nTEST_F(Long,\n       Name) {\n}\n");
  EXPECT_EQ(text_of(text, "A.C"), "");
}

TEST(RuleList, ReadsTheNumbersInTheNameOfATest) {
  using Numbers = std::vector<std::string>;
  const List list = read_rules("numbers: D 1, S 1, 2.6 1\n2.6.1 TN-25 TN-28 | b | open: c\n");
  EXPECT_EQ(numbers_in("Suite.TakesIt_D_42_to_D_45", list), (Numbers{"D-42", "D-45"}));
  EXPECT_EQ(numbers_in("Suite.WaitsForTheTouch_D_48c_S_4", list), (Numbers{"D-48", "S-4"}));
  EXPECT_EQ(numbers_in("Suite.Ends_2_6_4_TN_28_2_6_5", list), (Numbers{"2.6.4", "TN-28", "2.6.5"}));
  EXPECT_EQ(numbers_in("Suite.Table_5_1_DEL_12_TN_2_7_1_2", list), Numbers{});
  EXPECT_EQ(numbers_in("D_1.None", list), Numbers{}) << "a suite is about many";
}

TEST(RuleList, FindsWhetherATestRefersToARule) {
  CitedRule rule;
  rule.number = "2.6.4";
  rule.codes = {"TN-28"};
  for (const char* text : {"TEST(A, Ends_2_6_4) {", "// 2.6.4, and more", "TEST(A, B_TN_28)", "(TN-28)",
                           "TN-25 to TN-34", "A_TN_25_to_TN_34", "2.6.1 to 2.6.9", "D-1, 2.6.4."}) {
    EXPECT_TRUE(refers_to(text, rule)) << text;
  }
  for (const char* text : {"TEST(A, Ends_2_6_41)", "12.6.4", "2.6", "TN-2", "xTN-28", "TN-1 to TN-9", "TN-25, TN-34",
                           "TN-25 to D-34", "Ends_2_6.4", ""}) {
    EXPECT_FALSE(refers_to(text, rule)) << text;
  }
}

TEST(RuleReport, JoinsRulesWithWhatTheLastRunFound) {
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
      "numbers: D 10\nD-1 | one | a.cc A.Good\nD-2 | two | a.cc A.Good, A.Bad\nD-3 | three | a.cc A.Good; b.cc "
      "A.Other\n"
      "D-4 | four | a.cc A.Good | in part: half\nD-5 | five | not served: no\nD-6 | six | a.cc A.Skipped\nD-7 | seven "
      "| a.cc A.Good | otherwise: better\nD-8 | eight | a.cc A.Good\nD-9 | nine | open: later\n"
      "D-10 | ten | b.cc A.Good | in part: half\n");
  const auto source = [](const std::string& file) {
    return file == "a.cc"
               ? "// D-1 to D-7\nTEST(A, Good) {\n}\n// D-2\nTEST(A, Bad) {\n}\n// D-6\nTEST(A, Skipped) {\n}\n"
               : "// D-3\nTEST(A, Other) {\n}\n";
  };
  EXPECT_EQ(report(list.rules, outcomes, source),
            "D-1      pass        one\n"
            "D-2      FAIL        two\n"
            "                     failed: a.cc A.Bad\n"
            "D-3      not shown   three\n"
            "                     not run: b.cc A.Other\n"
            "D-4      in part     four (half)\n"
            "D-5      not served  five (no)\n"
            "D-6      not shown   six\n"
            "                     skipped: a.cc A.Skipped\n"
            "D-7      otherwise   seven (better)\n"
            "D-8      not shown   eight\n"
            "                     does not refer to the rule: a.cc A.Good\n"
            "D-9      open        nine (later)\n"
            "D-10     not shown   ten (half)\n"
            "                     does not refer to the rule: b.cc A.Good\n"
            "\n10 rules: 1 FAIL, 1 in part, 1 not served, 4 not shown, 1 open, 1 otherwise, 1 pass\n");
}

}  // namespace
}  // namespace shiplog::rules
