#pragma once

#include <string>

namespace shiplog::embedded {

/// Notifies the watches of all processes that a transaction was committed to this file: sets the file's times, which
/// inotify reports. Unlike writes to the file or its write-ahead log, this happens once per commit, and after it.
void announce_change(const std::string& path);

/// Waits for announcements. Threads: one thread waits; stop() may be called from any.
class ChangeWatch {
 public:
  explicit ChangeWatch(const std::string& path);
  ~ChangeWatch();
  ChangeWatch(const ChangeWatch&) = delete;
  ChangeWatch& operator=(const ChangeWatch&) = delete;

  /// Returns after an announcement, and periodically without one, since not every file system reports changes. Returns
  /// false after stop().
  bool wait();
  void stop();

 private:
  int inotify_;
  int stop_;
};

}  // namespace shiplog::embedded
