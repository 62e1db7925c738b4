#include "services/api/table/json_path.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "events/base/json.h"

namespace shiplog::api {
namespace {

using Found = std::vector<const Value*>;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// `'x'` or `"x"`, without the quotes.
std::optional<std::string> unquoted(std::string_view text) {
  if (text.size() < 2 || text.front() != text.back() || (text.front() != '"' && text.front() != '\''))
    return std::nullopt;
  std::string plain;
  for (const char c : text.substr(1, text.size() - 2)) {
    if (c != '\\') plain += c;
  }
  return plain;
}

void children(const Value& value, Found& found) {
  for (const Value& item : value.items()) found.push_back(&item);
  for (const auto& member : value.members()) found.push_back(&member.value);
}

bool equals(const Value& value, std::string_view literal) {
  if (const auto text = unquoted(literal)) return value.is_string() && value.as_string() == *text;
  return !value.is_string() && to_json(value) == literal;
}

/// The inside of [?( )].
bool holds(const Value& element, std::string_view condition) {
  const size_t different = condition.find("!=");
  const size_t same = condition.find("==");
  const size_t at = std::min(different, same);
  std::string_view path = trimmed(condition.substr(0, at));
  if (!path.starts_with('@')) return false;
  path.remove_prefix(1);
  const Found found = json_path(element, path);
  if (at == std::string_view::npos) return !found.empty();
  const std::string_view literal = trimmed(condition.substr(at + 2));
  const bool any = std::any_of(found.begin(), found.end(), [&](const Value* value) { return equals(*value, literal); });
  return at == same ? any : !found.empty() && !any;
}

/// The inside of [ ].
void select(const Value& value, std::string_view inside, Found& found) {
  if (inside == "*") return children(value, found);
  if (inside.starts_with("?(") && inside.ends_with(')')) {
    for (const Value& item : value.items()) {
      if (holds(item, inside.substr(2, inside.size() - 3))) found.push_back(&item);
    }
    return;
  }
  if (const auto name = unquoted(inside)) {
    if (const Value* member = value.find(*name)) found.push_back(member);
    return;
  }
  int64_t index = 0;
  const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), index);
  if (error != std::errc{} || end != inside.data() + inside.size()) return;
  if (index < 0) index += static_cast<int64_t>(value.size());
  if (value.is_array() && index >= 0 && index < static_cast<int64_t>(value.size())) found.push_back(&value[index]);
}

/// Where the bracket that begins at 0 ends; quotes and nested brackets are passed over.
size_t closing(std::string_view path) {
  char quote = 0;
  int depth = 0;
  for (size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    if (quote != 0) {
      if (c == '\\') ++i;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[') {
      ++depth;
    } else if (c == ']' && --depth == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

}  // namespace

std::vector<const Value*> json_path(const Value& object, std::string_view path) {
  path = trimmed(path);
  if (path.starts_with('{') && path.ends_with('}')) path = path.substr(1, path.size() - 2);
  if (path.starts_with('$')) path.remove_prefix(1);
  Found here{&object};
  while (!path.empty() && !here.empty()) {
    Found next;
    if (path.front() == '[') {
      const size_t end = closing(path);
      if (end == std::string_view::npos) return {};
      for (const Value* value : here) select(*value, trimmed(path.substr(1, end - 1)), next);
      path.remove_prefix(end + 1);
    } else {
      if (path.front() == '.') path.remove_prefix(1);
      // A dot in a name is written with a backslash: .metadata.labels.example\.com/app
      std::string name;
      size_t i = 0;
      for (; i < path.size() && path[i] != '.' && path[i] != '['; ++i) {
        if (path[i] == '\\' && i + 1 < path.size()) ++i;
        name += path[i];
      }
      path.remove_prefix(i);
      if (name.empty()) return {};  // recursive descent, or a path that ends in a dot
      for (const Value* value : here) {
        if (name == "*") {
          children(*value, next);
        } else if (const Value* member = value->find(name)) {
          next.push_back(member);
        }
      }
    }
    here = std::move(next);
  }
  return here;
}

}  // namespace shiplog::api
