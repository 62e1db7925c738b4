#pragma once

#include <functional>
#include <memory>

namespace shiplog {

/// A few threads for work that may block or take its time (SQLite reads, rendering answers), so that neither the fold
/// thread nor the network's threads wait for it. Threads: any may post.
class Workers {
 public:
  /// `niceness` above 0: other threads of the process, and other processes, go first.
  explicit Workers(size_t threads, int niceness = 0);
  ~Workers();
  void post(std::function<void()> work);
  /// Finishes what is running, forgets what is queued.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog
