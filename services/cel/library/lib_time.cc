#include <array>
#include <cstdlib>
#include <optional>

#include "services/adapters/time_zones/zone_database.h"
#include "services/cel/library/declare.h"
#include "services/cel/library/libraries.h"

// What timestamps and durations consist of. Source: cel-spec, standard definitions; cel-go, common/types/timestamp.go.

namespace shiplog::cel {
namespace {

constexpr int64_t kDaySeconds = 86400;

/// A moment as a calendar and a clock show it.
struct ClockReading {
  int64_t year = 0;
  int64_t month = 0;  ///< from 0
  int64_t day = 0;    ///< of the month, from 0
  int64_t day_of_year = 0;
  int64_t weekday = 0;  ///< Sunday is 0
  int64_t second_of_day = 0;
  int64_t nanos = 0;
};

int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

bool is_leap(int64_t year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

/// Days from 1970-01-01 to the first of a month. Source of the formula: Howard Hinnant, chrono-compatible date
/// algorithms.
ClockReading reading_of(int64_t seconds, int64_t nanos) {
  const int64_t days = floor_divide(seconds, kDaySeconds);
  const int64_t shifted = days + 719468;
  const int64_t era = floor_divide(shifted, 146097);
  const int64_t day_of_era = shifted - era * 146097;
  const int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_from_march = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month_from_march = (5 * day_from_march + 2) / 153;
  ClockReading reading;
  reading.month = (month_from_march + 2) % 12;
  reading.day = day_from_march - (153 * month_from_march + 2) / 5;
  reading.year = year_of_era + era * 400 + (reading.month <= 1 ? 1 : 0);
  static constexpr std::array<int64_t, 12> kBefore = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
  reading.day_of_year =
      kBefore[static_cast<size_t>(reading.month)] + reading.day + (reading.month > 1 && is_leap(reading.year) ? 1 : 0);
  reading.weekday = ((days + 4) % 7 + 7) % 7;
  reading.second_of_day = seconds - days * kDaySeconds;
  reading.nanos = nanos;
  return reading;
}

/// nullopt: it is no whole number.
std::optional<int64_t> number_of(std::string_view text) {
  const bool sign = text.starts_with('+') || text.starts_with('-');
  const std::string_view digits = text.substr(sign ? 1 : 0);
  if (digits.empty() || digits.size() > 4 || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  const int64_t number = std::stoll(std::string{digits});
  return text[0] == '-' ? -number : number;
}

/// Seconds ahead of UTC, of "Europe/Berlin" or "-08:30".
Result<int64_t> offset_of(std::string_view zone, int64_t at) {
  const size_t colon = zone.find(':');
  if (colon == std::string_view::npos) {
    const auto found = find_time_zone(std::string{zone});
    if (!found) return Error{ErrorCode::kNotFound, "unknown time zone " + std::string{zone}};
    return found.value()->offset_at(at).seconds;
  }
  const auto hours = number_of(zone.substr(0, colon));
  const auto minutes = number_of(zone.substr(colon + 1));
  if (!hours || !minutes) {
    return Error{ErrorCode::kInvalid, "strconv.Atoi: parsing \"" + std::string{zone} + "\": invalid syntax"};
  }
  if (*minutes < 0 || *minutes > 59) {
    return Error{ErrorCode::kInvalid, "timezone offset minutes out of range [0, 59]: " + std::string{zone}};
  }
  return 60 * (zone[0] == '-' ? *hours * 60 - *minutes : *hours * 60 + *minutes);
}

using Part = int64_t (*)(const ClockReading&);

void add_timestamp_part(CelFunctions& functions, const char* name, Part part) {
  add_member(functions, name, {CelKind::kTimestamp}, CelKind::kInt, [part](CelArguments a, CelMeter&) {
    return CelValue::integer(part(reading_of(a[0].as_timestamp().seconds, a[0].as_timestamp().nanos)));
  });
  add_member(functions, name, {CelKind::kTimestamp, CelKind::kString}, CelKind::kInt,
             [part](CelArguments a, CelMeter&) {
               const CelTimestamp at = a[0].as_timestamp();
               const auto offset = offset_of(a[1].as_string(), at.seconds);
               if (!offset) return CelValue::error(offset.error().message);
               return CelValue::integer(part(reading_of(at.seconds + offset.value(), at.nanos)));
             });
}

void add_duration_part(CelFunctions& functions, const char* name, int64_t (*part)(int64_t nanos)) {
  add_member(functions, name, {CelKind::kDuration}, CelKind::kInt,
             [part](CelArguments a, CelMeter&) { return CelValue::integer(part(a[0].as_duration().nanos)); });
}

}  // namespace

void add_time_functions(CelFunctions& functions) {
  add_timestamp_part(functions, "getFullYear", [](const ClockReading& at) { return at.year; });
  add_timestamp_part(functions, "getMonth", [](const ClockReading& at) { return at.month; });
  add_timestamp_part(functions, "getDayOfYear", [](const ClockReading& at) { return at.day_of_year; });
  add_timestamp_part(functions, "getDate", [](const ClockReading& at) { return at.day + 1; });
  add_timestamp_part(functions, "getDayOfMonth", [](const ClockReading& at) { return at.day; });
  add_timestamp_part(functions, "getDayOfWeek", [](const ClockReading& at) { return at.weekday; });
  add_timestamp_part(functions, "getHours", [](const ClockReading& at) { return at.second_of_day / 3600; });
  add_timestamp_part(functions, "getMinutes", [](const ClockReading& at) { return at.second_of_day / 60 % 60; });
  add_timestamp_part(functions, "getSeconds", [](const ClockReading& at) { return at.second_of_day % 60; });
  add_timestamp_part(functions, "getMilliseconds", [](const ClockReading& at) { return at.nanos / 1'000'000; });
  add_duration_part(functions, "getHours", [](int64_t nanos) { return nanos / 3'600'000'000'000; });
  add_duration_part(functions, "getMinutes", [](int64_t nanos) { return nanos / 60'000'000'000; });
  add_duration_part(functions, "getSeconds", [](int64_t nanos) { return nanos / 1'000'000'000; });
  add_duration_part(functions, "getMilliseconds", [](int64_t nanos) { return nanos / 1'000'000; });
}

}  // namespace shiplog::cel
