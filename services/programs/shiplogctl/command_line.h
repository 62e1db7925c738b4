#pragma once

#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace shiplog::ctl {

/// How far a command line leads, without parsing or checking it: for completion, and to say what is wrong with it.
struct CommandLine {
  const CLI::App* command = nullptr;                                ///< the innermost command named
  std::vector<std::string> positionals;                             ///< of that command
  const CLI::Option* pending = nullptr;                             ///< an option that waits for its value
  std::vector<std::pair<const CLI::Option*, std::string>> options;  ///< those given, with their values
  std::string unknown_option;                                       ///< the first; empty: none
};

CommandLine read_command_line(const CLI::App& app, const std::vector<std::string>& words);

/// An option of a command or of those around it; null: none of this name ("--output", "-o").
const CLI::Option* find_option(const CLI::App& command, const std::string& name);
/// All of their options but hidden ones.
std::vector<const CLI::Option*> options_of(const CLI::App& command);
std::vector<const CLI::App*> commands_of(const CLI::App& command);

/// What is wrong with a command line that names an unknown command or option, with a suggestion; empty: something else
/// is.
std::string unknown_word(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace shiplog::ctl
