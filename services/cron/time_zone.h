#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "events/base/names.h"
#include "events/base/result.h"
#include "services/cron/posix_time_zone.h"

namespace shiplog::cron {

/// A time zone of the tz database: what its clocks show at any moment.
class TimeZone {
 public:
  /// UTC.
  TimeZone() = default;
  /// From the content of a file of the database in the format TZif (RFC 9636). Error: kInvalid.
  static Result<TimeZone> from_tzif(std::string_view bytes);

  /// `at`: seconds since the epoch.
  UtcOffset offset_at(int64_t at) const;

 private:
  struct Transition {
    int64_t at;
    int64_t offset;
  };
  int64_t before_ = 0;  ///< the offset before the first transition
  std::vector<Transition> transitions_;
  PosixTimeZone after_;  ///< from the last transition on
};

/// What is wrong with the name of a time zone, as far as it can be seen without the database of time zones.
Problem time_zone_problem(std::string_view text);

}  // namespace shiplog::cron
