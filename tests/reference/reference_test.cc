// Comments and tests cite facts by codes such as S-47. Each has one entry in docs/reference.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace shiplog {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = SHIPLOG_SOURCE_DIR;

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::string content_of(const fs::path& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

/// "S" of "S-47".
std::string family_of(const std::string& code) { return code.substr(0, code.find('-')); }

/// The end of LETTERS, `separator` and DIGITS at `begin`; `begin` if there is no such code.
size_t end_of_code(std::string_view text, size_t begin, char separator) {
  size_t end = begin;
  while (end < text.size() && is_upper(text[end])) ++end;
  if (end == begin || end - begin > 6 || end == text.size() || text[end] != separator) return begin;
  const size_t digits = ++end;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end == digits ? begin : end;
}

/// Codes in comments and text: "S-47", not part of a longer word.
std::vector<std::string> codes_in(std::string_view text) {
  std::vector<std::string> codes;
  for (size_t at = text.find('-'); at != std::string_view::npos; at = text.find('-', at + 1)) {
    size_t begin = at;
    while (begin > 0 && is_upper(text[begin - 1])) --begin;
    const size_t end = end_of_code(text, begin, '-');
    if (end == begin) continue;
    const std::string_view joins = "_-./";
    if (begin > 0 && (is_letter_or_digit(text[begin - 1]) || joins.find(text[begin - 1]) != std::string_view::npos))
      continue;
    if (end < text.size() && is_letter_or_digit(text[end])) continue;
    if (end + 1 < text.size() && text[end] == '-' && is_letter_or_digit(text[end + 1])) continue;
    codes.emplace_back(text.substr(begin, end - begin));
  }
  return codes;
}

/// Codes in the name of a test: "LIST-4" of "LIST_04_label_selectors", "S-4" of "WakesOne_S_4".
std::vector<std::string> codes_in_name(std::string_view name) {
  std::vector<std::string> codes;
  for (size_t begin = 0; begin < name.size(); ++begin) {
    if (begin > 0 && name[begin - 1] != '_') continue;
    const size_t end = end_of_code(name, begin, '_');
    if (end == begin) continue;
    const size_t separator = name.find('_', begin);
    codes.push_back(std::string{name.substr(begin, separator - begin)} + "-" +
                    std::to_string(std::stoi(std::string{name.substr(separator + 1, end - separator - 1)})));
  }
  return codes;
}

/// The entry that a line of docs/reference begins: "- **S-47** ..." or a table row "| X-3 | ..."; empty: none.
std::string entry_of(std::string_view line) {
  for (const auto& [before, after] : {std::pair<std::string_view, std::string_view>{"- **", "** "}, {"| ", " |"}}) {
    if (!line.starts_with(before)) continue;
    line.remove_prefix(before.size());
    const size_t end = end_of_code(line, 0, '-');
    return end > 0 && line.substr(end).starts_with(after) ? std::string{line.substr(0, end)} : "";
  }
  return "";
}

std::vector<fs::path> pages() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(kRoot / "docs/reference")) found.push_back(entry.path());
  std::ranges::sort(found);
  return found;
}

/// How often each code has an entry.
const std::map<std::string, int>& entries() {
  static const std::map<std::string, int> all = [] {
    std::map<std::string, int> found;
    for (const fs::path& page : pages()) {
      std::ifstream file{page};
      for (std::string line; std::getline(file, line);) {
        if (const std::string code = entry_of(line); !code.empty()) ++found[code];
      }
    }
    return found;
  }();
  return all;
}

/// Standards and products whose names look like codes.
bool is_standard(const std::string& code) {
  static const std::set<std::string> families = {"AES", "AVX", "DNS", "ISO", "P", "SHA", "UTF"};
  return families.contains(family_of(code));
}

std::vector<fs::path> texts() {
  std::vector<fs::path> found;
  const std::set<std::string> kinds = {".cc", ".h", ".proto", ".sql", ".lua", ".txt", ".md", ".sh"};
  for (const char* top : {"schemas", "events", "projections", "services", "tests", "docs"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
      const std::string name = entry.path().string();
      // Inputs of the fuzzer are any bytes.
      if (entry.is_regular_file() && name.find("/corpus/") == std::string::npos &&
          kinds.contains(entry.path().extension().string()))
        found.push_back(entry.path());
    }
  }
  std::ranges::sort(found);
  return found;
}

TEST(Reference, HasOneEntryForEachCode) {
  EXPECT_GT(entries().size(), 600U);
  for (const auto& [code, count] : entries()) EXPECT_EQ(count, 1) << code << " has several entries in docs/reference";
}

TEST(Reference, NumbersOfAFamilyAreComplete) {
  std::map<std::string, int> count;
  for (const auto& [code, times] : entries()) ++count[family_of(code)];
  for (const auto& [family, last] : count) {
    for (int number = 1; number <= last; ++number) {
      EXPECT_TRUE(entries().contains(family + "-" + std::to_string(number)))
          << family << "-" << number << " is missing";
    }
  }
}

TEST(Reference, EveryCitedCodeHasAnEntry) {
  size_t cited = 0;
  for (const fs::path& path : texts()) {
    std::ifstream file{path};
    int number = 0;
    for (std::string line; std::getline(file, line);) {
      ++number;
      std::vector<std::string> codes = codes_in(line);
      if (line.starts_with("TEST")) {
        const size_t comma = line.find(", ");
        const size_t end = line.find(')');
        if (comma != std::string::npos && end != std::string::npos && end > comma) {
          std::ranges::move(codes_in_name(line.substr(comma + 2, end - comma - 2)), std::back_inserter(codes));
        }
      }
      for (const std::string& code : codes) {
        if (is_standard(code)) continue;
        ++cited;
        EXPECT_TRUE(entries().contains(code))
            << fs::relative(path, kRoot).string() << ":" << number << ": " << code << " has no entry in docs/reference";
      }
    }
  }
  EXPECT_GT(cited, 3000U);
}

TEST(Reference, DocumentsOutsideTheTreeAreNotCited) {
  // Written in two parts, because this file is read as well.
  const std::vector<std::string> names = {
      "behaviour"
      "-core",
      "behaviour"
      "-fleet",
      "kubernetes"
      "-api ",
      "api"
      "-appendix"};
  for (const fs::path& path : texts()) {
    const std::string text = content_of(path);
    for (const std::string& name : names) {
      EXPECT_EQ(text.find(name), std::string::npos) << fs::relative(path, kRoot).string() << " cites " << name;
    }
  }
}

TEST(Reference, ListsOfRulesAndEntriesAgree) {
  std::set<std::string> listed;
  std::set<std::string> families;
  for (const char* list : {"tests/conformance/rules.txt", "tests/pipeline/rules.txt"}) {
    std::ifstream file{kRoot / list};
    for (std::string line; std::getline(file, line);) {
      const size_t end = end_of_code(line, 0, '-');
      if (end == 0) continue;
      listed.insert(line.substr(0, end));
      families.insert(family_of(line.substr(0, end)));
    }
  }
  EXPECT_GT(listed.size(), 500U);
  for (const auto& [code, count] : entries()) {
    if (!families.contains(family_of(code))) continue;
    EXPECT_TRUE(listed.contains(code)) << code << " is in no list of rules";
  }
}

TEST(Reference, TheIndexNamesEveryPageAndFamily) {
  const std::string index = content_of(kRoot / "docs/reference/README.md");
  std::set<std::string> named;
  for (size_t at = index.find("\n| "); at != std::string::npos; at = index.find("\n| ", at + 1)) {
    const size_t end = index.find(" |", at + 3);
    std::string families = index.substr(at + 3, end - at - 3);
    std::ranges::replace(families, ',', ' ');
    std::istringstream words{families};
    for (std::string word; words >> word;) named.insert(word);
  }
  for (const auto& [code, count] : entries()) EXPECT_TRUE(named.contains(family_of(code))) << code;
  for (const fs::path& page : pages()) {
    const std::string name = page.filename().string();
    if (name == "README.md") continue;
    EXPECT_NE(index.find("(" + name + ")"), std::string::npos) << name;
  }
}

TEST(ReferenceCodes, AreFoundInTextAndNames) {
  using Codes = std::vector<std::string>;
  EXPECT_EQ(codes_in("as S-47 has it (D-1 to D-3, HTTP-11)."), (Codes{"S-47", "D-1", "D-3", "HTTP-11"}));
  EXPECT_EQ(codes_in("karmada-es-X-1 FNV-1a AES-256-GCM x-D-2 D-2.txt s-1"), Codes{"D-2"});
  EXPECT_EQ(codes_in_name("LIST_04_label_selectors"), Codes{"LIST-4"});
  EXPECT_EQ(codes_in_name("TakesIt_D_42_to_D_45c"), (Codes{"D-42", "D-45"}));
  EXPECT_EQ(entry_of("- **S-47** Replicas"), "S-47");
  EXPECT_EQ(entry_of("| X-3 | 10 |"), "X-3");
  EXPECT_EQ(entry_of("| X | 10 |"), "");
}

}  // namespace
}  // namespace shiplog
