#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "events/base/check.h"
#include "events/base/yaml.h"
#include "events/base/yaml_scalar.h"

// The styles that kubectl's output has: plain where that is read back as the same string, 'single' where punctuation
// forbids it, "double" where it would be taken for something else or cannot be shown, | for text of several lines.

namespace shiplog {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

// Takes one code point off the front of well-formed UTF-8.
uint32_t take_code_point(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  uint32_t code = length == 1 ? first : first & (0x7FU >> length);
  for (size_t i = 1; i < length && i < text.size(); ++i) {
    code = (code << 6U) | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  text.remove_prefix(std::min(length, text.size()));
  return code;
}

// Shown as it is; everything else is escaped. Line breaks other than \n count as not shown.
bool is_printable(uint32_t code) {
  if (code == 0x2028 || code == 0x2029 || code == 0xFEFF) return false;
  return (code >= 0x20 && code <= 0x7E) || (code >= 0xA0 && code <= 0xD7FF) || (code >= 0xE000 && code <= 0xFFFD);
}

struct Looks {
  bool lines = false;        // has line breaks
  bool unprintable = false;  // has something to escape
  bool blank_before_break = false;
  bool outer_blanks = false;  // begins or ends with blanks or breaks
  bool trailing_blank = false;
};

Looks looks_of(std::string_view text) {
  Looks looks;
  if (text.empty()) return looks;
  for (std::string_view left = text; !left.empty();) {
    const uint32_t code = take_code_point(left);
    if (code == '\n') {
      looks.lines = true;
    } else if (!is_printable(code)) {
      looks.unprintable = true;
    } else if (code == ' ' && left.starts_with('\n')) {
      looks.blank_before_break = true;
    }
  }
  looks.trailing_blank = text.back() == ' ';
  looks.outer_blanks = is_blank(text.front()) || is_blank(text.back());
  return looks;
}

// Whether YAML's punctuation lets the text stand without quotes, as a key or a value in block style.
bool plain_allowed(std::string_view text) {
  if (text.empty() || text.starts_with("---") || text.starts_with("...")) return false;
  const auto blank_after = [&](size_t at) { return at + 1 == text.size() || is_blank(text[at + 1]); };
  constexpr std::string_view kNeverFirst = "#,[]{}&*!|>'\"%@`";
  if (kNeverFirst.find(text[0]) != std::string_view::npos) return false;
  if ((text[0] == '?' || text[0] == '-') && blank_after(0)) return false;
  for (size_t position = 0; position < text.size(); ++position) {
    if (text[position] == ':' && blank_after(position)) return false;
    if (text[position] == '#' && position > 0 && is_blank(text[position - 1])) return false;
  }
  return true;
}

void append_double_quoted(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    const std::string_view before = text;
    const uint32_t code = take_code_point(text);
    switch (code) {
      case '"':
        out += "\\\"";
        continue;
      case '\\':
        out += "\\\\";
        continue;
      case '\n':
        out += "\\n";
        continue;
      case '\t':
        out += "\\t";
        continue;
      case '\r':
        out += "\\r";
        continue;
      default:
        break;
    }
    if (is_printable(code)) {
      out += before.substr(0, before.size() - text.size());
      continue;
    }
    char escape[16];
    std::snprintf(escape, sizeof escape, code <= 0xFF ? "\\x%02X" : code <= 0xFFFF ? "\\u%04X" : "\\U%08X", code);
    out += escape;
  }
  out += '"';
}

void append_single_quoted(std::string_view text, std::string& out) {
  out += '\'';
  for (const char c : text) {
    if (c == '\'') out += '\'';
    out += c;
  }
  out += '\'';
}

void append_indent(int indent, std::string& out) { out.append(static_cast<size_t>(indent), ' '); }

// | with its lines at `indent`. States their depth when the first one begins with a blank, and what to keep of the
// breaks at the end: - none, + all, else one.
void append_literal(std::string_view text, int indent, std::string& out) {
  out += '|';
  if (is_blank(text.front())) out += '2';
  if (!text.ends_with('\n')) {
    out += '-';
  } else if (text.size() == 1 || text[text.size() - 2] == '\n') {
    out += '+';
  }
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    out += '\n';
    if (end > 0) append_indent(indent, out);
    out += text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void append_key(std::string_view text, std::string& out) {
  const Looks looks = looks_of(text);
  if (looks.lines || looks.unprintable || yaml_needs_quotes(text)) return append_double_quoted(text, out);
  if (looks.outer_blanks || !plain_allowed(text)) return append_single_quoted(text, out);
  out += text;
}

void append_string(std::string_view text, int indent, std::string& out) {
  const Looks looks = looks_of(text);
  const bool block_allowed = !looks.unprintable && !looks.blank_before_break && !looks.trailing_blank;
  if (looks.lines && block_allowed) return append_literal(text, indent, out);
  append_key(text, out);
}

void append_double(double number, std::string& out) {
  SHIPLOG_CHECK(std::isfinite(number), "JSON has no infinity and no NaN; readers refuse them");
  std::array<char, 32> digits;
  const auto done = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), done.ptr);
}

bool is_block(const Value& value) { return (value.is_object() || value.is_array()) && value.size() > 0; }

// What stands on the line of its key or dash. `indent` is for the further lines of a text.
void append_inline(const Value& value, int indent, std::string& out) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      out += "null";
      return;
    case Value::Kind::kBool:
      out += value.as_bool() ? "true" : "false";
      return;
    case Value::Kind::kInt:
      out += std::to_string(value.as_int());
      return;
    case Value::Kind::kDouble:
      append_double(value.as_double(), out);
      return;
    case Value::Kind::kString:
      append_string(value.as_string(), indent, out);
      return;
    case Value::Kind::kArray:
      out += "[]";
      return;
    case Value::Kind::kObject:
      out += "{}";
      return;
  }
}

// The first line continues where the caller stands; the further ones begin at `indent`.
void append_block(const Value& value, int indent, std::string& out) {
  bool first = true;
  for (const Value& item : value.items()) {
    if (!std::exchange(first, false)) append_indent(indent, out);
    out += "- ";
    if (is_block(item)) {
      append_block(item, indent + 2, out);
    } else {
      append_inline(item, indent + 2, out);
      out += '\n';
    }
  }
  for (const Value::Member& member : value.members()) {
    if (!std::exchange(first, false)) append_indent(indent, out);
    append_key(member.key(), out);
    out += ':';
    if (is_block(member.value)) {
      // A list's dashes stand below its key, not further in.
      const int inner = member.value.is_array() ? indent : indent + 2;
      out += '\n';
      append_indent(inner, out);
      append_block(member.value, inner, out);
    } else {
      out += ' ';
      append_inline(member.value, indent + 2, out);
      out += '\n';
    }
  }
}

}  // namespace

std::string to_yaml(const Value& value) {
  std::string out;
  if (is_block(value)) {
    append_block(value, 0, out);
  } else {
    append_inline(value, 2, out);
    out += '\n';
  }
  return out;
}

}  // namespace shiplog
