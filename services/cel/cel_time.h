#pragma once

#include <string>
#include <string_view>

#include "events/base/result.h"
#include "services/cel/cel_value.h"

namespace shiplog::cel {

/// RFC 3339 with up to nine digits of a second and any offset, or a date alone. Error: kBadRequest.
Result<CelTimestamp> parse_cel_timestamp(std::string_view text);
/// A Go duration ("1h2m3.5s", "-300ms"), at most 2^63 nanoseconds. Error: kBadRequest.
Result<CelDuration> parse_cel_duration(std::string_view text);

/// RFC 3339 in UTC with as many digits of a second as are needed: "2006-01-02T15:04:05.12Z".
std::string cel_timestamp_text(CelTimestamp at);
/// In seconds: "3723.5s".
std::string cel_duration_text(CelDuration duration);

/// nullopt: outside the years 1 to 9999.
std::optional<CelTimestamp> checked_timestamp(int64_t seconds, int64_t nanos);

}  // namespace shiplog::cel
