#include "events/base/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include <nlohmann/json.hpp>

#include "events/base/check.h"
#include "events/base/utf8.h"

namespace shiplog {
namespace {

using Sax = nlohmann::json_sax<nlohmann::json>;

Error error_at(std::string_view text, size_t position, const std::string& what) {
  const std::string_view before = text.substr(0, std::min(position, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t newline = before.rfind('\n');
  const size_t column = newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
  return {ErrorCode::kBadRequest,
          "invalid JSON at line " + std::to_string(line) + ", column " + std::to_string(column) + ": " + what};
}

// The library's sentence without its code and place. What it quotes of the input is made fit to be printed.
std::string plain_reason(std::string what) {
  if (const size_t place = what.find("column "); place != std::string::npos) {
    if (const size_t colon = what.find(": ", place); colon != std::string::npos) what.erase(0, colon + 2);
  } else if (const size_t code = what.find("] "); code != std::string::npos) {
    what.erase(0, code + 2);
  }
  return printable(what, 200);
}

// Where nesting first exceeds the limit. Everything before that place has been read as valid JSON.
size_t position_too_deep(std::string_view text, int most) {
  int depth = 0;
  bool in_string = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > most) return at;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return text.size();
}

// Builds the Value from the parser's events, without a tree of the library's own in between.
class Builder final : public Sax {
 public:
  Builder(std::string_view text, std::vector<std::string>* duplicates, int max_depth)
      : text_{text}, duplicates_{duplicates}, max_depth_{max_depth} {}

  Result<Value> take(bool parsed) {
    if (!parsed) return std::move(error_);
    return std::move(root_);
  }

  bool null() override { return add(Value{}); }
  bool boolean(bool value) override { return add(Value{value}); }
  bool number_integer(int64_t value) override { return add(Value{value}); }
  bool number_unsigned(uint64_t value) override {
    // Above int64 a whole number is kept as a double, as Kubernetes' own reader does.
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return add(Value{static_cast<double>(value)});
    return add(Value{static_cast<int64_t>(value)});
  }
  bool number_float(double value, const std::string&) override { return add(Value{value}); }
  bool string(std::string& value) override { return add(Value{value}); }
  bool binary(nlohmann::json::binary_t&) override { return false; }  // no such thing in JSON text

  bool start_object(size_t) override { return open(true); }
  bool start_array(size_t) override { return open(false); }
  bool key(std::string& name) override {
    open_.back().members.push_back({Value{name}, Value{}});
    return true;
  }
  bool end_object() override {
    if (duplicates_ != nullptr) note_duplicates();
    Value made = Value::object(std::move(open_.back().members));
    open_.pop_back();
    return add(std::move(made));
  }
  bool end_array() override {
    Value made = Value::array(std::move(open_.back().items));
    open_.pop_back();
    return add(std::move(made));
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception& error) override {
    // The library counts the byte it stumbled over as read.
    error_ = error_at(text_, position == 0 ? 0 : position - 1, plain_reason(error.what()));
    return false;
  }

 private:
  struct Open {
    bool is_object;
    Value::Object members;  // the last one waits for its value
    Value::Array items;
  };

  bool open(bool is_object) {
    if (open_.size() == static_cast<size_t>(max_depth_)) {
      error_ = error_at(text_, position_too_deep(text_, max_depth_),
                        "nested deeper than " + std::to_string(max_depth_) + " objects and arrays");
      return false;
    }
    open_.push_back({is_object, {}, {}});
    return true;
  }

  bool add(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().is_object) {
      open_.back().members.back().value = std::move(value);
    } else {
      open_.back().items.push_back(std::move(value));
    }
    return true;
  }

  // "spec.containers[0]." for the object that is open now.
  std::string path_prefix() const {
    std::string path;
    for (size_t level = 0; level + 1 < open_.size(); ++level) {
      const Open& parent = open_[level];
      if (parent.is_object) {
        if (!path.empty()) path += '.';
        path += parent.members.back().key();
      } else {
        path += '[' + std::to_string(parent.items.size()) + ']';
      }
    }
    return path.empty() ? path : path + '.';
  }

  void note_duplicates() {
    std::vector<std::string_view> keys;
    for (const Value::Member& member : open_.back().members) keys.push_back(member.key());
    std::sort(keys.begin(), keys.end());
    for (auto at = std::adjacent_find(keys.begin(), keys.end()); at != keys.end();) {
      duplicates_->push_back(path_prefix() + std::string{*at});
      at = std::upper_bound(at, keys.end(), *at);
      at = std::adjacent_find(at, keys.end());
    }
  }

  std::string_view text_;
  std::vector<std::string>* duplicates_;
  int max_depth_;
  std::vector<Open> open_;
  Value root_;
  Error error_{ErrorCode::kBadRequest, "invalid JSON"};
};

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

namespace {

Result<Value> parse(std::string_view text, std::vector<std::string>* duplicates, int max_depth) {
  // The library takes a NUL for the end of the text and would not see what follows.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return error_at(text, nul, "a NUL byte");
  }
  Builder builder{text, duplicates, max_depth};
  const bool parsed = nlohmann::json::sax_parse(text.begin(), text.end(), static_cast<Sax*>(&builder));
  return builder.take(parsed);
}

}  // namespace

Result<Value> parse_json(std::string_view text, std::vector<std::string>* duplicates) {
  return parse(text, duplicates, kMaxJsonDepth);
}

Result<Value> parse_stored_json(std::string_view text) { return parse(text, nullptr, kMaxStoredJsonDepth); }

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
