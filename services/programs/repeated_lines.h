#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace shiplog {

/// Tells which lines of a library that repeats itself are worth logging: of lines that differ in counts and durations
/// only, one a minute. Threads: any.
class RepeatedLines {
 public:
  using Time = std::chrono::steady_clock::time_point;
  bool is_new(std::string_view line, Time now);

 private:
  std::mutex mutex_;
  std::map<std::string, Time, std::less<>> logged_;  // without counts; when
};

}  // namespace shiplog
