#pragma once

#include <functional>
#include <memory>

namespace shiplog {

/// A few threads for work that may block or take its time (SQLite reads, rendering answers), so that neither the fold
/// thread nor the network's threads wait for it. Threads: any may post.
class Workers {
 public:
  explicit Workers(size_t threads);
  ~Workers();
  void post(std::function<void()> work);
  /// Finishes what is running, forgets what is queued.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog
