#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "events/base/time.h"
#include "events/base/value.h"

namespace shiplog::member {

/// One line of a container's log.
struct LogLine {
  UtcMillis time;
  std::string text;
};

/// The log of one simulated container: computed from the pod, so that it is the same however often and from wherever it
/// is read. First what the container starts as, then a line every ten seconds, at the end its exit. Pure.
class LogLines {
 public:
  static constexpr Millis kInterval{10'000};
  static constexpr int64_t kMostKept = 10'000;  ///< of the newest lines, as if older ones had been rotated away

  /// The container has started (container_started()).
  LogLines(const Value& pod, const Value& container, UtcMillis started, std::optional<UtcMillis> finished);

  /// How many lines there are at this time; they are numbered from 0.
  int64_t count(UtcMillis now) const;
  LogLine line(int64_t number) const;
  /// The first line that is not before `time`.
  int64_t first_since(UtcMillis time) const;
  /// When the line after the last one of `now` is written; nullopt: never.
  std::optional<UtcMillis> next(UtcMillis now) const;

 private:
  std::string name_, image_, node_, address_, ports_;
  uint64_t seed_;
  UtcMillis started_;
  std::optional<UtcMillis> finished_;
};

}  // namespace shiplog::member
