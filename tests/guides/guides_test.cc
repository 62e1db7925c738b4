// Runs the commands of every guide with the real programs. guide.h describes the markers in a guide. A new guide in
// docs/guide is found without being listed.
#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include <gtest/gtest.h>

#include "tests/guides/clone.h"
#include "tests/guides/guide.h"
#include "tests/support/process.h"

namespace shiplog::guides {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = SHIPLOG_SOURCE_DIR;

/// README.md and docs/guide/*.md, from the root.
std::vector<std::string> guides() {
  std::vector<std::string> found = {"README.md"};
  for (const auto& entry : fs::directory_iterator(kRoot / "docs/guide")) {
    if (entry.path().extension() == ".md") found.push_back("docs/guide/" + entry.path().filename().string());
  }
  std::ranges::sort(found);
  return found;
}

Guide read_guide(const std::string& guide) { return parse_guide(e2e::read_file(kRoot / guide)); }

std::string name_of(const std::string& guide) {
  std::string name = fs::path{guide}.stem().string();
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

/// The guides that this program runs: those that start a Kafka broker have a separate program.
bool needs_kafka(const Guide& guide) {
  return std::ranges::any_of(
      guide.blocks, [](const Block& block) { return block.commands.find("--journal=kafka") != std::string::npos; });
}

class Guides : public ::testing::TestWithParam<std::string> {};

TEST_P(Guides, CommandsSucceed) {
  const Guide guide = read_guide(GetParam());
  for (const std::string& mistake : guide.mistakes) ADD_FAILURE() << GetParam() << ", " << mistake;
  if (guide.blocks.empty()) return;

  Clone clone;
  std::string script = guide.starts_with_nothing ? "" : "start_fleet\n";
  for (const Block& block : guide.blocks) {
    const std::string file = clone.path("block-" + std::to_string(block.line));
    e2e::write_file(file, block.commands);
    const std::string text = "'" + std::regex_replace(block.text, std::regex{"'"}, R"('\'')") + "' '" + file + "'\n";
    script += "at=" + std::to_string(block.line) + "\necho '--- line " + std::to_string(block.line) + "'\n";
    switch (block.kind) {
      case Block::Kind::kRun:
      case Block::Kind::kHidden:
        script += ". '" + file + "' </dev/null\n";
        break;
      case Block::Kind::kFails:
        script += "fails " + text;
        break;
      case Block::Kind::kBackground:
        script += "background " + text;
        break;
      case Block::Kind::kStopped:
        script += "stopped " + text;
        break;
    }
  }
  script += "echo 'the guide is done'\n";
  const e2e::Ran ran = clone.run(script);
  EXPECT_TRUE(ran.ok() && ran.says("the guide is done"))
      << GetParam() << (ran.code == -1 ? " did not end in time\n" : "\n") << ran;
}

INSTANTIATE_TEST_SUITE_P(Of, Guides, ::testing::ValuesIn([] {
                           std::vector<std::string> chosen;
                           for (const std::string& guide : guides()) {
                             if (needs_kafka(read_guide(guide)) == SHIPLOG_ON_KAFKA) chosen.push_back(guide);
                           }
                           return chosen;
                         }()),
                         [](const auto& guide) { return name_of(guide.param); });

#if !SHIPLOG_ON_KAFKA

std::set<std::string> roles_of_the_program() {
  const e2e::Ran ran = e2e::run({SHIPLOG_BUILT "/shiplogd", "roles"}, {}, "", e2e::kPatience);
  EXPECT_TRUE(ran.ok()) << ran;
  std::istringstream lines{ran.out};
  std::set<std::string> roles;
  for (std::string line; std::getline(lines, line);) roles.insert(line);
  return roles;
}

/// The roles in each --roles= of a text.
std::vector<std::set<std::string>> splits_in(const std::string& text) {
  std::vector<std::set<std::string>> splits;
  const std::regex option{R"(--roles[= ]([a-z,-]+))"};
  for (std::sregex_iterator match{text.begin(), text.end(), option}, end; match != end; ++match) {
    std::istringstream names{(*match)[1].str()};
    std::set<std::string>& split = splits.emplace_back();
    for (std::string name; std::getline(names, name, ',');) split.insert(name);
  }
  return splits;
}

// A fleet without one of the roles would silently not do that role's work.
TEST(Roles, EverySplitOfAGuideHasEveryRole) {
  const std::set<std::string> roles = roles_of_the_program();
  size_t splits_seen = 0;
  for (const std::string& path : guides()) {
    const Guide guide = read_guide(path);
    std::vector<std::string> texts = guide.not_run;
    for (const Block& block : guide.blocks) texts.push_back(block.commands);
    for (const std::string& text : texts) {
      const auto splits = splits_in(text);
      std::set<std::string> named;
      for (const auto& split : splits) named.insert(split.begin(), split.end());
      for (const std::string& role : named) EXPECT_TRUE(role == "all" || roles.contains(role)) << path << ": " << role;
      if (splits.size() < 2) continue;
      ++splits_seen;
      EXPECT_EQ(named, roles) << path << ":\n" << text;
    }
  }
  EXPECT_GT(splits_seen, 0U);
}

TEST(Roles, TheTableOfTheArchitectureHasEveryRole) {
  const std::string text = e2e::read_file(kRoot / "docs/architecture.md");
  const size_t begin = text.find("\n## Roles\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string table = text.substr(begin, text.find("\n## ", begin + 1) - begin);
  std::set<std::string> named;
  const std::regex row{R"(\n\| ([a-z-]+) \|)"};
  for (std::sregex_iterator match{table.begin(), table.end(), row}, end; match != end; ++match)
    named.insert((*match)[1].str());
  const std::set<std::string> roles = roles_of_the_program();
  for (const char* other : {"role", "---", "signer"}) named.erase(other);  // the head of the table; a part of api
  // Other parts of roles have names of several words.
  std::erase_if(named,
                [&](const std::string& name) { return name.find('-') != std::string::npos && !roles.contains(name); });
  EXPECT_EQ(named, roles);
}

TEST(Guide, UnmarkedCommandsAndUnknownCommentsAreErrors) {
  const Guide guide = parse_guide(
      "Text.\n\n```\nkubectl get pods\n```\n\n    shiplogctl why x\n\n<!-- never run -->\n```sh\ntrue\n```\n"
      "<!-- not run: no reason needed -->\n\ntext\n");
  ASSERT_EQ(guide.mistakes.size(), 4U) << ::testing::PrintToString(guide.mistakes);
  EXPECT_EQ(guide.blocks.size(), 1U);
}

TEST(Guide, CommentsSpecifyHowABlockIsRun) {
  const Guide guide = parse_guide(
      "<!-- before:\nmkdir data\n-->\n<!-- fails: no such -->\n```sh\nfalse\n```\n\n<!-- not run: three machines -->\n"
      "```sh\nscp a b\n```\n```sh\n./dev up\n```\n```\nkubectl-like output\n```\n");
  EXPECT_TRUE(guide.mistakes.empty()) << ::testing::PrintToString(guide.mistakes);
  ASSERT_EQ(guide.blocks.size(), 3U);
  EXPECT_EQ(guide.blocks[0].commands, "mkdir data\n");
  EXPECT_EQ(guide.blocks[1].kind, Block::Kind::kFails);
  EXPECT_EQ(guide.blocks[1].line, 6);
  EXPECT_TRUE(guide.starts_with_nothing);
  EXPECT_EQ(guide.not_run.size(), 1U);
}

#endif

}  // namespace
}  // namespace shiplog::guides
