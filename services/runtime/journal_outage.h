#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

namespace shiplog {

/// Since when a journal cannot be read: for health checks, and for a log that does not repeat itself. Threads: any.
class JournalOutage {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// A read has failed. True: the log has to say so, which it does at first and then once a minute.
  bool failed(Time now);
  /// A read has succeeded. How long none had; nullopt: the one before had, too.
  std::optional<std::chrono::seconds> ended(Time now);
  /// How long it has lasted; 0: there is none.
  std::chrono::seconds so_far(Time now) const;
  /// Empty, until it has lasted for 30 s: requests wait as long as that. Without the reason, which names brokers or
  /// files, and everyone may ask for the health of a process.
  std::string describe(Time now) const;

 private:
  mutable std::mutex mutex_;
  std::optional<Time> since_;
  Time told_;
};

}  // namespace shiplog
