#include "services/programs/option_error.h"

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>

namespace shiplog {
namespace {

std::string error_of(const CLI::Validator& check, const std::string& value) {
  CLI::App app;
  int number = 0;
  app.add_option("--limit", number)->check(check);
  try {
    app.parse(std::vector<std::string>{"--limit=" + value});
  } catch (const CLI::ParseError& error) {
    return readable_option_error(error.what());
  }
  return "";
}

TEST(OptionError, OfANumberOutOfRangeDoesNotNameTheLargestNumber) {
  EXPECT_EQ(error_of(CLI::NonNegativeNumber, "-1"), "--limit: -1 is negative");
  EXPECT_EQ(error_of(CLI::PositiveNumber, "-1"), "--limit: -1 is negative");
  EXPECT_EQ(error_of(CLI::PositiveNumber, "0"), "--limit: 0 is not above zero");
  EXPECT_EQ(error_of(CLI::Range(1, 9), "10").find("--limit: Value 10 not in range"), 0U) << "a range of its own";
  EXPECT_EQ(error_of(CLI::PositiveNumber, "1"), "");
}

TEST(OptionError, AnUnknownCommandIsNamed) {
  const std::vector<std::string> commands = {"serve", "member"};
  EXPECT_EQ(unknown_command({"bogus", "--x"}, commands), "there is no command \"bogus\"; there are: serve, member");
  EXPECT_EQ(unknown_command({"serve", "bogus"}, commands), "");
  EXPECT_EQ(unknown_command({"--x", "bogus"}, commands), "");
  EXPECT_EQ(unknown_command({}, commands), "");
}

}  // namespace
}  // namespace shiplog
