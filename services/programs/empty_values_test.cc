#include "services/programs/empty_values.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

namespace shiplog {
namespace {

using Words = std::vector<std::string>;

TEST(EmptyValues, AreWordsOfTheirOwn) {
  EXPECT_EQ(with_empty_values({"serve", "--a=", "--b=c", "--d", "--=", "e="}),
            (Words{"serve", "--a", "", "--b=c", "--d", "--=", "e="}));
  EXPECT_EQ(with_empty_values({"--a=b="}), Words{"--a=b="});
  EXPECT_EQ(with_empty_values({"exec", "--", "--a="}), (Words{"exec", "--", "--a="}));
}

TEST(EmptyValues, TakeNoOtherWord) {
  CLI::App app;
  std::string context = "default";
  std::vector<std::string> zones;
  bool dry_run = false;
  app.add_option("--context", context);
  app.add_option("--zones", zones)->delimiter(',');
  app.add_flag("--dry-run", dry_run);
  Words words = with_empty_values({"--zones=", "--context=", "--dry-run"});
  std::reverse(words.begin(), words.end());
  app.parse(words);
  EXPECT_EQ(context, "");
  EXPECT_EQ(zones, Words{""});
  EXPECT_TRUE(dry_run);
}

}  // namespace
}  // namespace shiplog
