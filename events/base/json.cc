#include "events/base/json.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "events/base/check.h"

namespace shiplog {
namespace {

void append_int(int64_t value, std::string& out) {
  std::array<char, 24> digits;
  const auto done = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  out.append(digits.data(), done.ptr);
}

void append_double(double value, std::string& out) {
  SHIPLOG_CHECK(std::isfinite(value), "JSON has no infinity and no NaN; readers refuse them");
  std::array<char, 32> digits;
  const auto done = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  const std::string_view written{digits.data(), static_cast<size_t>(done.ptr - digits.data())};
  out += written;
  // 1.0 must not come back as the integer 1: the two are different values.
  if (written.find_first_of(".e") == std::string_view::npos) out += ".0";
}

void append_newline(int indent, std::string& out) {
  out += '\n';
  out.append(static_cast<size_t>(indent) * 2, ' ');
}

// `indent` is the level for people, or negative for canonical JSON.
void append(const Value& value, int indent, std::string& out) {
  const bool pretty = indent >= 0;
  const int inner = pretty ? indent + 1 : indent;
  switch (value.kind()) {
    case Value::Kind::kNull:
      out += "null";
      return;
    case Value::Kind::kBool:
      out += value.as_bool() ? "true" : "false";
      return;
    case Value::Kind::kInt:
      append_int(value.as_int(), out);
      return;
    case Value::Kind::kDouble:
      append_double(value.as_double(), out);
      return;
    case Value::Kind::kString:
      append_json_string(value.as_string(), out);
      return;
    case Value::Kind::kArray: {
      out += '[';
      bool first = true;
      for (const Value& item : value.items()) {
        if (!first) out += ',';
        first = false;
        if (pretty) append_newline(inner, out);
        append(item, inner, out);
      }
      if (pretty && !first) append_newline(indent, out);
      out += ']';
      return;
    }
    case Value::Kind::kObject: {
      out += '{';
      bool first = true;
      for (const Value::Member& member : value.members()) {
        if (!first) out += ',';
        first = false;
        if (pretty) append_newline(inner, out);
        append_json_string(member.key(), out);
        out += pretty ? ": " : ":";
        append(member.value, inner, out);
      }
      if (pretty && !first) append_newline(indent, out);
      out += '}';
      return;
    }
  }
}

// 0: as it is. 'u': \u00XX. Anything else: a backslash and this character.
constexpr std::array<char, 256> kEscapes = [] {
  std::array<char, 256> escapes{};
  for (size_t c = 0; c < 0x20; ++c) escapes[c] = 'u';
  escapes['\b'] = 'b';
  escapes['\t'] = 't';
  escapes['\n'] = 'n';
  escapes['\f'] = 'f';
  escapes['\r'] = 'r';
  escapes['"'] = '"';
  escapes['\\'] = '\\';
  return escapes;
}();

}  // namespace

std::string to_json(const Value& value) {
  std::string out;
  append_json(value, out);
  return out;
}

void append_json(const Value& value, std::string& out) { append(value, -1, out); }

std::string to_pretty_json(const Value& value) {
  std::string out;
  append(value, 0, out);
  return out;
}

void append_json_string(std::string_view text, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  size_t plain = 0;  // start of what needs no escape
  for (size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const char escape = kEscapes[byte];
    if (escape == 0) continue;
    out.append(text, plain, at - plain);
    plain = at + 1;
    out += '\\';
    out += escape;
    if (escape == 'u') {
      out += "00";
      out += kHex[byte >> 4U];
      out += kHex[byte & 15U];
    }
  }
  out.append(text, plain, text.size() - plain);
  out += '"';
}

}  // namespace shiplog
