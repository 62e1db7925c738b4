#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "events/base/result.h"
#include "events/base/time.h"
#include "services/cron/time_zone.h"

namespace shiplog::cron {

/// When a schedule of cron comes round. Source: ParseStandard and SpecSchedule of github.com/robfig/cron/v3, which
/// kube-apiserver and Karmada's CronFederatedHPA controller use.
class CronSchedule {
 public:
  /// Five fields, one of the words "@hourly", "@daily", ..., or "@every 1h30m". A time zone in front ("TZ=UTC ") is
  /// accepted and ignored. Error: kInvalid, with the reason.
  static Result<CronSchedule> parse(std::string_view text);

  /// The first time after `after` whose hour and date in `zone` are those of the schedule. A time that the zone skips
  /// when its clocks go forward does not come; one that it repeats comes twice. nullopt: not within five years.
  /// "@every" counts from `after`.
  std::optional<UtcMillis> next(const TimeZone& zone, UtcMillis after) const;

  /// Of "@every", which follows no clock; 0 of all others.
  Millis every() const { return every_; }

 private:
  /// How many seconds after this local time the schedule may come round first; 0: at this time.
  int64_t wait_from(int64_t local) const;

  /// One bit for each number that a field names.
  struct Field {
    uint64_t bits = 0;
    bool any = false;  ///< "*" or "?", without a step
  };
  Field minutes_, hours_, days_, months_, weekdays_;
  Millis every_{0};
};

}  // namespace shiplog::cron
