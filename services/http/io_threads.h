#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace shiplog {

/// The threads that network callbacks run on, each with an event loop of its own. All callbacks of a connection run on
/// one of them. Shared by any number of clients. Threads: post() and stop() from any.
class IoThreads {
 public:
  explicit IoThreads(size_t threads);
  /// stop(), unless it has been called.
  ~IoThreads();
  IoThreads(const IoThreads&) = delete;
  IoThreads& operator=(const IoThreads&) = delete;

  /// Runs `work` on one of the threads, soon.
  void post(std::function<void()> work);

  /// Lets what is already under way finish for a moment, then drops the rest without calling back. No callback runs
  /// after it has returned, even if clients still refer to this: what callbacks use may be destroyed then. From one of
  /// the threads, it does not wait for that thread.
  void stop();

  struct Impl;
  const std::shared_ptr<Impl>& impl() const { return impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace shiplog
