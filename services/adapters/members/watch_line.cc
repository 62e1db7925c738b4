#include "services/adapters/members/watch_line.h"

#include <cstddef>

namespace shiplog {
namespace {

/// The position of the quote that ends the string which begins at `begin`; npos: it does not end.
size_t end_of_string(std::string_view text, size_t begin) {
  for (size_t at = text.find_first_of("\"\\", begin + 1); at != std::string_view::npos;) {
    if (text[at] == '"') return at;
    at = text.find_first_of("\"\\", at + 2);  // of an escape the second character is skipped
  }
  return std::string_view::npos;
}

/// The position behind the array that begins at `begin`; npos: it does not end.
size_t end_of_array(std::string_view text, size_t begin) {
  size_t depth = 0;
  for (size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
      if (at == std::string_view::npos) return at;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      if (--depth == 0) return at + 1;
    }
  }
  return std::string_view::npos;
}

struct TextSpan {
  size_t begin = 0, end = 0;  // equal: there is none
};

/// The member and one of the commas beside it.
TextSpan member_at(std::string_view text, size_t key, size_t value) {
  const size_t end = end_of_array(text, value);
  if (end == std::string_view::npos || end >= text.size()) return {};
  if (text[end] == ',') return {key, end + 1};
  return {text[key - 1] == ',' ? key - 1 : key, end};
}

TextSpan managed_fields_in(std::string_view text) {
  size_t depth = 0;
  bool in_object = false, in_metadata = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (c != '"') continue;
    const size_t end = end_of_string(text, at);
    if (end == std::string_view::npos || end + 2 >= text.size()) return {};
    if (depth <= 3 && text[end + 1] == ':') {
      const std::string_view key = text.substr(at + 1, end - at - 1);
      if (depth == 1) in_object = key == "object";
      if (depth == 2) in_metadata = in_object && key == "metadata";
      if (depth == 3 && in_metadata && key == "managedFields" && text[end + 2] == '[') {
        return member_at(text, at, end + 2);
      }
    }
    at = end;
  }
  return {};
}

}  // namespace

std::string_view without_managed_fields(std::string_view line, std::string& buffer) {
  const TextSpan removed = managed_fields_in(line);
  if (removed.begin == removed.end) return line;
  buffer.assign(line.substr(0, removed.begin)).append(line.substr(removed.end));
  return buffer;
}

}  // namespace shiplog
