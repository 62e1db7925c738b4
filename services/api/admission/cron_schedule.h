#pragma once

#include <string_view>

#include "events/base/names.h"

namespace shiplog::api {

/// What is wrong with the schedule of a CronJob. Source: ParseStandard of github.com/robfig/cron/v3, which
/// kube-apiserver calls.
Problem cron_schedule_problem(std::string_view text);

/// What is wrong with the name of a time zone, as far as it can be seen without the database of time zones.
Problem time_zone_problem(std::string_view text);

}  // namespace shiplog::api
