#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace shiplog {

/// The threads that network callbacks run on, each with an event loop of its own. All callbacks of a connection run on
/// one of them. Shared by any number of clients.
/// Destroying it lets what is already under way finish for a moment, then drops the rest without calling back.
/// Threads: post() from any.
class IoThreads {
 public:
  explicit IoThreads(size_t threads);
  ~IoThreads();
  IoThreads(const IoThreads&) = delete;
  IoThreads& operator=(const IoThreads&) = delete;

  /// Runs `work` on one of the threads, soon.
  void post(std::function<void()> work);

  struct Impl;
  const std::shared_ptr<Impl>& impl() const { return impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace shiplog
