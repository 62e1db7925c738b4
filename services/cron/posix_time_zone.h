#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "events/base/result.h"

namespace shiplog::cron {

/// How far local time is ahead of UTC, and until when.
struct UtcOffset {
  int64_t seconds = 0;
  int64_t until = std::numeric_limits<int64_t>::max();  ///< seconds since the epoch; later than the time asked for
  bool operator==(const UtcOffset&) const = default;
};

/// The value of the environment variable TZ in the form of POSIX, "CET-1CEST,M3.5.0,M10.5.0/3": what a file of the tz
/// database says of the years after its last transition. Source: POSIX.1-2024, 8.3; RFC 9636, 3.3.1.
class PosixTimeZone {
 public:
  /// UTC.
  PosixTimeZone() = default;
  /// The same offset for ever.
  explicit PosixTimeZone(int64_t offset) : standard_{offset} {}
  /// Error: kInvalid.
  static Result<PosixTimeZone> parse(std::string_view text);

  UtcOffset offset_at(int64_t at) const;

 private:
  /// The day of a year on which clocks change, and the local time.
  struct Change {
    enum class Form { kWeekday, kJulianDay, kDayOfYear } form = Form::kWeekday;
    int64_t month = 0, week = 0, day = 0;
    int64_t seconds = 2 * 3600;
  };
  struct Reader;

  static int64_t local_time_of(const Change& change, int64_t year);

  int64_t standard_ = 0;
  int64_t summer_ = 0;
  std::optional<std::array<Change, 2>> changes_;  ///< to summer time and back
};

}  // namespace shiplog::cron
