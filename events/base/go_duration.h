#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace shiplog {

/// The nanoseconds of a duration as Go writes it: "300ms", "-1.5h", "2h45m". nullopt: it is none, or does not fit.
std::optional<int64_t> parse_go_duration(std::string_view text);

}  // namespace shiplog
