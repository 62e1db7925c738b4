#pragma once

#include <chrono>
#include <string>

namespace shiplog {

/// Waits until a file appears in a folder under its final name (a rename). The kernel reports what processes of this
/// machine do. Threads: wait() from one, wake() from any.
class FolderWatch {
 public:
  explicit FolderWatch(const std::string& folder);
  ~FolderWatch();
  FolderWatch(const FolderWatch&) = delete;
  FolderWatch& operator=(const FolderWatch&) = delete;

  /// False: it cannot watch, as when the limit of inotify instances is reached or the folder has been removed.
  bool watches() const { return inotify_ >= 0; }
  /// Until a file has appeared or wake() has been called, both since the last wait(), or so long.
  void wait(std::chrono::milliseconds longest);
  /// Ends a wait(): the one under way, else the next.
  void wake();

 private:
  void give_up();

  int inotify_ = -1;
  int wake_ = -1;
};

}  // namespace shiplog
