#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/base/result.h"

namespace shiplog::member {

// The part of a POSIX shell's grammar that the trial member's shell knows: simple commands with assignments and
// redirections, pipelines, lists with ; && ||, quotes, $NAME, ${NAME}, ${NAME:-word} and $(command). What it does not
// know (loops, conditions, functions, jobs) is an error that names it.

/// A piece of a word.
struct WordPart {
  enum class Kind { kText, kVariable, kCommand };
  Kind kind = Kind::kText;
  std::string text;      ///< itself; the variable's name; the command list
  std::string fallback;  ///< of a variable that is empty
  bool quoted = false;   ///< its value is not split at blanks
};
using Word = std::vector<WordPart>;

struct Redirection {
  enum class Kind { kInput, kOutput, kAppend, kErrorOutput, kErrorAppend, kErrorToOutput, kOutputToError };
  Kind kind = Kind::kOutput;
  Word file;
};

struct SimpleCommand {
  std::vector<std::pair<std::string, Word>> assignments;
  std::vector<Word> words;
  std::vector<Redirection> redirections;
};

struct CommandPipeline {
  enum class When { kAlways, kAfterSuccess, kAfterFailure };
  When when = When::kAlways;
  bool negated = false;
  std::vector<SimpleCommand> commands;
};

/// Error: kInvalid, in the words of a shell. Nested at most a few levels.
Result<std::vector<CommandPipeline>> parse_script(std::string_view script);

}  // namespace shiplog::member
