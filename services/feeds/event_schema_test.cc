// The files in schemas/feeds/v1 are what event_schemas() describes. --update-schemas writes them.
#include "services/feeds/event_schema.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "events/base/json.h"

namespace shiplog::feeds {

bool update_schemas = false;

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = SHIPLOG_SOURCE_DIR;
const fs::path kFolder = kRoot / "schemas/feeds/v1";

std::string text_of(const fs::path& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

std::string path_of(const FeedEventSchema& schema) {
  return std::string{name_of(schema.family)} + "." + schema.kind + ".json";
}

TEST(FeedSchemas, AreTheFilesOfTheFolder) {
  std::map<std::string, std::string> made;
  for (const FeedEventSchema& schema : event_schemas()) made[path_of(schema)] = to_pretty_json(schema.schema) + "\n";
  if (update_schemas) {
    fs::remove_all(kFolder);
    fs::create_directories(kFolder);
    for (const auto& [name, text] : made) std::ofstream{kFolder / name} << text;
  }
  std::map<std::string, std::string> stored;
  for (const auto& entry : fs::directory_iterator{kFolder}) {
    stored[entry.path().filename().string()] = text_of(entry.path());
  }
  for (const auto& [name, text] : made) {
    EXPECT_EQ(stored[name], text) << name << " is out of date: run feeds_schema_test --update-schemas";
  }
  EXPECT_EQ(stored.size(), made.size()) << "a file that describes no event";
}

TEST(FeedSchemas, HaveTheirRowInTheDocumentOfEvents) {
  const std::string document = text_of(kRoot / "docs/events.md");
  for (const FeedEventSchema& schema : event_schemas()) {
    const std::string row = "| [" + schema.kind + "](../schemas/feeds/v1/" + path_of(schema) + ") | `" +
                            schema.schema["title"].str() + "` |";
    EXPECT_NE(document.find(row), std::string::npos) << "docs/events.md has no row\n" << row;
  }
}

}  // namespace
}  // namespace shiplog::feeds

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  shiplog::feeds::update_schemas = argc > 1 && std::string{argv[1]} == "--update-schemas";
  return RUN_ALL_TESTS();
}
