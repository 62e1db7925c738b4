#pragma once

#include <functional>
#include <memory>

#include "events/base/time.h"
#include "services/http/io_threads.h"

/// Internal to services/http.
namespace shiplog::net {

/// What runs on one strand never runs at the same time on two threads. Copies are the same strand.
class Strand {
 public:
  explicit Strand(IoThreads& io);
  /// At once when already on the strand, else soon.
  void dispatch(std::function<void()> work) const;
  void post(std::function<void()> work) const;

  struct Impl;
  explicit Strand(std::shared_ptr<Impl> impl) : impl_{std::move(impl)} {}
  Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

/// One alarm. Use on its strand only. `due` is not called after cancel(), arm() or destruction.
class Timer {
 public:
  explicit Timer(const Strand& strand);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  void arm(Millis after, std::function<void()> due);
  void cancel();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace shiplog::net
