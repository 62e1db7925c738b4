#include "services/adapters/members/watch_line.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace shiplog {
namespace {

constexpr size_t kNone = std::string_view::npos;

/// Compared at once: `matches` has all bits of a byte set, or none.
typedef uint8_t ByteBlock __attribute__((vector_size(16)));

/// The first byte from `at` on for which `matches` holds, which takes one byte or a block of them.
template <class Matches>
size_t find_byte(std::string_view text, size_t at, Matches matches) {
  for (; at + sizeof(ByteBlock) <= text.size(); at += sizeof(ByteBlock)) {
    ByteBlock block;
    std::memcpy(&block, text.data() + at, sizeof block);
    const auto matched = matches(block);
    uint64_t halves[2];
    std::memcpy(halves, &matched, sizeof halves);
    if (halves[0] != 0) return at + static_cast<size_t>(std::countr_zero(halves[0])) / 8;
    if (halves[1] != 0) return at + 8 + static_cast<size_t>(std::countr_zero(halves[1])) / 8;
  }
  for (; at < text.size(); ++at) {
    if (matches(static_cast<uint8_t>(text[at]))) return at;
  }
  return kNone;
}

/// A quote, or a bracket of either form: they differ in one bit.
size_t find_mark(std::string_view text, size_t at) {
  return find_byte(text, at, [](auto c) { return (c == '"') | ((c | 0x20) == '{') | ((c | 0x20) == '}'); });
}

/// The position of the quote that ends the string which begins at `begin`; kNone: it does not end.
size_t end_of_string(std::string_view text, size_t begin) {
  const auto quote = [](auto c) { return c == '"'; };
  for (size_t at = find_byte(text, begin + 1, quote); at != kNone; at = find_byte(text, at + 1, quote)) {
    size_t escapes = 0;
    while (text[at - 1 - escapes] == '\\') ++escapes;  // up to the quote at `begin`, at the most
    if (escapes % 2 == 0) return at;
  }
  return kNone;
}

/// The position behind the array or object that begins at `begin`; kNone: it does not end.
size_t end_of_brackets(std::string_view text, size_t begin) {
  size_t depth = 0;
  for (size_t at = begin; (at = find_mark(text, at)) != kNone; ++at) {
    const char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
      if (at == kNone) return kNone;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (--depth == 0) {
      return at + 1;
    }
  }
  return kNone;
}

struct TextSpan {
  size_t begin = 0, end = 0;  // equal: there is none
};

/// The member and one of the commas beside it.
TextSpan member_at(std::string_view text, size_t key, size_t value) {
  const size_t end = end_of_brackets(text, value);
  if (end == kNone || end >= text.size()) return {};
  if (text[end] == ',') return {key, end + 1};
  return {text[key - 1] == ',' ? key - 1 : key, end};
}

TextSpan managed_fields_in(std::string_view text) {
  size_t depth = 0;
  bool in_object = false, in_metadata = false;
  for (size_t at = 0; (at = find_mark(text, at)) != kNone; ++at) {
    const char c = text[at];
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (c != '"') continue;
    const size_t end = end_of_string(text, at);
    if (end == kNone || end + 2 >= text.size()) return {};
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

/// Copies parts of a text. False: it is left to the parser.
class PartsCopy {
 public:
  PartsCopy(std::string_view text, std::string& out) : text_{text}, out_{out} {}

  bool line(const ObjectParts& parts) {
    return object([&](std::string_view name) -> const ObjectParts* {
             if (name == "object") return &parts;
             return name == "type" ? &whole_ : nullptr;
           }) &&
           at_ == text_.size();
  }

 private:
  char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }

  /// Behind the value that begins here.
  bool skip() {
    size_t end = kNone;
    if (next() == '"') {
      end = end_of_string(text_, at_);
      if (end != kNone) ++end;
    } else if (next() == '{' || next() == '[') {
      end = end_of_brackets(text_, at_);
    } else {
      end = text_.find_first_of(",]} \t\r\n\"", at_);
      if (end == at_) return false;
    }
    if (end == kNone) return false;
    at_ = end;
    return true;
  }

  bool copy() {
    const size_t begin = at_;
    if (!skip()) return false;
    out_.append(text_, begin, at_ - begin);
    return true;
  }

  bool value(const ObjectParts& wanted) {
    const auto object_of = [&] {
      return object([&](std::string_view name) -> const ObjectParts* {
        const auto found = std::ranges::find(wanted.parts, name, &ObjectParts::name);
        return found == wanted.parts.end() ? nullptr : &*found;
      });
    };
    if (wanted.parts.empty()) return copy();
    if (next() == '{') return object_of();
    if (!take('[')) return copy();
    out_ += '[';
    if (!take(']')) {
      // Not deeper: a member decides how deep its arrays are.
      do {
        if (out_.back() != '[') out_ += ',';
        if (!(next() == '{' ? object_of() : copy())) return false;
      } while (take(','));
      if (!take(']')) return false;
    }
    out_ += ']';
    return true;
  }

  /// The members for which `wanted` returns parts.
  template <class Parts>
  bool object(Parts wanted) {
    if (!take('{')) return false;
    out_ += '{';
    if (!take('}')) {
      do {
        const size_t key = at_;
        if (next() != '"' || !skip()) return false;
        const std::string_view quoted = text_.substr(key, at_ - key);
        if (quoted.find('\\') != kNone || !take(':')) return false;
        const ObjectParts* parts = wanted(quoted.substr(1, quoted.size() - 2));
        if (parts != nullptr) {
          if (out_.back() != '{') out_ += ',';
          out_.append(quoted).push_back(':');
        }
        if (!(parts == nullptr ? skip() : value(*parts))) return false;
      } while (take(','));
      if (!take('}')) return false;
    }
    out_ += '}';
    return true;
  }

  std::string_view text_;
  std::string& out_;
  size_t at_ = 0;
  const ObjectParts whole_;
};

size_t values_outside_of_strings(std::string_view text) {
  size_t values = 1;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
      if (at == kNone) break;
    } else if (c == ',' || c == '[' || c == '{') {
      ++values;
    }
  }
  return values;
}

}  // namespace

std::string_view without_managed_fields(std::string_view line, std::string& buffer) {
  const TextSpan removed = managed_fields_in(line);
  if (removed.begin == removed.end) return line;
  buffer.assign(line.substr(0, removed.begin)).append(line.substr(removed.end));
  return buffer;
}

std::string_view with_parts(std::string_view line, const ObjectParts& parts, std::string& buffer) {
  buffer.clear();
  return PartsCopy{line, buffer}.line(parts) ? std::string_view{buffer} : line;
}

size_t values_in(std::string_view text) {
  constexpr size_t kMany = 1024;
  size_t values = 1;
  for (size_t at = 0; at < text.size();) {
    // The sum of a block's bytes, before any of them can overflow.
    ByteBlock counts{};
    for (int blocks = 0; blocks < 255 && at + sizeof(ByteBlock) <= text.size(); ++blocks, at += sizeof(ByteBlock)) {
      ByteBlock block;
      std::memcpy(&block, text.data() + at, sizeof block);
      const auto counted = (block == ',') | ((block | 0x20) == '{');
      counts -= reinterpret_cast<const ByteBlock&>(counted);
    }
    for (size_t index = 0; index < sizeof(ByteBlock); ++index) values += counts[index];
    if (at + sizeof(ByteBlock) <= text.size()) continue;
    for (; at < text.size(); ++at) values += text[at] == ',' || text[at] == '[' || text[at] == '{' ? 1 : 0;
  }
  return values < kMany ? values : values_outside_of_strings(text);
}

}  // namespace shiplog
