// Tests that the documents cite exist: `Suite.Name` anywhere, and in a table cell `program_test`: `Name`, `Name`.
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/rules/rules.h"

namespace shiplog::rules {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream in{path};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// Every "Suite.Name" of the tree, and every "Name".
struct TestNames {
  std::set<std::string> full, short_names;
};

TestNames names_in_tree() {
  TestNames names;
  for (const char* top : {"events", "projections", "services", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator{fs::path{SHIPLOG_SOURCE_DIR} / top}) {
      if (entry.path().extension() != ".cc") continue;
      for (const std::string& test : tests_in(content_of(entry.path()))) {
        names.full.insert(test);
        names.short_names.insert(test.substr(test.find('.') + 1));
      }
    }
  }
  return names;
}

/// What stands between backticks in a line or table cell.
std::vector<std::string> quoted_in(std::string_view text) {
  std::vector<std::string> quoted;
  for (size_t begin = text.find('`'); begin != std::string_view::npos;) {
    const size_t end = text.find('`', begin + 1);
    if (end == std::string_view::npos) break;
    quoted.emplace_back(text.substr(begin + 1, end - begin - 1));
    begin = text.find('`', end + 1);
  }
  return quoted;
}

bool is_camel_case(std::string_view word) {
  if (word.empty() || std::isupper(static_cast<unsigned char>(word[0])) == 0) return false;
  for (const char c : word) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') return false;
  }
  return true;
}

/// The tests that one line of a document cites: with their suite, and without.
void add_cited(std::string_view line, std::vector<std::string>& full, std::vector<std::string>& short_names) {
  for (const std::string& word : quoted_in(line)) {
    const size_t dot = word.find('.');
    if (dot == std::string::npos || word.find('.', dot + 1) != std::string::npos) continue;
    if (is_camel_case(std::string_view{word}.substr(0, dot)) && is_camel_case(std::string_view{word}.substr(dot + 1))) {
      full.push_back(word);
    }
  }
  const size_t program = line.find("_test`: `");
  if (program == std::string_view::npos) return;
  const std::string_view rest = line.substr(program + std::string_view{"_test`: "}.size());
  for (const std::string& word : quoted_in(rest.substr(0, rest.find('|')))) {
    if (is_camel_case(word)) short_names.push_back(word);
  }
}

TEST(CitedTests, AreFoundInALine) {
  std::vector<std::string> full, short_names;
  add_cited("| hole | `abuse_tenant_test`: `OneThing`, `AnotherThing`; `State.*`, `Suite.Name_D_3` | `Type` |", full,
            short_names);
  EXPECT_EQ(full, (std::vector<std::string>{"Suite.Name_D_3"}));
  EXPECT_EQ(short_names, (std::vector<std::string>{"OneThing", "AnotherThing"}));
}

TEST(CitedTests, OfDocumentsExist) {
  const TestNames names = names_in_tree();
  ASSERT_GT(names.full.size(), 1000U);
  size_t cited = 0;
  for (const auto& entry : fs::recursive_directory_iterator{fs::path{SHIPLOG_SOURCE_DIR} / "docs"}) {
    if (entry.path().extension() != ".md") continue;
    const std::string file = fs::relative(entry.path(), SHIPLOG_SOURCE_DIR).string();
    std::istringstream lines{content_of(entry.path())};
    size_t number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      std::vector<std::string> full, short_names;
      add_cited(line, full, short_names);
      for (const std::string& test : full) {
        EXPECT_TRUE(names.full.contains(test)) << file << ":" << number << ": there is no test " << test;
      }
      for (const std::string& test : short_names) {
        EXPECT_TRUE(names.short_names.contains(test)) << file << ":" << number << ": there is no test " << test;
      }
      cited += full.size() + short_names.size();
    }
  }
  EXPECT_GT(cited, 20U);
}

}  // namespace
}  // namespace shiplog::rules
