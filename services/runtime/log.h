#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <source_location>
#include <string>
#include <string_view>

namespace shiplog::log {

enum class Level { kDebug, kInfo, kWarn, kError };
enum class Format { kText, kJson };

/// One field of a line. Values are data, never manifests or secrets.
struct Field {
  std::string_view key;
  std::string value;
  bool bare = false;  ///< a number or a boolean, which JSON does not quote
};

inline Field kv(std::string_view key, std::string_view value) { return {key, std::string{value}}; }
inline Field kv(std::string_view key, const char* value) { return {key, std::string{value}}; }
inline Field kv(std::string_view key, bool value) { return {key, value ? "true" : "false", true}; }
template <std::integral I>
Field kv(std::string_view key, I value) {
  return {key, std::to_string(value), true};
}

/// Lines go to standard error:
///   text: time=2026-11-22T10:00:00.000Z level=info event=placement.decided binding=default/web revision=81
///   JSON: {"ts":1795341600000.000,"level":"info","logger":"placement","caller":"runtime/roles.cc:41",
///          "msg":"placement.decided","binding":"default/web","revision":81}
/// `ts` is in milliseconds since 1970 (OBS-2), `logger` the event's first word.
///
/// From then on a thread of its own writes them, so that no caller waits for a slow terminal or pipe: of more than 2048
/// lines that wait the oldest are dropped. What waits is written when the process exits. Call it once, before there are
/// other threads.
void configure(Format format, Level least);

/// How many lines were dropped because they were not written fast enough.
uint64_t dropped();

/// `event` is a stable dotted name. error: a person must act; warn: heals itself; info: one per committed decision.
/// Threads: any.
void write(Level level, std::string_view event, std::initializer_list<Field> fields,
           const std::source_location& caller = std::source_location::current());

inline void debug(std::string_view event, std::initializer_list<Field> fields = {},
                  const std::source_location& caller = std::source_location::current()) {
  write(Level::kDebug, event, fields, caller);
}
inline void info(std::string_view event, std::initializer_list<Field> fields = {},
                 const std::source_location& caller = std::source_location::current()) {
  write(Level::kInfo, event, fields, caller);
}
inline void warn(std::string_view event, std::initializer_list<Field> fields = {},
                 const std::source_location& caller = std::source_location::current()) {
  write(Level::kWarn, event, fields, caller);
}
inline void error(std::string_view event, std::initializer_list<Field> fields = {},
                  const std::source_location& caller = std::source_location::current()) {
  write(Level::kError, event, fields, caller);
}

}  // namespace shiplog::log
