#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "events/base/result.h"

namespace shiplog {

/// A point in time as entries carry it: milliseconds since 1970-01-01T00:00:00Z.
struct UtcMillis {
  int64_t value = 0;
  auto operator<=>(const UtcMillis&) const = default;
};

/// A duration in milliseconds.
struct Millis {
  int64_t value = 0;
  auto operator<=>(const Millis&) const = default;
};

inline UtcMillis operator+(UtcMillis at, Millis by) { return {at.value + by.value}; }
inline Millis operator-(UtcMillis later, UtcMillis earlier) { return {later.value - earlier.value}; }

/// Source of time. Only effects hold one; a decide function is passed a UtcMillis.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual UtcMillis now() const = 0;
};

/// metav1.Time as Kubernetes writes it: "2006-01-02T15:04:05Z" (whole seconds, UTC).
std::string rfc3339(UtcMillis at);
/// With milliseconds, for people and logs: "2006-01-02T15:04:05.123Z".
std::string rfc3339_millis(UtcMillis at);
/// Reads RFC 3339 with or without a fraction and with any offset. Error: kBadRequest.
Result<UtcMillis> parse_rfc3339(std::string_view text);

/// A Go duration ("1h2m3.5s", "300ms"). Error: kBadRequest.
Result<Millis> parse_duration(std::string_view text);

/// As kubectl prints an age: "5s", "2m30s", "3h12m", "4d", "2y10d" (apimachinery duration.HumanDuration).
std::string human_duration(Millis age);

}  // namespace shiplog
