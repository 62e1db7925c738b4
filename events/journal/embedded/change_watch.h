#pragma once

#include <string>

namespace shiplog::embedded {

/// Tells the watches of all processes that something was committed to this file: sets its times, which inotify reports.
/// Unlike writes to the file or its log this happens once a commit, and after it.
void announce_change(const std::string& path);

/// Waits for announcements. Threads: one waits; stop() from any.
class ChangeWatch {
 public:
  explicit ChangeWatch(const std::string& path);
  ~ChangeWatch();
  ChangeWatch(const ChangeWatch&) = delete;
  ChangeWatch& operator=(const ChangeWatch&) = delete;

  /// Returns after announcements, and now and then without any, since not every file system reports them. False: stop.
  bool wait();
  void stop();

 private:
  int inotify_;
  int stop_;
};

}  // namespace shiplog::embedded
