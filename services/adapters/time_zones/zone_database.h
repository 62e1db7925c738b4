#pragma once

#include <memory>
#include <string>

#include "events/base/result.h"
#include "services/cron/time_zone.h"

namespace shiplog {

/// A zone of the tz database that is installed on this machine: below $ZONEINFO, or else /usr/share/zoneinfo (Debian's
/// package tzdata). "" and "UTC" need no file. A file is read once in the life of the process. Error: kNotFound, with
/// the name and what to do. May be called from any thread.
Result<std::shared_ptr<const cron::TimeZone>> find_time_zone(const std::string& name);

}  // namespace shiplog
