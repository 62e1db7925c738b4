#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "services/runtime/role.h"

namespace shiplog::scheduler {

/// Steps one at a time, those of higher priority first: each begins on a state in which the one before is folded. With
/// it two placements cannot count on the same free room (M-8): the second is decided with the first one's reservation.
/// The lease holder's entries alone are folded, so that there is no other scheduler beside this one.
/// Threads: the fold thread.
class Turns : public std::enable_shared_from_this<Turns> {
 public:
  using Step = std::function<void(TaskPtr)>;
  explicit Turns(Step step) : step_{std::move(step)} {}

  /// Takes the step when it is its turn.
  void take(TaskPtr task, int64_t priority) {
    waiting_.emplace(std::pair{-priority, sequence_++}, std::move(task));
    next();
  }

  /// The lease is lost: those that wait are void.
  void stop() { waiting_.clear(); }

 private:
  /// A task that ends the turn when it ends, or is dropped because the lease is lost.
  class Turn final : public Task {
   public:
    Turn(TaskPtr task, std::shared_ptr<Turns> turns) : task_{std::move(task)}, turns_{std::move(turns)} {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() override { leave(); }

    const ObjectKey& key() const override { return task_->key(); }
    const State& state() const override { return task_->state(); }
    UtcMillis now() const override { return task_->now(); }
    const TraceContext& trace() override { return task_->trace(); }
    void begin_trace() override { task_->begin_trace(); }
    void append_decision(Decision decision, Appended then) override {
      task_->append_decision(std::move(decision), std::move(then));
    }
    void append_observation(Decision observation, Appended then) override {
      task_->append_observation(std::move(observation), std::move(then));
    }
    void done(Millis look_again) override {
      task_->done(look_again);
      leave();
    }
    void retry(const Error& error) override {
      task_->retry(error);
      leave();
    }
    std::function<void()> waker(Millis delay) override { return task_->waker(delay); }

   private:
    void leave() {
      if (const auto turns = std::exchange(turns_, nullptr)) turns->end();
    }

    TaskPtr task_;
    std::shared_ptr<Turns> turns_;
  };

  void end() {
    busy_ = false;
    next();
  }

  /// Not called within itself: of many steps that end at once each would be deeper in the stack than the one before.
  void next() {
    if (std::exchange(stepping_, true)) return;
    const auto self = shared_from_this();  // the role may let go of it within a step
    while (!busy_ && !waiting_.empty()) {
      TaskPtr task = std::move(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      busy_ = true;
      step_(std::make_shared<Turn>(std::move(task), shared_from_this()));
    }
    stepping_ = false;
  }

  const Step step_;
  std::map<std::pair<int64_t, uint64_t>, TaskPtr> waiting_;  // by falling priority, then in the order of arrival
  uint64_t sequence_ = 0;
  bool busy_ = false;
  bool stepping_ = false;
};

}  // namespace shiplog::scheduler
