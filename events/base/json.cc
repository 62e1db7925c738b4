#include "events/base/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "events/base/check.h"
#include "events/base/json_match.h"

namespace shiplog {
namespace {

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

// 0x80 in some byte of `word` if one of its bytes must be escaped.
constexpr uint64_t escaped_bytes(uint64_t word) {
  constexpr uint64_t kOnes = 0x0101010101010101U;
  constexpr uint64_t kHighs = 0x8080808080808080U;
  const uint64_t quote = word ^ (kOnes * '"');
  const uint64_t backslash = word ^ (kOnes * '\\');
  return (((quote - kOnes) & ~quote) | ((backslash - kOnes) & ~backslash) | ((word - kOnes * 0x20) & ~word)) & kHighs;
}

bool needs_escapes(std::string_view text) {
  const auto block = [&](size_t at) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + at, sizeof bytes);
    return bytes;
  };
  constexpr size_t kBlock = sizeof(uint64_t);
  if (text.size() >= kBlock) {
    const size_t last = text.size() - kBlock;  // it may overlap the one before
    for (size_t position = 0; position < last; position += kBlock) {
      if (escaped_bytes(block(position)) != 0) return true;
    }
    return escaped_bytes(block(last)) != 0;
  }
  if (text.size() >= kBlock / 2) {
    uint32_t halves[2];
    std::memcpy(&halves[0], text.data(), sizeof halves[0]);
    std::memcpy(&halves[1], text.data() + text.size() - sizeof halves[1], sizeof halves[1]);
    return escaped_bytes(halves[0] | uint64_t{halves[1]} << 32U) != 0;
  }
  for (const char c : text) {
    if (kEscapes[static_cast<unsigned char>(c)] != 0) return true;
  }
  return false;
}

// Writes into memory of the thread, which is there from the last time, so that most writes are a copy and no call.
// Every change is written once: for the hash, the projection and the watches.
class JsonWriter {
 public:
  JsonWriter() : out_{memory()} {}
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;
  ~JsonWriter() {
    constexpr size_t kMostKept = size_t{256} * 1024;
    if (out_.size() > kMostKept) std::string{}.swap(out_);
  }

  std::string_view written() const { return {out_.data(), size_}; }

  // `indent` is the level for people, or negative for canonical JSON.
  void value(const Value& value, int indent) {
    switch (value.kind()) {
      case Value::Kind::kNull:
        return text("null");
      case Value::Kind::kBool:
        return text(value.as_bool() ? "true" : "false");
      case Value::Kind::kInt:
        return integer(value.as_int());
      case Value::Kind::kDouble:
        return real(value.as_double());
      case Value::Kind::kString:
        return string(value.as_string());
      case Value::Kind::kArray: {
        character('[');
        bool first = true;
        for (const Value& item : value.items()) {
          element(first, indent);
          this->value(item, indent < 0 ? indent : indent + 1);
        }
        if (!first) newline(indent);
        return character(']');
      }
      case Value::Kind::kObject: {
        character('{');
        bool first = true;
        for (const Value::Member& member : value.members()) {
          element(first, indent);
          string(member.key());
          character(':');
          if (indent >= 0) character(' ');
          this->value(member.value, indent < 0 ? indent : indent + 1);
        }
        if (!first) newline(indent);
        return character('}');
      }
    }
  }

  void string(std::string_view text) {
    if (needs_escapes(text)) return escaped(text);
    char* to = room(text.size() + 2);
    *to = '"';
    if (!text.empty()) std::memcpy(to + 1, text.data(), text.size());
    to[text.size() + 1] = '"';
    size_ += text.size() + 2;
  }

 private:
  static std::string& memory() {
    thread_local std::string memory;
    return memory;
  }

  // Where the next bytes go; the requested number fits.
  char* room(size_t bytes) {
    constexpr size_t kLeast = 4096;
    if (out_.size() - size_ < bytes) out_.resize(std::max({kLeast, 2 * out_.size(), size_ + bytes}));
    return out_.data() + size_;
  }

  void character(char c) {
    *room(1) = c;
    ++size_;
  }

  void text(std::string_view plain) {
    std::memcpy(room(plain.size()), plain.data(), plain.size());
    size_ += plain.size();
  }

  void element(bool& first, int indent) {
    if (!first) character(',');
    first = false;
    if (indent >= 0) newline(indent + 1);
  }

  void newline(int indent) {
    if (indent < 0) return;
    character('\n');
    for (int level = 0; level < indent; ++level) text("  ");
  }

  void integer(int64_t value) {
    constexpr size_t kLongest = 24;
    char* const to = room(kLongest);
    size_ += static_cast<size_t>(std::to_chars(to, to + kLongest, value).ptr - to);
  }

  void real(double value) {
    SHIPLOG_CHECK(std::isfinite(value), "JSON has no infinity and no NaN; readers refuse them");
    std::array<char, 32> digits;
    const auto done = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    const std::string_view written{digits.data(), static_cast<size_t>(done.ptr - digits.data())};
    text(written);
    // 1.0 must not be read back as the integer 1: the two are different values.
    if (written.find_first_of(".e") == std::string_view::npos) text(".0");
  }

  void escaped(std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    constexpr size_t kLongestEscape = 6;
    char* const start = room(text.size() * kLongestEscape + 2);
    char* to = start;
    *to++ = '"';
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      const char escape = kEscapes[byte];
      if (escape == 0) {
        *to++ = c;
        continue;
      }
      *to++ = '\\';
      *to++ = escape;
      if (escape == 'u') {
        *to++ = '0';
        *to++ = '0';
        *to++ = kHex[byte >> 4U];
        *to++ = kHex[byte & 15U];
      }
    }
    *to++ = '"';
    size_ += static_cast<size_t>(to - start);
  }

  std::string& out_;
  size_t size_ = 0;  // of what was written; out_ is as long or longer
};

// Reads canonical JSON beside the value that it should be of.
class JsonMatcher {
 public:
  explicit JsonMatcher(std::string_view text) : at_{text.data()}, end_{text.data() + text.size()} {}

  bool ended() const { return at_ == end_; }

  bool value(const Value& value) {
    switch (value.kind()) {
      case Value::Kind::kNull:
        return text("null");
      case Value::Kind::kBool:
        return text(value.as_bool() ? "true" : "false");
      case Value::Kind::kInt: {
        std::array<char, 24> digits;
        const auto done = std::to_chars(digits.data(), digits.data() + digits.size(), value.as_int());
        return text({digits.data(), static_cast<size_t>(done.ptr - digits.data())});
      }
      case Value::Kind::kDouble:
        return text(to_json(value));
      case Value::Kind::kString:
        return string(value.as_string());
      case Value::Kind::kArray: {
        bool first = true;
        for (const Value& item : value.items()) {
          if (!character(first ? '[' : ',') || !this->value(item)) return false;
          first = false;
        }
        return text(first ? "[]" : "]");
      }
      case Value::Kind::kObject: {
        bool first = true;
        for (const Value::Member& member : value.members()) {
          if (!character(first ? '{' : ',') || !string(member.key()) || !character(':') || !this->value(member.value)) {
            return false;
          }
          first = false;
        }
        return text(first ? "{}" : "}");
      }
    }
    return false;
  }

 private:
  size_t left() const { return static_cast<size_t>(end_ - at_); }

  bool character(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  bool text(std::string_view plain) {
    if (left() < plain.size() || std::memcmp(at_, plain.data(), plain.size()) != 0) return false;
    at_ += plain.size();
    return true;
  }

  bool string(std::string_view plain) {
    // What is escaped may look like the end of a string and what follows it.
    if (needs_escapes(plain)) {
      std::string escaped;
      append_json_string(plain, escaped);
      return text(escaped);
    }
    return character('"') && (plain.empty() || text(plain)) && character('"');
  }

  const char* at_;
  const char* end_;
};

}  // namespace

bool is_json_of(std::string_view text, const Value& value) {
  JsonMatcher matcher{text};
  return matcher.value(value) && matcher.ended();
}

std::string to_json(const Value& value) {
  JsonWriter writer;
  writer.value(value, -1);
  return std::string{writer.written()};
}

void append_json(const Value& value, std::string& out) {
  JsonWriter writer;
  writer.value(value, -1);
  out += writer.written();
}

std::string to_pretty_json(const Value& value) {
  JsonWriter writer;
  writer.value(value, 0);
  return std::string{writer.written()};
}

void append_json_string(std::string_view text, std::string& out) {
  JsonWriter writer;
  writer.string(text);
  out += writer.written();
}

}  // namespace shiplog
