#pragma once

#include <deque>
#include <functional>
#include <memory>

#include "services/runtime/executor.h"
#include "tests/simulation/timeline.h"

namespace shiplog::simulation {

/// The fold thread of one process: functions run one after the other, in the order of their posting, between those of
/// all other processes. Its clock may be wrong, and it may be held up, as by a paused machine. Destroying it is the
/// death of the process: nothing posted runs any more.
class SimExecutor final : public Executor {
 public:
  /// `clock_error`: of the machine that the process starts on.
  SimExecutor(Timeline& timeline, Chance& chance, Millis clock_error);
  ~SimExecutor() override;

  UtcMillis now() const override;
  void post(std::function<void()> run) override;
  void post_after(Millis delay, std::function<void()> run) override;

  /// Sets the machine's clock; the process keeps its time (decision 0055).
  void set_clock_error(Millis error);
  /// Nothing runs before `until`; what arrives meanwhile waits.
  void stall(UtcMillis until);

 private:
  struct Core;
  static void take_turn(const std::shared_ptr<Core>& core);
  std::shared_ptr<Core> core_;
};

}  // namespace shiplog::simulation
