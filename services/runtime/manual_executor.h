#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "services/runtime/executor.h"

namespace shiplog {

/// Time stands still until it is advanced: for rehearsals and tests.
class ManualExecutor final : public Executor {
 public:
  ManualExecutor() = default;
  explicit ManualExecutor(UtcMillis start) : now_{start} {}

  UtcMillis now() const override { return now_; }
  void post(std::function<void()> run) override { post_after(Millis{0}, std::move(run)); }
  void post_after(Millis delay, std::function<void()> run) override {
    due_.emplace(std::pair{now_ + delay, ++sequence_}, std::move(run));
  }
  bool idle() const override { return due_.empty() || due_.begin()->first.first > now_; }

  /// Runs everything that is due within the time.
  void run(Millis time = Millis{0}) {
    const UtcMillis until = now_ + time;
    while (run_next(until)) {
    }
    now_ = until;
  }
  /// Runs what is due first, at its time. False: nothing is due up to `until`.
  bool run_next(UtcMillis until) {
    if (due_.empty() || due_.begin()->first.first > until) return false;
    auto next = due_.extract(due_.begin());
    if (next.key().first > now_) now_ = next.key().first;
    next.mapped()();
    return true;
  }
  std::optional<UtcMillis> next_due() const {
    return due_.empty() ? std::nullopt : std::optional{due_.begin()->first.first};
  }
  /// As a clock that was set wrong: what is posted already keeps its distance.
  void jump(Millis by) {
    std::map<std::pair<UtcMillis, uint64_t>, std::function<void()>> moved;
    for (auto& [at, what] : due_) moved.emplace(std::pair{at.first + by, at.second}, std::move(what));
    due_ = std::move(moved);
    now_ = now_ + by;
  }

 private:
  UtcMillis now_{1'767'225'600'000};
  uint64_t sequence_ = 0;
  std::map<std::pair<UtcMillis, uint64_t>, std::function<void()>> due_;
};

}  // namespace shiplog
