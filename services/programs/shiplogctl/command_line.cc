#include "services/programs/shiplogctl/command_line.h"

#include <CLI/CLI.hpp>

#include "services/programs/shiplogctl/suggest.h"

namespace shiplog::ctl {
namespace {

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

}  // namespace

std::vector<const CLI::Option*> options_of(const CLI::App& command) {
  std::vector<const CLI::Option*> found;
  for (const CLI::App* at = &command; at != nullptr; at = at->get_parent()) {
    for (const CLI::Option* option : at->get_options()) {
      if (!option->get_positional() && !option->get_group().empty()) found.push_back(option);
    }
  }
  return found;
}

std::vector<const CLI::App*> commands_of(const CLI::App& command) {
  return command.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

const CLI::Option* find_option(const CLI::App& command, const std::string& name) {
  for (const CLI::Option* option : options_of(command)) {
    if (option->check_name(name)) return option;
  }
  return nullptr;
}

CommandLine read_command_line(const CLI::App& app, const std::vector<std::string>& words) {
  CommandLine line;
  line.command = &app;
  const auto give = [&](const CLI::Option* option, std::string value) {
    line.options.emplace_back(option, std::move(value));
  };
  for (const std::string& word : words) {
    if (line.pending != nullptr) {
      give(std::exchange(line.pending, nullptr), word);
      continue;
    }
    if (word.size() > 1 && word[0] == '-') {
      const bool is_long = word[1] == '-';
      const size_t name_end = is_long ? word.find('=') : 2;
      const CLI::Option* option = find_option(*line.command, word.substr(0, name_end));
      if (option == nullptr) {
        if (line.unknown_option.empty()) line.unknown_option = word.substr(0, name_end);
      } else if (!takes_value(*option)) {
        give(option, "");
      } else if (name_end < word.size()) {
        give(option, word.substr(is_long ? name_end + 1 : name_end));
      } else {
        line.pending = option;
      }
      continue;
    }
    const CLI::App* next = nullptr;
    if (line.positionals.empty()) {
      for (const CLI::App* command : commands_of(*line.command)) {
        if (command->check_name(word)) next = command;
      }
    }
    if (next != nullptr) {
      line.command = next;
    } else {
      line.positionals.push_back(word);
    }
  }
  return line;
}

std::string unknown_word(const CLI::App& app, const std::vector<std::string>& words) {
  const CommandLine line = read_command_line(app, words);
  const auto commands = commands_of(*line.command);
  if (!commands.empty() && !line.positionals.empty()) {
    const std::string& word = line.positionals.front();
    std::vector<std::string> names;
    for (const CLI::App* command : commands) names.push_back(command->get_name());
    const std::string of = line.command == &app ? "" : " of " + line.command->get_name();
    return "there is no command \"" + word + "\"" + of + did_you_mean(word, names);
  }
  if (!line.unknown_option.empty()) {
    std::vector<std::string> names;
    for (const CLI::Option* option : options_of(*line.command)) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    return "there is no option " + line.unknown_option + did_you_mean(line.unknown_option, names);
  }
  return "";
}

}  // namespace shiplog::ctl
