#include "events/base/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "events/base/ascii.h"

namespace shiplog {
namespace {

enum class Word { kNone, kTrue, kFalse, kNull, kNotInJson };

Word word_of(std::string_view text) {
  if (text.empty() || text == "~") return Word::kNull;
  if (text == "y" || text == "Y") return Word::kTrue;
  if (text == "n" || text == "N") return Word::kFalse;
  // Three spellings of each: true, True, TRUE.
  const auto spells = [&](std::string_view lower) {
    if (text.size() != lower.size()) return false;
    const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; };
    const bool first = text[0] == lower[0] || text[0] == upper(lower[0]);
    const bool all_upper =
        std::equal(text.begin(), text.end(), lower.begin(), [&](char have, char want) { return have == upper(want); });
    return all_upper || (first && text.substr(1) == lower.substr(1));
  };
  for (const auto* word : {"true", "yes", "on"}) {
    if (spells(word)) return Word::kTrue;
  }
  for (const auto* word : {"false", "no", "off"}) {
    if (spells(word)) return Word::kFalse;
  }
  if (spells("null")) return Word::kNull;
  for (const auto* word :
       {".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"}) {
    if (text == word) return Word::kNotInJson;
  }
  return Word::kNone;
}

size_t skip_digits(std::string_view text, size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

// Go's integers: 10, 0x1F, 0o17 or 017, 0b11, with a sign.
std::optional<Value> whole_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char mark = static_cast<char>(text[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
    text.remove_prefix(mark == 'x' || mark == 'b' || mark == 'o' ? 2 : 1);
  }
  uint64_t size = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, size, base);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  constexpr auto kMax = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  if (size <= kMax) return Value{negative ? -static_cast<int64_t>(size) : static_cast<int64_t>(size)};
  if (negative && size == kMax + 1) return Value{std::numeric_limits<int64_t>::min()};
  if (negative) return std::nullopt;
  return Value{static_cast<double>(size)};
}

// [-+]? ( .digits | digits [ . digits? ] ) ( e [-+]? digits )?
std::optional<Value> real_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  size_t position = text.starts_with('-') ? 1 : 0;
  const size_t whole = skip_digits(text, position) - position;
  position += whole;
  if (position < text.size() && text[position] == '.') {
    const size_t end = skip_digits(text, position + 1);
    if (whole == 0 && end == position + 1) return std::nullopt;
    position = end;
  } else if (whole == 0) {
    return std::nullopt;
  }
  if (position < text.size() && (text[position] == 'e' || text[position] == 'E')) {
    ++position;
    if (position < text.size() && (text[position] == '-' || text[position] == '+')) ++position;
    const size_t end = skip_digits(text, position);
    if (end == position) return std::nullopt;
    position = end;
  }
  if (position != text.size()) return std::nullopt;
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{}) return std::nullopt;  // out of a double's range: text, as in Go
  const Value real{number};
  // Go writes 1.0 as 1, and that is what a server reads.
  const int64_t same = real.as_int(0);
  return static_cast<double>(same) == number ? Value{same} : real;
}

// "2006-1-2", alone or with a time after it.
bool looks_like_date(std::string_view text) {
  if (text.size() < 8 || skip_digits(text, 0) != 4 || text[4] != '-') return false;
  const size_t month = skip_digits(text, 5);
  if (month == 5 || month == text.size() || text[month] != '-') return false;
  const size_t day = skip_digits(text, month + 1);
  return day > month + 1 && (day == text.size() || text[day] == 'T' || text[day] == 't' || text[day] == ' ');
}

// "1:30:00": YAML 1.1 readers count it in sixties.
bool looks_like_base60(std::string_view text) {
  if (text.find(':') == std::string_view::npos) return false;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && is_digit(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || c == ':' || c == '_' || c == '.'; });
}

}  // namespace

std::optional<Value> resolve_yaml_scalar(std::string_view text) {
  switch (word_of(text)) {
    case Word::kTrue:
      return Value{true};
    case Word::kFalse:
      return Value{false};
    case Word::kNull:
      return Value{};
    case Word::kNotInJson:
      return std::nullopt;
    case Word::kNone:
      break;
  }
  const char first = text[0];
  if (first == '.') {
    if (auto number = real_number(text)) return number;
  } else if (is_digit(first) || first == '-' || first == '+') {
    std::string digits{text};
    std::erase(digits, '_');
    if (auto number = whole_number(digits)) return number;
    if (auto number = real_number(digits)) return number;
  }
  return Value{text};
}

bool yaml_needs_quotes(std::string_view text) {
  const auto value = resolve_yaml_scalar(text);
  return !value || !value->is_string() || text == "<<" || looks_like_date(text) || looks_like_base60(text);
}

}  // namespace shiplog
