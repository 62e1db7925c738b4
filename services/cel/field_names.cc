#include "services/cel/field_names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace shiplog::cel {
namespace {

constexpr std::array<std::string_view, 21> kReserved = {
    "as",  "break", "const",     "continue", "else",    "false",  "for",  "function", "if",   "import", "in",
    "let", "loop",  "namespace", "null",     "package", "return", "true", "var",      "void", "while"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kSequences = {
    {{"underscores", "__"}, {"dot", "."}, {"dash", "-"}, {"slash", "/"}}};

bool is_plain(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

bool is_reserved_word(std::string_view word) { return std::ranges::find(kReserved, word) != kReserved.end(); }

std::optional<std::string> escape_field_name(std::string_view name) {
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) return std::nullopt;
  if (is_reserved_word(name)) return "__" + std::string{name} + "__";
  std::string escaped;
  for (size_t i = 0; i < name.size(); ++i) {
    const auto sequence =
        std::ranges::find_if(kSequences, [&](const auto& each) { return name.substr(i).starts_with(each.second); });
    if (sequence != kSequences.end()) {
      escaped += "__" + std::string{sequence->first} + "__";
      i += sequence->second.size() - 1;
    } else if (is_plain(name[i])) {
      escaped += name[i];
    } else {
      return std::nullopt;
    }
  }
  return escaped;
}

std::optional<std::string> unescape_field_name(std::string_view escaped) {
  if (escaped.find("__") == std::string_view::npos) return std::string{escaped};
  std::string name;
  for (size_t i = 0; i < escaped.size();) {
    const size_t end = escaped.substr(i).starts_with("__") ? escaped.find("__", i + 2) : std::string_view::npos;
    if (end == std::string_view::npos || escaped.find('_', i + 2) != end) {
      name += escaped[i++];
      continue;
    }
    const std::string_view word = escaped.substr(i + 2, end - i - 2);
    const auto sequence = std::ranges::find_if(kSequences, [&](const auto& each) { return each.first == word; });
    if (sequence != kSequences.end()) {
      name += sequence->second;
    } else if (is_reserved_word(word) && i == 0 && end + 2 == escaped.size()) {
      name += word;
    } else {
      return std::nullopt;
    }
    i = end + 2;
  }
  return name;
}

}  // namespace shiplog::cel
