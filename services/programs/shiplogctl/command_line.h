#pragma once

#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace shiplog::ctl {

/// The command and options of an incomplete or invalid command line: for completion and error messages.
struct CommandLine {
  const CLI::App* command = nullptr;                                ///< the innermost command named
  std::vector<std::string> positionals;                             ///< of that command
  const CLI::Option* pending = nullptr;                             ///< an option that waits for its value
  std::vector<std::pair<const CLI::Option*, std::string>> options;  ///< those given, with their values
  std::string unknown_option;                                       ///< the first unknown one; empty: none
};

CommandLine read_command_line(const CLI::App& app, const std::vector<std::string>& words);

/// An option of a command or its parents by name ("--output", "-o"); null: none.
const CLI::Option* find_option(const CLI::App& command, const std::string& name);
/// All options of a command and its parents, except hidden ones.
std::vector<const CLI::Option*> options_of(const CLI::App& command);
std::vector<const CLI::App*> commands_of(const CLI::App& command);

/// The error of a command line with an unknown command or option, with a suggestion; empty: the error is a different
/// one.
std::string unknown_word(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace shiplog::ctl
