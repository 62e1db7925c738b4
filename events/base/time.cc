#include "events/base/time.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>

#include "events/base/ascii.h"
#include "events/base/go_duration.h"
#include "events/base/utf8.h"

namespace shiplog {
namespace {

constexpr int64_t kSecond = 1000;
constexpr int64_t kDay = 86400 * kSecond;

Error unreadable(std::string_view form, std::string_view text) {
  return {ErrorCode::kBadRequest, std::string{form} + " " + quoted(text) + " cannot be read"};
}

int64_t floor_div(int64_t value, int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

// Writes exactly `width` digits. Times are in every condition of every object: they are not worth a printf.
void put_number(int value, size_t width, char* to) {
  for (size_t at = width; at > 0; value /= 10) to[--at] = static_cast<char>('0' + value % 10);
}

// "2006-01-02T15:04:05"; `millis` receives what is left of the second.
std::string to_the_second(UtcMillis at, int& millis) {
  // RFC 3339 has four digits for the year; anything outside is shown as the nearest it can write.
  constexpr int64_t kFirst = -719528 * kDay;     // 0000-01-01
  constexpr int64_t kLast = 2932897 * kDay - 1;  // the end of 9999-12-31
  const int64_t value = std::clamp(at.value, kFirst, kLast);
  const int64_t days = floor_div(value, kDay);
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{days}}};
  const auto rest = static_cast<int>(value - days * kDay);
  millis = rest % 1000;
  const int seconds = rest / 1000;
  std::string text = "0000-00-00T00:00:00";
  put_number(static_cast<int>(date.year()), 4, text.data());
  put_number(static_cast<int>(static_cast<unsigned>(date.month())), 2, text.data() + 5);
  put_number(static_cast<int>(static_cast<unsigned>(date.day())), 2, text.data() + 8);
  put_number(seconds / 3600, 2, text.data() + 11);
  put_number(seconds / 60 % 60, 2, text.data() + 14);
  put_number(seconds % 60, 2, text.data() + 17);
  return text;
}

std::string three_digits(int value) {
  std::string text = "000";
  put_number(value, 3, text.data());
  return text;
}

// Takes exactly `width` digits off the front; false when they are not there.
bool take_number(std::string_view& text, size_t width, int& number) {
  if (text.size() < width || !std::all_of(text.begin(), text.begin() + static_cast<ptrdiff_t>(width), is_digit)) {
    return false;
  }
  number = 0;
  for (const char c : text.substr(0, width)) number = number * 10 + (c - '0');
  text.remove_prefix(width);
  return true;
}

bool take_char(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

// ".123456789", or nothing. Finer than a millisecond is cut off.
bool take_fraction(std::string_view& text, int& millis) {
  if (!take_char(text, '.')) return true;
  int weight = 100;
  size_t digits = 0;
  for (; digits < text.size() && is_digit(text[digits]); ++digits, weight /= 10)
    millis += (text[digits] - '0') * weight;
  text.remove_prefix(digits);
  return digits > 0;
}

// "Z" or "+01:30".
bool take_offset(std::string_view& text, int64_t& minutes_east) {
  if (take_char(text, 'Z')) return true;
  const bool west = !text.empty() && text.front() == '-';
  if (!west && (text.empty() || text.front() != '+')) return false;
  text.remove_prefix(1);
  int hours = 0;
  int minutes = 0;
  if (!take_number(text, 2, hours) || !take_char(text, ':') || !take_number(text, 2, minutes)) return false;
  if (hours > 23 || minutes > 59) return false;
  minutes_east = (hours * 60 + minutes) * (west ? -1 : 1);
  return true;
}

}  // namespace

std::string rfc3339(UtcMillis at) {
  int millis = 0;
  return to_the_second(at, millis) + "Z";
}

std::string rfc3339_millis(UtcMillis at) {
  int millis = 0;
  std::string text = to_the_second(at, millis);
  return text + "." + three_digits(millis) + "Z";
}

Result<UtcMillis> parse_rfc3339(std::string_view text) {
  std::string_view left = text;
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, millis = 0;
  int64_t minutes_east = 0;
  const bool shaped = take_number(left, 4, year) && take_char(left, '-') && take_number(left, 2, month) &&
                      take_char(left, '-') && take_number(left, 2, day) && take_char(left, 'T') &&
                      take_number(left, 2, hour) && take_char(left, ':') && take_number(left, 2, minute) &&
                      take_char(left, ':') && take_number(left, 2, second) && take_fraction(left, millis) &&
                      take_offset(left, minutes_east) && left.empty();
  if (!shaped) return unreadable("time", text);
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return unreadable("time", text);
  const int64_t days = std::chrono::sys_days{date}.time_since_epoch().count();
  const int64_t seconds = hour * 3600 + (minute - minutes_east) * 60 + second;
  return UtcMillis{days * kDay + seconds * kSecond + millis};
}

Result<Millis> parse_duration(std::string_view text) {
  const auto nanoseconds = parse_go_duration(text);
  if (!nanoseconds) return unreadable("duration", text);
  return Millis{*nanoseconds / 1'000'000};
}

std::string human_duration(Millis age) {
  constexpr int64_t kMinute = 60;
  constexpr int64_t kHour = 60 * kMinute;
  constexpr int64_t kDayLong = 24 * kHour;
  constexpr int64_t kYear = 365 * kDayLong;
  // Below each limit: the unit to count in, and a finer one for the rest while that still matters.
  struct Step {
    int64_t below;
    int64_t unit;
    const char* name;
    int64_t rest_unit;
    const char* rest_name;
  };
  constexpr std::array<Step, 9> kSteps = {{
      {2 * kMinute, 1, "s", 0, ""},
      {10 * kMinute, kMinute, "m", 1, "s"},
      {3 * kHour, kMinute, "m", 0, ""},
      {8 * kHour, kHour, "h", kMinute, "m"},
      {2 * kDayLong, kHour, "h", 0, ""},
      {8 * kDayLong, kDayLong, "d", kHour, "h"},
      {2 * kYear, kDayLong, "d", 0, ""},
      {8 * kYear, kYear, "y", kDayLong, "d"},
      {std::numeric_limits<int64_t>::max(), kYear, "y", 0, ""},
  }};
  const int64_t seconds = age.value / kSecond;
  // Clocks that disagree by a second make an age of minus one: that is now. More is a mistake worth showing.
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  for (const Step& step : kSteps) {
    if (seconds >= step.below) continue;
    std::string text = std::to_string(seconds / step.unit) + step.name;
    const int64_t rest = step.rest_unit == 0 ? 0 : seconds % step.unit / step.rest_unit;
    if (rest != 0) text += std::to_string(rest) + step.rest_name;
    return text;
  }
  return "<invalid>";
}

}  // namespace shiplog
