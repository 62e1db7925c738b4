#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "services/runtime/log.h"

/// Internal to the log.
namespace shiplog::log {

/// What a line contains behind its time, level and caller: event and fields.
std::string payload(Format format, std::string_view event, std::initializer_list<Field> fields);

/// A whole line with its line break. `micros`: since 1970; `file`: as the compiler names it, of which the last folder
/// is kept.
std::string line(Format format, Level level, int64_t micros, std::string_view file, int number,
                 std::string_view payload);

}  // namespace shiplog::log
