#include "events/base/schema_duration.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "events/base/ascii.h"
#include "events/base/go_duration.h"

namespace shiplog {
namespace {

struct DurationUnit {
  std::string_view name;
  std::string_view other_name;
  std::string_view beginning;  // of words
  int64_t nanoseconds;
};

constexpr std::array<DurationUnit, 8> kSchemaUnits = {{
    {"ns", "ns", "nano", 1},
    {"us", "\xC2\xB5s", "micro", 1'000},  // U+00B5, micro sign
    {"ms", "ms", "milli", 1'000'000},
    {"s", "s", "sec", 1'000'000'000},
    {"m", "m", "min", 60'000'000'000},
    {"h", "hr", "hour", 3'600'000'000'000},
    {"d", "d", "day", 86'400'000'000'000},
    {"w", "wk", "week", 604'800'000'000'000},
}};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'; }
bool is_of_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '\xC2' || c == '\xB5'; }

/// The longest beginning of `text` whose characters fit.
std::string_view take_while(std::string_view& text, bool (*fits)(char)) {
  const auto end = std::find_if_not(text.begin(), text.end(), fits);
  const std::string_view taken = text.substr(0, static_cast<size_t>(end - text.begin()));
  text.remove_prefix(taken.size());
  return taken;
}

/// nullptr: there is no such unit.
const DurationUnit* unit_of(const std::string& word) {
  const auto found = std::ranges::find_if(kSchemaUnits, [&](const DurationUnit& unit) {
    return word == unit.name || word == unit.other_name || word.starts_with(unit.beginning);
  });
  return found == kSchemaUnits.end() ? nullptr : &*found;
}

}  // namespace

std::optional<int64_t> parse_schema_duration(std::string_view text) {
  if (const auto plain = parse_go_duration(text)) return plain;
  int64_t total = 0;
  bool has_unit = false;
  take_while(text, is_space);
  while (!text.empty()) {
    const std::string_view digits = take_while(text, is_digit);
    take_while(text, is_space);
    const std::string_view word = take_while(text, is_of_word);
    take_while(text, is_space);
    int64_t number = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (digits.empty() || word.empty() || read.ec != std::errc{}) return std::nullopt;
    // As upstream, a unit that is not known counts nothing beside others.
    const DurationUnit* unit = unit_of(lower_case(word));
    if (unit == nullptr) continue;
    has_unit = true;
    int64_t nanoseconds = 0;
    if (__builtin_mul_overflow(number, unit->nanoseconds, &nanoseconds) ||
        __builtin_add_overflow(total, nanoseconds, &total)) {
      return std::nullopt;
    }
  }
  return has_unit ? std::optional{total} : std::nullopt;
}

}  // namespace shiplog
