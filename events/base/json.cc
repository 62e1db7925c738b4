#include "events/base/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

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

#ifdef __SSE2__
// 0xFF in the bytes that must be escaped.
__m128i escaped_bytes(__m128i block) {
  const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1F)), block);
  const __m128i marks =
      _mm_or_si128(_mm_cmpeq_epi8(block, _mm_set1_epi8('"')), _mm_cmpeq_epi8(block, _mm_set1_epi8('\\')));
  return _mm_or_si128(control, marks);
}
#endif

// Whether a text needs no escapes. What else is done with each of its parts, `use(at, block)`, is of no use if it does.
template <class Use>
bool is_plain(std::string_view text, Use use) {
  const size_t size = text.size();
  const auto take = [&](size_t at, auto block) {
    std::memcpy(&block, text.data() + at, sizeof block);
    use(at, block);
    return block;
  };
#ifdef __SSE2__
  if (size >= sizeof(__m128i)) {
    // What is left after whole blocks, and some of what is taken again.
    __m128i escaped = escaped_bytes(take(size - sizeof(__m128i), __m128i{}));
    for (size_t at = 0; at + sizeof(__m128i) < size; at += sizeof(__m128i)) {
      escaped = _mm_or_si128(escaped, escaped_bytes(take(at, __m128i{})));
    }
    return _mm_movemask_epi8(escaped) == 0;
  }
#endif
  if (size >= sizeof(uint64_t)) {
    uint64_t escaped = escaped_bytes(take(size - sizeof(uint64_t), uint64_t{}));
    for (size_t at = 0; at + sizeof(uint64_t) < size; at += sizeof(uint64_t)) {
      escaped |= escaped_bytes(take(at, uint64_t{}));
    }
    return escaped == 0;
  }
  if (size >= sizeof(uint32_t)) {
    const uint64_t first = take(0, uint32_t{}), last = take(size - sizeof(uint32_t), uint32_t{});
    return escaped_bytes(first | last << 32U) == 0;
  }
  uint64_t block = 0x6161616161616161U;
  for (size_t at = 0; at < size; ++at) block = block << 8U | take(at, static_cast<unsigned char>(0));
  return escaped_bytes(block) == 0;
}

// The same; it is copied on the way.
bool copied_plain(std::string_view text, char* to) {
  return is_plain(text, [to](size_t at, auto block) { std::memcpy(to + at, &block, sizeof block); });
}

// Where JSON is written first: with its size known, the string that it is for takes the memory that it needs, once, and
// nothing is filled with zeros before.
struct JsonMemory {
  std::unique_ptr<char[]> bytes;
  size_t capacity = 0;
};

// Every change is written once: for the hash, the projection and the watches.
class JsonWriter {
 public:
  explicit JsonWriter(JsonMemory& memory) : memory_{memory} {}

  std::string_view written() const { return {memory_.bytes.get(), size_}; }

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
          if (indent < 0) {
            key(member.key(), first);
          } else {
            element(first, indent);
            string(member.key());
            text(": ");
          }
          this->value(member.value, indent < 0 ? indent : indent + 1);
        }
        if (!first) newline(indent);
        return character('}');
      }
    }
  }

  void string(std::string_view text) {
    char* const to = room(text.size() + 2);
    if (!copied_plain(text, to + 1)) return escaped(text);
    *to = '"';
    to[text.size() + 1] = '"';
    size_ += text.size() + 2;
  }

 private:
  // Where the next bytes go; the requested number fits.
  char* room(size_t bytes) {
    if (memory_.capacity - size_ < bytes) grow(bytes);
    return memory_.bytes.get() + size_;
  }

  void grow(size_t bytes) {
    constexpr size_t kLeast = 4096;
    const size_t capacity = std::max(kLeast, (size_ + bytes) * 2);
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    if (size_ > 0) std::memcpy(larger.get(), memory_.bytes.get(), size_);
    memory_ = {std::move(larger), capacity};
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

  // In canonical JSON: what separates it from the member before, the key and the colon.
  void key(std::string_view text, bool& first) {
    const size_t comma = first ? 0 : 1;
    char* const to = room(text.size() + 4);
    if (!copied_plain(text, to + comma + 1)) {
      element(first, -1);
      escaped(text);
      return character(':');
    }
    first = false;
    to[0] = ',';
    to[comma] = '"';
    to[comma + text.size() + 1] = '"';
    to[comma + text.size() + 2] = ':';
    size_ += comma + text.size() + 3;
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

  JsonMemory& memory_;
  size_t size_ = 0;
};

template <class Write>
void append(std::string& out, Write write) {
  constexpr size_t kKept = size_t{1} << 20U;
  thread_local JsonMemory memory;
  JsonWriter writer{memory};
  write(writer);
  out.append(writer.written());
  if (memory.capacity > kKept) memory = {};
}

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
    const size_t size = plain.size();
    if (left() < size + 2) return false;
    uint64_t different = 0;
    const auto compare = [&](size_t at, auto block) {
      auto other = block;
      std::memcpy(&other, at_ + 1 + at, sizeof other);
      if constexpr (sizeof block > sizeof different) {
        const auto both = block ^ other;
        different |= static_cast<uint64_t>(both[0] | both[1]);
      } else {
        different |= static_cast<uint64_t>(block ^ other);
      }
    };
    // What is escaped may look like the end of a string and what follows it.
    if (!is_plain(plain, compare)) {
      std::string escaped;
      append_json_string(plain, escaped);
      return text(escaped);
    }
    if (different != 0 || at_[0] != '"' || at_[size + 1] != '"') return false;
    at_ += size + 2;
    return true;
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
  std::string out;
  append_json(value, out);
  return out;
}

void append_json(const Value& value, std::string& out) {
  append(out, [&](JsonWriter& writer) { writer.value(value, -1); });
}

std::string to_pretty_json(const Value& value) {
  std::string out;
  append(out, [&](JsonWriter& writer) { writer.value(value, 0); });
  return out;
}

void append_json_string(std::string_view text, std::string& out) {
  append(out, [&](JsonWriter& writer) { writer.string(text); });
}

}  // namespace shiplog
