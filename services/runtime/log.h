#pragma once

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace shiplog::log {

enum class Level { kDebug, kInfo, kWarn, kError };
enum class Format { kText, kJson };

/// One field of a line. Values are data, never manifests or secrets.
using Field = std::pair<std::string_view, std::string>;

inline Field kv(std::string_view key, std::string_view value) { return {key, std::string{value}}; }
inline Field kv(std::string_view key, const char* value) { return {key, std::string{value}}; }
template <std::integral I>
Field kv(std::string_view key, I value) {
  return {key, std::to_string(value)};
}

/// Lines go to standard error: `time=… level=info event=placement.decided binding=default/web`, or one JSON object
/// each.
void configure(Format format, Level least);

/// `event` is a stable dotted name. error: a person must act; warn: heals itself; info: one per committed decision.
/// Threads: any.
void write(Level level, std::string_view event, std::initializer_list<Field> fields);

inline void debug(std::string_view event, std::initializer_list<Field> fields = {}) {
  write(Level::kDebug, event, fields);
}
inline void info(std::string_view event, std::initializer_list<Field> fields = {}) {
  write(Level::kInfo, event, fields);
}
inline void warn(std::string_view event, std::initializer_list<Field> fields = {}) {
  write(Level::kWarn, event, fields);
}
inline void error(std::string_view event, std::initializer_list<Field> fields = {}) {
  write(Level::kError, event, fields);
}

}  // namespace shiplog::log
