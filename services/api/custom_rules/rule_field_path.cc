#include "services/api/custom_rules/rule_field_path.h"

namespace shiplog::api {
namespace {

/// The text within the single quotes that `rest` begins with; what follows them is left in `rest`.
std::optional<std::string> take_quoted(std::string_view& rest) {
  static constexpr std::string_view kEscaped = "abfnrtv'\\";
  static constexpr std::string_view kMeant = "\a\b\f\n\r\t\v'\\";
  if (!rest.starts_with("'")) return std::nullopt;
  std::string text;
  for (size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '\'') {
      rest.remove_prefix(i + 1);
      return text;
    }
    if (rest[i] != '\\') {
      text += rest[i];
      continue;
    }
    const size_t escape = ++i < rest.size() ? kEscaped.find(rest[i]) : std::string_view::npos;
    if (escape == std::string_view::npos) return std::nullopt;
    text += kMeant[escape];
  }
  return std::nullopt;
}

/// The part of the schema that `name` leads to; its name is appended to `path`. nullptr: there is none.
const Schema* step(const Schema& schema, const std::string& name, std::string& path) {
  if (schema.properties.empty()) {
    if (schema.additional == nullptr) return nullptr;
    path += "[" + name + "]";
    return schema.additional.get();
  }
  const auto found = schema.properties.find(name);
  if (found == schema.properties.end()) return nullptr;
  path += (path.empty() ? "" : ".") + name;
  return found->second.get();
}

}  // namespace

std::optional<std::string> rule_field_path(std::string_view text, const Schema& schema) {
  const Schema* at = &schema;
  std::string path;
  while (!text.empty() && at != nullptr) {
    if (text.starts_with("[")) {
      text.remove_prefix(1);
      const auto name = take_quoted(text);
      if (!name || !text.starts_with("]")) return std::nullopt;
      text.remove_prefix(1);
      at = step(*at, *name, path);
    } else if (text.starts_with(".")) {
      const size_t end = text.find_first_of(".[]", 1);
      const std::string name{text.substr(1, end == std::string_view::npos ? end : end - 1)};
      if (name.empty()) return std::nullopt;
      text.remove_prefix(1 + name.size());
      at = step(*at, name, path);
    } else {
      return std::nullopt;
    }
  }
  return at == nullptr ? std::nullopt : std::optional{path};
}

}  // namespace shiplog::api
