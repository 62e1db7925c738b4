#pragma once

#include <atomic>
#include <string>

namespace shiplog::embedded {

/// Notifies the watches of all processes that a transaction was committed to this file: sets the file's times, which
/// inotify reports. Unlike writes to the file or its write-ahead log, this happens once per commit, and after it.
void announce_change(const std::string& path);

/// Waits for announcements. Every watch holds a shared lock on the file beside the journal (HeadMark), so that a
/// process that is alone with its journal sees that it has none to notify: an announcement also wakes the watch of the
/// process that makes it. Threads: one thread waits; stop() and others_watch() may be called from any.
class ChangeWatch {
 public:
  /// `presence`: the file that the lock is on. Another watch may wait for a moment longer while it does not exist.
  ChangeWatch(const std::string& path, std::string presence);
  ~ChangeWatch();
  ChangeWatch(const ChangeWatch&) = delete;
  ChangeWatch& operator=(const ChangeWatch&) = delete;

  /// Returns after an announcement, and periodically without one, since not every file system reports changes. Returns
  /// false after stop().
  bool wait();
  void stop();
  /// There may be other watches of this journal, in this process or another one.
  bool others_watch() const;

 private:
  void be_present();

  const std::string presence_;
  int inotify_;
  int stop_;
  std::atomic<int> lock_{-1};  // the file, once it is locked
};

}  // namespace shiplog::embedded
