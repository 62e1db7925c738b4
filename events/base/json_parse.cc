#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "events/base/ascii.h"
#include "events/base/json.h"
#include "events/base/json_parts.h"
#include "events/base/json_sharing.h"
#include "events/base/utf8.h"
#include "events/base/well_known_texts.h"

namespace shiplog {
namespace {

// Every entry and every request passes here, so this is written for speed and reads the grammar of RFC 8259 straight
// into Values; docs/decisions/0017 has the measurements. Whatever is not exactly the grammar is an error.

// 0x80 in each byte of `word` that a string cannot simply hold: quote, backslash, control characters, and what is not
// ASCII. Bytes after the first such one may be marked without being one (borrows run upwards), the first is right.
constexpr uint64_t special_bytes(uint64_t word) {
  constexpr uint64_t kOnes = 0x0101010101010101U;
  constexpr uint64_t kHighs = 0x8080808080808080U;
  const uint64_t quote = word ^ (kOnes * '"');
  const uint64_t backslash = word ^ (kOnes * '\\');
  const uint64_t is_quote = (quote - kOnes) & ~quote;
  const uint64_t is_backslash = (backslash - kOnes) & ~backslash;
  const uint64_t is_control = (word - kOnes * 0x20) & ~word;
  return (is_quote | is_backslash | is_control | word) & kHighs;
}

constexpr bool is_special(char c) {
  return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x80;
}

constinit thread_local JsonParts* shared_parts = nullptr;

class JsonParser {
 public:
  JsonParser(std::string_view text, std::vector<std::string>* duplicates, int max_depth, bool stored = false)
      : begin_{text.data()},
        at_{text.data()},
        end_{text.data() + text.size()},
        duplicates_{duplicates},
        max_depth_{static_cast<size_t>(max_depth)},
        stored_{stored},
        parts_{stored ? shared_parts : nullptr} {
    std::swap(stacks_, spare_stacks());
    if (stacks_.members.capacity() == 0) {
      constexpr size_t kTypical = 32;
      stacks_.members.reserve(kTypical);
      stacks_.open.reserve(kTypical);
    }
  }
  JsonParser(const JsonParser&) = delete;
  JsonParser& operator=(const JsonParser&) = delete;
  ~JsonParser() {
    // An entry has many documents: the next one gets these stacks, unless they are large or hold what is left of text
    // that was refused.
    constexpr size_t kSpare = 1024;
    if (stacks_.members.empty() && stacks_.items.empty() && stacks_.members.capacity() <= kSpare &&
        stacks_.items.capacity() <= kSpare) {
      stacks_.open.clear();
      std::swap(stacks_, spare_stacks());
    }
  }

  Result<Value> run() {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (std::string_view{at_, end_}.starts_with(kByteOrderMark)) at_ += kByteOrderMark.size();
    Value root;
    space();
    if (value(root)) {
      space();
      if (at_ == end_) return root;
      expected("the end of the text");
    }
    return error();
  }

 private:
  // Where the contents of an object or array that is not closed yet begin on the two stacks.
  struct Open {
    size_t members;
    size_t items;
    bool is_object;
  };

  struct Stacks {
    std::vector<Value::Member> members;  // of all open objects, innermost last
    std::vector<Value> items;            // of all open arrays
    std::vector<Open> open;
  };
  static Stacks& spare_stacks() {
    thread_local Stacks spare;
    return spare;
  }

  // Errors: the first one counts, and everything returns false from then on.

  bool wrong(const char* where, std::string problem) {
    wrong_at_ = where;
    wrong_ = std::move(problem);
    return false;
  }

  bool expected(std::string_view what) {
    if (at_ == end_) return wrong(at_, "expected " + std::string{what} + ", found the end");
    const size_t length = std::max<size_t>(1, utf8_sequence_length({at_, end_}));
    return wrong(at_, "expected " + std::string{what} + ", found '" + printable({at_, length}) + "'");
  }

  Error error() const {
    const std::string_view before{begin_, wrong_at_};
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t newline = before.rfind('\n');
    const size_t column = newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
    const bool nul = wrong_at_ != end_ && *wrong_at_ == '\0';
    return {ErrorCode::kBadRequest, "invalid JSON at line " + std::to_string(line) + ", column " +
                                        std::to_string(column) + ": " + (nul ? "a NUL byte" : wrong_)};
  }

  // Grammar

  void space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }

  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  // Stands at the first character of a value. `into` is null.
  bool value(Value& into) {
    switch (at_ == end_ ? '\0' : *at_) {
      case '"':
        return string(into);
      case '{':
        return object(into);
      case '[':
        return array(into);
      case 't':
        return word("true", Value{true}, into);
      case 'f':
        return word("false", Value{false}, into);
      case 'n':
        return word("null", Value{}, into);
      default:
        if (at_ != end_ && (*at_ == '-' || is_digit(*at_))) return number(into);
        return expected("a value");
    }
  }

  bool word(std::string_view spelled, Value meaning, Value& into) {
    const auto differs = std::mismatch(spelled.begin(), spelled.end(), at_, end_);
    at_ = differs.second;
    if (differs.first != spelled.end()) return expected('"' + std::string{spelled} + "\" without quotes");
    into = std::move(meaning);
    return true;
  }

  bool enter(bool is_object) {
    if (open_.size() == max_depth_) {
      return wrong(at_, "nested deeper than " + std::to_string(max_depth_) + " objects and arrays");
    }
    open_.push_back({members_.size(), items_.size(), is_object});
    deepest_ = std::max(deepest_, open_.size());
    ++at_;
    space();
    return true;
  }

  // The value of the newest element. What is short is made in its place (moving bytes just written stalls the
  // processor); while an object or array is read, its stack may move.
  template <class Stack, class Slot>
  bool element(Stack& stack, Slot slot) {
    if (at_ == end_ || (*at_ != '{' && *at_ != '[')) return value(slot(stack.back()));
    const size_t index = stack.size() - 1;
    Value nested;
    if (!(parts_ == nullptr ? value(nested) : shared(nested))) return false;
    slot(stack[index]) = std::move(nested);
    return true;
  }

  // Stands at the first character of an object or array. `into` is null.
  bool shared(Value& into) {
    JsonParts::Slot* const known = parts_->slot(begin_, at_, end_);
    if (known == nullptr) return value(into);
    const JsonParts::Part* const same = known->find({at_, end_});
    if (same != nullptr && open_.size() + same->height <= max_depth_) {
      deepest_ = std::max(deepest_, open_.size() + same->height);
      at_ += same->text.size();
      std::construct_at(&into, same->value);
      return true;
    }
    const char* const first = at_;
    const size_t deepest_before = std::exchange(deepest_, open_.size());
    if (!value(into)) return false;
    if (same == nullptr) known->keep({first, at_}, into, deepest_ - open_.size());
    deepest_ = std::max(deepest_, deepest_before);
    return true;
  }

  bool object(Value& into) {
    if (!enter(true)) return false;
    if (at_ != end_ && *at_ == '}') {
      ++at_;
    } else {
      do {
        space();
        const bool first = members_.size() == open_.back().members;
        if (at_ == end_ || *at_ != '"')
          return expected(first ? "a key in double quotes, or '}'" : "a key in double quotes");
        members_.emplace_back();
        if (!string<true>(members_.back().key_text)) return false;
        space();
        if (!take(':')) return expected("':'");
        space();
        if (!element(members_, [](Value::Member& member) -> Value& { return member.value; })) return false;
        space();
      } while (take(','));
      if (!take('}')) return expected("',' or '}'");
    }
    const auto first = members_.begin() + static_cast<std::ptrdiff_t>(open_.back().members);
    if (duplicates_ != nullptr) note_duplicates();
    into = Value::taking_members({first, members_.end()});
    members_.erase(first, members_.end());
    open_.pop_back();
    return true;
  }

  bool array(Value& into) {
    if (!enter(false)) return false;
    if (at_ != end_ && *at_ == ']') {
      ++at_;
    } else {
      do {
        space();
        items_.emplace_back();
        if (!element(items_, [](Value& item) -> Value& { return item; })) return false;
        space();
      } while (take(','));
      if (!take(']')) return expected("',' or ']'");
    }
    const auto first = items_.begin() + static_cast<std::ptrdiff_t>(open_.back().items);
    into = Value::taking_items({first, items_.end()});
    items_.erase(first, items_.end());
    open_.pop_back();
    return true;
  }

  // Strings

  const char* special() const {
    const char* at = at_;
    if constexpr (std::endian::native == std::endian::little) {
      for (uint64_t block = 0; static_cast<size_t>(end_ - at) >= sizeof block; at += sizeof block) {
        std::memcpy(&block, at, sizeof block);
        const uint64_t found = special_bytes(block);
        if (found != 0) return at + std::countr_zero(found) / 8;
      }
    }
    while (at != end_ && !is_special(*at)) ++at;
    return at;
  }

  // Stands at the opening quote. `into` is null.
  template <bool Key = false>
  bool string(Value& into) {
    const char* const quote = at_++;
    const char* plain = at_;  // what was not yet copied to text_
    bool escaped = false;
    while (true) {
      at_ = special();
      if (at_ == end_) return wrong(quote, "this string has no end");
      const char c = *at_;
      if (c == '"') break;
      if (c == '\\') {
        if (!escaped) text_.clear();
        escaped = true;
        text_.append(plain, at_);
        if (!escape()) return false;
        plain = at_;
      } else if (static_cast<unsigned char>(c) >= 0x80) {
        const size_t length = utf8_sequence_length({at_, end_});
        if (length == 0) return wrong(at_, "a string with bytes that are not UTF-8");
        at_ += length;
      } else {
        return wrong(at_, "a string with a control character: it is written as \\n, \\t or \\u and its number");
      }
    }
    if (escaped) {
      text_.append(plain, at_);
      std::construct_at(&into, std::string_view{text_});
    } else {
      make<Key>({plain, static_cast<size_t>(at_ - plain)}, into);
    }
    ++at_;
    return true;
  }

  // The same few hundred texts (labels, kinds, owners, conditions, times) stand in every object of a fleet. Those that
  // are well known are part of the program; others too long to lie inside a Value are kept once, as long as no other
  // text takes their slot. Only of stored objects: requests may hold what must not stay in memory.
  template <bool Key>
  void make(std::string_view text, Value& into) const {
    constexpr size_t kKnown = 4096;
    const bool middling = text.size() >= kShortestWellKnown && text.size() <= kLongestWellKnown;
    if (!middling || (!stored_ && !Key)) {
      std::construct_at(&into, text);
      return;
    }
    if (!stored_) {
      std::construct_at(&into, Value::interned(text));
      return;
    }
    thread_local std::array<Value, kKnown> known;
    Value& same = known[mixed_text(text) & (kKnown - 1)];
    if (same.as_string() != text) same = Value::interned(text);
    std::construct_at(&into, same);
  }

  // Stands at the backslash; appends what it stands for.
  bool escape() {
    const char* const backslash = at_++;
    const char c = at_ == end_ ? '\0' : *at_++;
    switch (c) {
      case '"':
      case '\\':
      case '/':
        text_ += c;
        return true;
      case 'b':
        text_ += '\b';
        return true;
      case 'f':
        text_ += '\f';
        return true;
      case 'n':
        text_ += '\n';
        return true;
      case 'r':
        text_ += '\r';
        return true;
      case 't':
        text_ += '\t';
        return true;
      case 'u':
        return code_point(backslash);
      default:
        return wrong(backslash, "a backslash must be followed by one of \" \\ / b f n r t u");
    }
  }

  bool four_digits(const char* backslash, uint32_t& unit) {
    const char* const stop = end_ - at_ < 4 ? end_ : at_ + 4;
    const auto read = std::from_chars(at_, stop, unit, 16);
    if (read.ptr != at_ + 4) return wrong(backslash, "\\u must be followed by four hexadecimal digits");
    at_ += 4;
    return true;
  }

  bool code_point(const char* backslash) {
    const auto high = [](uint32_t unit) { return unit >= 0xD800 && unit <= 0xDBFF; };
    const auto low = [](uint32_t unit) { return unit >= 0xDC00 && unit <= 0xDFFF; };
    uint32_t point = 0;
    if (!four_digits(backslash, point)) return false;
    if (high(point)) {
      uint32_t second = 0;
      const bool follows = end_ - at_ >= 2 && at_[0] == '\\' && at_[1] == 'u';
      if (follows) {
        at_ += 2;
        if (!four_digits(backslash, second)) return false;
      }
      if (!low(second)) return wrong(backslash, "the first half of a surrogate pair must be followed by the second");
      point = 0x10000 + ((point - 0xD800) << 10U) + (second - 0xDC00);
    } else if (low(point)) {
      return wrong(backslash, "the second half of a surrogate pair without the first");
    }
    const auto put = [&](uint32_t byte) { text_ += static_cast<char>(byte); };
    if (point < 0x80) {
      put(point);
    } else if (point < 0x800) {
      put(0xC0 | (point >> 6U));
      put(0x80 | (point & 0x3FU));
    } else if (point < 0x10000) {
      put(0xE0 | (point >> 12U));
      put(0x80 | ((point >> 6U) & 0x3FU));
      put(0x80 | (point & 0x3FU));
    } else {
      put(0xF0 | (point >> 18U));
      put(0x80 | ((point >> 12U) & 0x3FU));
      put(0x80 | ((point >> 6U) & 0x3FU));
      put(0x80 | (point & 0x3FU));
    }
    return true;
  }

  // Numbers

  bool digits() {
    if (at_ == end_ || !is_digit(*at_)) return expected("a digit");
    while (at_ != end_ && is_digit(*at_)) ++at_;
    return true;
  }

  // Whole numbers beyond 64 bits become doubles, as in Kubernetes' own reader.
  bool number(Value& into) {
    const char* const first = at_;
    take('-');
    if (!take('0') && !digits()) return false;
    bool whole = true;
    if (take('.')) {
      whole = false;
      if (!digits()) return false;
    }
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
      whole = false;
      ++at_;
      if (!take('-')) take('+');
      if (!digits()) return false;
    }
    if (whole) {
      int64_t integer = 0;
      if (std::from_chars(first, at_, integer).ec == std::errc{}) {
        std::construct_at(&into, integer);
        return true;
      }
    }
    double real = 0;
    if (std::from_chars(first, at_, real).ec != std::errc{}) {
      if (!vanishes({first, at_})) return wrong(first, "a number too large for a double");
      real = *first == '-' ? -0.0 : 0.0;
    }
    into = Value{real};
    return true;
  }

  // Of a number outside the range of doubles: whether it is too near to zero, rather than too far from it.
  static bool vanishes(std::string_view number) {
    const size_t e = number.find_first_of("eE");
    int64_t exponent = 0;
    if (e != std::string_view::npos) {
      const char* const from = number.data() + e + (number[e + 1] == '+' ? 2 : 1);
      if (std::from_chars(from, number.data() + number.size(), exponent).ec != std::errc{}) {
        return number[e + 1] == '-';
      }
    }
    const std::string_view mantissa = number.substr(0, e);
    const auto leading = static_cast<int64_t>(mantissa.find_first_of("123456789"));
    const size_t dot = mantissa.find('.');
    const auto point = static_cast<int64_t>(dot == std::string_view::npos ? mantissa.size() : dot);
    return exponent + point - leading < 0;
  }

  // Duplicate keys

  // "spec.containers[0]." for the object that is open now.
  std::string path_prefix() const {
    std::string path;
    for (size_t level = 0; level + 1 < open_.size(); ++level) {
      if (open_[level].is_object) {
        if (!path.empty()) path += '.';
        path += members_[open_[level + 1].members - 1].key();
      } else {
        path += '[' + std::to_string(open_[level + 1].items - open_[level].items - 1) + ']';
      }
    }
    return path.empty() ? path : path + '.';
  }

  void note_duplicates() {
    const auto first = members_.begin() + static_cast<std::ptrdiff_t>(open_.back().members);
    const auto not_before = [](const Value::Member& a, const Value::Member& b) { return a.key() >= b.key(); };
    if (std::adjacent_find(first, members_.end(), not_before) == members_.end()) return;  // sorted, so no duplicates
    std::vector<std::string_view> keys;
    for (auto entry = first; entry != members_.end(); ++entry) keys.push_back(entry->key());
    std::sort(keys.begin(), keys.end());
    for (auto entry = std::adjacent_find(keys.begin(), keys.end()); entry != keys.end();) {
      duplicates_->push_back(path_prefix() + std::string{*entry});
      entry = std::upper_bound(entry, keys.end(), *entry);
      entry = std::adjacent_find(entry, keys.end());
    }
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  std::vector<std::string>* duplicates_;
  size_t max_depth_;
  bool stored_;
  JsonParts* parts_;    // nullptr: nothing is shared
  size_t deepest_ = 0;  // the most that were open at once, of the part that is read
  Stacks stacks_;
  std::vector<Value::Member>& members_ = stacks_.members;
  std::vector<Value>& items_ = stacks_.items;
  std::vector<Open>& open_ = stacks_.open;
  std::string text_;  // a string with escapes
  const char* wrong_at_ = nullptr;
  std::string wrong_;
};

}  // namespace

Result<Value> parse_json(std::string_view text, std::vector<std::string>* duplicates) {
  return JsonParser{text, duplicates, kMaxJsonDepth}.run();
}

Result<Value> parse_stored_json(std::string_view text) {
  return JsonParser{text, nullptr, kMaxStoredJsonDepth, true}.run();
}

JsonSharing::JsonSharing()
    : parts_{std::make_unique<JsonParts>()}, before_{std::exchange(shared_parts, parts_.get())} {}

JsonSharing::~JsonSharing() { shared_parts = before_; }

}  // namespace shiplog
