#include "services/programs/member/shell/commands.h"

#include <map>

namespace shiplog::member {
namespace {

const std::map<std::string, CommandFunction, std::less<>>& all() {
  static const auto kAll = [] {
    std::map<std::string, CommandFunction, std::less<>> found{{"tar", &tar}};
    for (const auto& entries : {text_commands(), file_commands(), process_commands()}) {
      for (const CommandEntry& entry : entries) found.emplace(entry.name, entry.run);
    }
    return found;
  }();
  return kAll;
}

}  // namespace

awaitable<int> Invocation::fail(std::string text, int code) const {
  co_await streams.error->write(words.front() + ": " + text + "\n");
  co_return code;
}

CommandFunction find_command(std::string_view program) {
  for (const std::string_view folder : {"/bin/", "/usr/bin/", "/usr/local/bin/"}) {
    if (program.starts_with(folder)) {
      program.remove_prefix(folder.size());
      break;
    }
  }
  const auto found = all().find(program);
  return found == all().end() ? nullptr : found->second;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const auto& [name, run] : all()) names.push_back(name);
  return names;
}

}  // namespace shiplog::member
