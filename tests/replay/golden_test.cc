#include "tests/replay/golden.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include <gtest/gtest.h>

#include "events/codec/codec.h"
#include "events/codec/samples.h"

namespace shiplog {
namespace {

bool g_updating = false;

// The sample of each kind, by kind and generation; a generation that leaves a kind alone is left out.
std::map<std::string, Entry> golden_entries() {
  std::map<std::string, Entry> entries;
  for (int generation = 1; generation <= samples::kNewestGeneration; ++generation) {
    const auto now = samples::every_kind(generation);
    const auto before = generation == 1 ? std::vector<Event>{} : samples::every_kind(generation - 1);
    for (size_t at = 0; at < now.size(); ++at) {
      const Entry entry = samples::entry_of({now[at]}, generation);
      if (at < before.size() && entry == samples::entry_of({before[at]}, generation - 1)) continue;
      entries.emplace(std::string{name_of(now[at])} + "." + std::to_string(generation) + ".bin", entry);
    }
  }
  entries.emplace("RequestSource.7.bin", samples::produced_entry());
  return entries;
}

std::string path_of(const std::string& file) { return std::string{GOLDEN_FOLDER} + "/" + file; }

TEST(Golden, KeepsBytesOfEveryKind) {
  for (const auto& [file, entry] : golden_entries()) {
    if (golden::updating() && !std::filesystem::exists(path_of(file))) golden::write_file(path_of(file), encode(entry));
    EXPECT_TRUE(std::filesystem::exists(path_of(file)))
        << file << " is missing: run replay_golden_test --update-golden and commit what it adds";
  }
}

// Explanations in words are read for ever, and written as facts: see schemas/events/v1/explanation.proto.
bool has_explanation_in_words(const Entry& entry) {
  return std::visit(
      [](const auto& event) {
        if constexpr (requires { event.why; })
          return std::holds_alternative<Text>(event.why.summary) && !event.why.summary.empty();
        return false;
      },
      static_cast<const EventVariant&>(entry.events.front()));
}

TEST(Golden, ReadsOldBytesAsWhatTheyMeantAndWritesThemAgain) {
  const auto entries = golden_entries();
  for (const auto& item : std::filesystem::directory_iterator(GOLDEN_FOLDER)) {
    if (item.path().extension() != ".bin") continue;
    const std::string file = item.path().filename().string();
    const auto expected = entries.find(file);
    ASSERT_NE(expected, entries.end()) << file << ": no sample has this kind and generation any more";
    const std::string bytes = golden::read_file(item.path().string());
    const auto decoded = decode(bytes);
    ASSERT_TRUE(decoded) << file << ": " << decoded.error().message;
    EXPECT_TRUE(decoded.value() == expected->second) << file << " is read as something else";
    const std::string again = encode(decoded.value());
    if (has_explanation_in_words(decoded.value())) {
      EXPECT_TRUE(decode(again).value() == decoded.value()) << file << " is written as something else";
    } else {
      EXPECT_TRUE(again == bytes) << file << " is written differently";
    }
  }
}

// docs/events.md: a row `| KindName | family | ...` for every kind, and for nothing else.
TEST(EventsDoc, HasARowForEveryKind) {
  std::map<std::string, std::string> family_of_row;
  std::istringstream lines{golden::read_file(EVENTS_DOC)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells{line};
    std::string bar;
    std::string kind;
    std::string family;
    cells >> bar >> kind >> bar >> family;
    if (line.starts_with("| `")) family_of_row[kind] = family;
  }
  for (const Event& event : samples::every_kind()) {
    const std::string kind = "`" + std::string{name_of(event)} + "`";
    EXPECT_EQ(family_of_row[kind], name_of(family_of(event))) << "docs/events.md has no right row for " << kind;
    family_of_row.erase(kind);
  }
  for (const auto& [kind, family] : family_of_row) ADD_FAILURE() << "docs/events.md has a row for " << kind;
}

}  // namespace

namespace golden {

bool updating() { return g_updating; }

std::string read_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  EXPECT_TRUE(file) << "cannot read " << path;
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void write_file(const std::string& path, const std::string& bytes) {
  std::filesystem::create_directories(std::filesystem::path{path}.parent_path());
  std::ofstream file{path, std::ios::binary};
  file << bytes;
  EXPECT_TRUE(file.flush()) << "cannot write " << path;
}

}  // namespace golden
}  // namespace shiplog

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int at = 1; at < argc; ++at) {
    if (std::string_view{argv[at]} == "--update-golden") shiplog::g_updating = true;
  }
  return RUN_ALL_TESTS();
}
