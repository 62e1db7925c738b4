#pragma once

#include <array>
#include <bitset>
#include <optional>
#include <string_view>

#include "events/base/result.h"
#include "events/base/time.h"

namespace shiplog::member {

/// A cron expression of five fields ("*/5 8-17 * * 1-5") or one of @hourly, @daily, @midnight, @weekly, @monthly,
/// @yearly, @annually. Names of months and days are supported. In UTC.
class Schedule {
 public:
  /// Error: kInvalid, naming the field.
  static Result<Schedule> parse(std::string_view text);

  /// Whether it fires in the minute that begins at `minute`.
  bool fires_at(UtcMillis minute) const;
  /// The last firing after `after`, up to and including `until`; looks back at most eight days from `until`.
  std::optional<UtcMillis> latest(UtcMillis after, UtcMillis until) const;
  /// The first firing after `after`, or one day later if there is none until then: the time of the next check.
  UtcMillis next_check(UtcMillis after) const;

 private:
  using Field = std::bitset<60>;
  std::array<Field, 5> fields_;  // minute, hour, day of month, month, day of week (0: Sunday)
  bool any_day_ = false;         // day of month is "*"
  bool any_weekday_ = false;
};

}  // namespace shiplog::member
