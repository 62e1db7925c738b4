#pragma once

#include <memory>

#include "services/runtime/executor.h"

namespace shiplog {

/// The fold thread of a running process: one thread, a queue and timers, on the process's time (SystemClock). Timers of
/// 100 ms and more may be 50 ms late.
class ThreadLoop final : public Executor {
 public:
  ThreadLoop();
  /// Stops if still running.
  ~ThreadLoop() override;

  void post(std::function<void()> run) override;
  void post_after(Millis delay, std::function<void()> run) override;
  bool idle() const override;
  UtcMillis now() const override;

  /// How long the function that runs now has been running; 0: none does. From any thread.
  Millis busy_for() const;

  /// Runs `run` on the thread and waits for it. Not from the thread itself.
  void call(std::function<void()> run);
  /// Finishes what is running, forgets what is queued, and joins the thread.
  void stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog
