#include "services/cron/posix_time_zone.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace shiplog::cron {
namespace {

constexpr int64_t kSecondsPerDay = 24 * 3600;

int64_t days_before(int64_t year, int64_t month, int64_t day) {
  using namespace std::chrono;
  const year_month_day date{std::chrono::year{static_cast<int>(year)}, std::chrono::month{static_cast<unsigned>(month)},
                            std::chrono::day{static_cast<unsigned>(day)}};
  return sys_days{date}.time_since_epoch().count();
}

int64_t year_of(int64_t seconds) {
  using namespace std::chrono;
  const year_month_day date{sys_days{floor<days>(sys_seconds{std::chrono::seconds{seconds}})}};
  return int{date.year()};
}

bool is_leap(int64_t year) { return std::chrono::year{static_cast<int>(year)}.is_leap(); }

}  // namespace

/// Reads the text from the left. Each function returns false, or nullopt, if what it expects is not next.
struct PosixTimeZone::Reader {
  std::string_view rest;

  bool skip(char c) {
    if (!rest.starts_with(c)) return false;
    rest.remove_prefix(1);
    return true;
  }

  std::optional<int64_t> number(int64_t least, int64_t most) {
    size_t digits = 0;
    int64_t value = 0;
    while (digits < rest.size() && digits < 4 && rest[digits] >= '0' && rest[digits] <= '9') {
      value = 10 * value + (rest[digits++] - '0');
    }
    rest.remove_prefix(digits);
    if (digits == 0 || value < least || value > most) return std::nullopt;
    return value;
  }

  /// "CET", "<+03>".
  bool name() {
    const bool quoted = skip('<');
    size_t length = 0;
    const auto fits = [&](char c) {
      const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
      return letter || (quoted && ((c >= '0' && c <= '9') || c == '+' || c == '-'));
    };
    while (length < rest.size() && fits(rest[length])) ++length;
    rest.remove_prefix(length);
    return length >= 3 && (!quoted || skip('>'));
  }

  /// "-1", "5:30", "02:00:00".
  std::optional<int64_t> time() {
    const bool minus = skip('-');
    if (!minus) skip('+');
    const auto hours = number(0, 167);
    if (!hours) return std::nullopt;
    int64_t seconds = *hours * 3600;
    for (const int64_t unit : {60, 1}) {
      if (!skip(':')) break;
      const auto part = number(0, 59);
      if (!part) return std::nullopt;
      seconds += *part * unit;
    }
    return minus ? -seconds : seconds;
  }

  /// ",M3.5.0", ",J60/1", ",0".
  std::optional<Change> change() {
    if (!skip(',')) return std::nullopt;
    Change change;
    if (skip('M')) {
      const auto month = number(1, 12);
      const auto week = month && skip('.') ? number(1, 5) : std::nullopt;
      const auto day = week && skip('.') ? number(0, 6) : std::nullopt;
      if (!day) return std::nullopt;
      change.month = *month;
      change.week = *week;
      change.day = *day;
    } else {
      const bool julian = skip('J');
      const auto day = number(julian ? 1 : 0, 365);
      if (!day) return std::nullopt;
      change.form = julian ? Change::Form::kJulianDay : Change::Form::kDayOfYear;
      change.day = *day;
    }
    if (!skip('/')) return change;
    const auto time_of_day = time();
    if (!time_of_day) return std::nullopt;
    change.seconds = *time_of_day;
    return change;
  }
};

Result<PosixTimeZone> PosixTimeZone::parse(std::string_view text) {
  const auto invalid = [&] { return Error{ErrorCode::kInvalid, "not a time zone of POSIX: " + std::string{text}}; };
  Reader reader{text};
  PosixTimeZone zone;
  if (!reader.name()) return invalid();
  const auto standard = reader.time();
  if (!standard) return invalid();
  zone.standard_ = -*standard;  // POSIX counts to the west
  if (reader.rest.empty()) return zone;
  if (!reader.name()) return invalid();
  zone.summer_ = zone.standard_ + 3600;
  if (!reader.rest.starts_with(',')) {
    const auto summer = reader.time();
    if (!summer) return invalid();
    zone.summer_ = -*summer;
  }
  const auto begin = reader.change();
  const auto end = begin ? reader.change() : std::nullopt;
  if (!end || !reader.rest.empty()) return invalid();
  zone.changes_ = {*begin, *end};
  return zone;
}

int64_t PosixTimeZone::local_time_of(const Change& change, int64_t year) {
  switch (change.form) {
    case Change::Form::kDayOfYear:
      return (days_before(year, 1, 1) + change.day) * kSecondsPerDay + change.seconds;
    case Change::Form::kJulianDay: {  // the 29th of February is never counted
      const bool after_leap_day = is_leap(year) && change.day >= 60;
      return (days_before(year, 1, 1) + change.day - (after_leap_day ? 0 : 1)) * kSecondsPerDay + change.seconds;
    }
    case Change::Form::kWeekday:
      break;
  }
  const int64_t first = days_before(year, change.month, 1);
  const int64_t next_month = change.month == 12 ? days_before(year + 1, 1, 1) : days_before(year, change.month + 1, 1);
  const int64_t weekday_of_first = ((first + 4) % 7 + 7) % 7;  // the epoch was a Thursday
  int64_t day = first + (change.day - weekday_of_first + 7) % 7 + (change.week - 1) * 7;
  if (day >= next_month) day -= 7;  // the fifth week is the last one
  return day * kSecondsPerDay + change.seconds;
}

UtcOffset PosixTimeZone::offset_at(int64_t at) const {
  if (!changes_) return {standard_};
  struct Instant {
    int64_t at;
    int64_t offset;
  };
  std::array<Instant, 6> instants{};
  size_t count = 0;
  const int64_t year = year_of(at + standard_);
  for (int64_t each = year - 1; each <= year + 1; ++each) {
    instants[count++] = {local_time_of((*changes_)[0], each) - standard_, summer_};
    instants[count++] = {local_time_of((*changes_)[1], each) - summer_, standard_};
  }
  std::ranges::stable_sort(instants, {}, &Instant::at);
  const auto next = std::ranges::upper_bound(instants, at, {}, &Instant::at);
  UtcOffset offset{next == instants.begin() ? standard_ : std::prev(next)->offset};
  if (next != instants.end()) offset.until = next->at;
  return offset;
}

}  // namespace shiplog::cron
