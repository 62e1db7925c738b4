#include "services/programs/option_error.h"

#include <algorithm>
#include <string_view>

namespace shiplog {

std::string readable_option_error(const std::string& message) {
  constexpr std::string_view kValue = "Value ";
  const size_t value = message.find(kValue);
  const size_t range = message.find(" not in range 0.000000 to 17976");
  if (value == std::string::npos || range == std::string::npos || range < value) return message;
  const std::string given = message.substr(value + kValue.size(), range - value - kValue.size());
  return message.substr(0, value) + given + (given.starts_with('-') ? " is negative" : " is not above zero");
}

std::string unknown_command(const std::vector<std::string>& words, const std::vector<std::string>& commands) {
  if (words.empty() || words.front().starts_with('-')) return "";
  if (std::ranges::find(commands, words.front()) != commands.end()) return "";
  std::string text = "there is no command \"" + words.front() + "\"; there are: ";
  for (const std::string& command : commands) text += (command == commands.front() ? "" : ", ") + command;
  return text;
}

}  // namespace shiplog
