#include "events/base/go_duration.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "events/base/ascii.h"

namespace shiplog {
namespace {

bool take(std::string_view& text, char wanted) {
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(1);
  return true;
}

// Nanoseconds of a unit of Go's durations; 0 for anything else.
int64_t nanoseconds_of(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, int64_t>, 8> kUnits = {{
      {"ns", 1},
      {"us", 1'000},
      {"\xC2\xB5s", 1'000},  // U+00B5, micro sign
      {"\xCE\xBCs", 1'000},  // U+03BC, Greek mu
      {"ms", 1'000'000},
      {"s", 1'000'000'000},
      {"m", 60'000'000'000},
      {"h", 3'600'000'000'000},
  }};
  for (const auto& [name, nanoseconds] : kUnits) {
    if (name == unit) return nanoseconds;
  }
  return 0;
}

}  // namespace

std::optional<int64_t> parse_go_duration(std::string_view text) {
  __extension__ using Wide = __int128;
  constexpr Wide kMost = Wide{std::numeric_limits<int64_t>::max()} + 1;  // of a negative one
  std::string_view left = text;
  const bool negative = take(left, '-');
  if (!negative) take(left, '+');
  if (left == "0") return 0;
  if (left.empty()) return std::nullopt;
  Wide total = 0;
  while (!left.empty()) {
    Wide whole = 0;
    Wide fraction = 0;
    Wide scale = 1;
    bool digits = false;
    for (; !left.empty() && is_digit(left.front()); left.remove_prefix(1), digits = true) {
      whole = whole * 10 + (left.front() - '0');
      if (whole > kMost) return std::nullopt;
    }
    if (take(left, '.')) {
      for (; !left.empty() && is_digit(left.front()); left.remove_prefix(1), digits = true) {
        if (scale > kMost / 10) continue;  // finer than any unit can show
        fraction = fraction * 10 + (left.front() - '0');
        scale *= 10;
      }
    }
    if (!digits) return std::nullopt;
    const auto* const end = std::find_if(left.begin(), left.end(), [](char c) { return c == '.' || is_digit(c); });
    const auto length = static_cast<size_t>(end - left.begin());
    const Wide unit = nanoseconds_of(left.substr(0, length));
    if (unit == 0) return std::nullopt;
    left.remove_prefix(length);
    total += whole * unit + fraction * unit / scale;
    if (total > kMost) return std::nullopt;
  }
  if (total == kMost && !negative) return std::nullopt;
  return static_cast<int64_t>(negative ? -total : total);
}

}  // namespace shiplog
