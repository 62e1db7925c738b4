// The documents name files and folders of the tree, and link to each other. What they name exists.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace shiplog {
namespace {

namespace fs = std::filesystem;

const fs::path kTree = SHIPLOG_SOURCE_DIR;

/// README and docs. Decision records describe the tree as it was when they were written: of them, only links count.
std::vector<fs::path> documents() {
  std::vector<fs::path> paths{kTree / "README.md"};
  for (const auto& entry : fs::recursive_directory_iterator{kTree / "docs"}) {
    if (entry.path().extension() == ".md") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

std::string read(const fs::path& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::vector<std::string> matches(const std::string& text, const char* expression) {
  const std::regex regex{expression};
  std::vector<std::string> found;
  for (std::sregex_iterator match{text.begin(), text.end(), regex}, end; match != end; ++match) {
    found.push_back((*match)[1]);
  }
  return found;
}

/// `a/{b,c}.h` names two files.
std::vector<std::string> expand_braces(const std::string& path) {
  const size_t open = path.find('{');
  const size_t close = path.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return {path};
  std::vector<std::string> paths;
  for (size_t begin = open + 1; begin <= close;) {
    const size_t end = std::min(path.find(',', begin), close);
    for (const std::string& tail : expand_braces(path.substr(close + 1))) {
      paths.push_back(path.substr(0, open) + path.substr(begin, end - begin) + tail);
    }
    begin = end + 1;
  }
  return paths;
}

bool matches_name(const std::string& pattern, const std::string& name) {
  const size_t star = pattern.find('*');
  if (star == std::string::npos) return pattern == name;
  return name.size() + 1 >= pattern.size() && name.starts_with(pattern.substr(0, star)) &&
         name.ends_with(pattern.substr(star + 1));
}

/// `*` stands for any part of a name; `<word>` as well.
bool exists(const fs::path& folder, const fs::path& path) {
  if (path.empty()) return true;
  if (!fs::is_directory(folder)) return false;
  const std::string pattern = std::regex_replace(path.begin()->string(), std::regex{"<[^>]*>"}, "*");
  fs::path rest;
  for (auto part = std::next(path.begin()); part != path.end(); ++part) rest /= *part;
  if (pattern.empty()) return exists(folder, rest);
  return std::ranges::any_of(fs::directory_iterator{folder}, [&](const fs::directory_entry& entry) {
    return matches_name(pattern, entry.path().filename().string()) && exists(entry.path(), rest);
  });
}

TEST(Documents, NameFilesThatExist) {
  size_t count = 0;
  for (const fs::path& document : documents()) {
    if (document.parent_path().filename() == "decisions") continue;
    const char* const kPath =
        "`((?:services|events|projections|schemas|docker|tests|tools|cmake|docs)/[A-Za-z0-9_./*<>{},-]*)`";
    for (const std::string& cited : matches(read(document), kPath)) {
      for (const std::string& path : expand_braces(cited)) {
        EXPECT_TRUE(exists(kTree, path)) << fs::relative(document, kTree) << " names " << path;
        ++count;
      }
    }
  }
  EXPECT_GT(count, 100U);
}

TEST(Documents, LinkToFilesThatExist) {
  size_t count = 0;
  for (const fs::path& document : documents()) {
    for (const std::string& target : matches(read(document), "\\]\\(([^)#: ]+)(?:#[^)]*)?\\)")) {
      EXPECT_TRUE(fs::exists(document.parent_path() / target))
          << fs::relative(document, kTree) << " links to " << target;
      ++count;
    }
  }
  EXPECT_GT(count, 50U);
}

}  // namespace
}  // namespace shiplog
