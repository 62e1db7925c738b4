#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "services/programs/member/shell/shell.h"

namespace shiplog::member {

/// One program that runs: its words, the first of which is its name.
struct Invocation {
  Shell& shell;
  std::vector<std::string> words;
  Streams streams;

  /// "NAME: TEXT" on standard error; returns `code`.
  awaitable<int> fail(std::string text, int code = 1) const;
};

using CommandFunction = awaitable<int> (*)(Invocation&);

/// By its name or its path in /bin, /usr/bin or /usr/local/bin; nullptr: there is none.
CommandFunction find_command(std::string_view program);
/// The names of all, for listing /bin.
std::vector<std::string> command_names();

// The commands by topic.
struct CommandEntry {
  const char* name;
  CommandFunction run;
};
std::vector<CommandEntry> text_commands();     ///< echo, cat, head, tail, ...
std::vector<CommandEntry> file_commands();     ///< ls, mkdir, rm, test, ...
std::vector<CommandEntry> process_commands();  ///< sh, env, exit, sleep, ...

awaitable<int> tar(Invocation& invocation);

}  // namespace shiplog::member
