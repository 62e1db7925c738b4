#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shiplog::guides {

/// A block of a guide that contains commands: fenced with ```sh, and run by the tests.
/// The test runs the commands in order, in one shell, like a reader. A comment above the block, which markdown does not
/// show, specifies exceptions:
///   <!-- not run: REASON -->                  skipped
///   <!-- fails: TEXT -->                      must fail, and print TEXT
///   <!-- keeps running: TEXT -->              runs beside the next blocks; these begin once it has printed TEXT
///   <!-- keeps running, then stopped: TEXT --> the same, and it is stopped before the next block
///   <!-- before:
///   COMMANDS -->                              run here, and not shown: steps of the reader in other guides
///   <!-- starts with nothing -->              anywhere: no fleet is running when the guide begins
struct Block {
  enum class Kind { kRun, kFails, kBackground, kStopped, kHidden };
  Kind kind = Kind::kRun;
  int line = 0;          ///< of its first command, from 1
  std::string commands;  ///< ends in a newline
  std::string text;      ///< what to wait for, or what the failure prints
};

struct Guide {
  std::vector<Block> blocks;
  bool starts_with_nothing = false;  ///< also where a block runs ./dev up itself
  std::vector<std::string> not_run;  ///< commands of blocks that are skipped
  std::vector<std::string>
      mistakes;  ///< "line 12: ...": a block without a language that holds commands, an unknown comment
};

Guide parse_guide(std::string_view markdown);

}  // namespace shiplog::guides
