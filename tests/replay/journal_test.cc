// Journals of earlier builds fold to the state that these builds computed.
#include <filesystem>

#include "tests/support/fleet.h"

namespace shiplog::e2e {
namespace {

// words.db: written by a build whose explanations were words instead of facts. Two members join; a Deployment is
// divided between them, a ConfigMap with an override and a Secret are duplicated; the ConfigMap is deleted. The values
// below are what `shiplogctl replay` of that build printed.
TEST(OldJournal, FoldsToTheStateHashOfTheBuildThatWroteIt) {
  Fleet fleet;
  const std::string journal = fleet.path("journal.db");
  std::filesystem::copy_file(JOURNALS_FOLDER "/words.db", journal);
  const Value replayed = json(fleet.shiplogctl_ok({"replay", "--journal=sqlite:" + journal, "-o", "json"}));
  EXPECT_EQ(replayed["stateHash"].str(), "f7b81ab7ae92256acd9b106c84d1e88d");
  EXPECT_EQ(replayed["revision"].as_int(), 142);
  EXPECT_EQ(replayed["entries"].as_int(), 92);
  EXPECT_EQ(replayed["accepted"].as_int(), 89);
  EXPECT_EQ(replayed["refused"].as_int(), 3);
}

}  // namespace
}  // namespace shiplog::e2e
