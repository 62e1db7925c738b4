#include "tests/simulation/executor.h"

#include <utility>

namespace shiplog::simulation {

struct SimExecutor::Core {
  Timeline& timeline;
  Chance& chance;
  std::deque<std::function<void()>> ready;
  Millis clock_error;
  UtcMillis stalled_until;
  bool alive = true;
};

SimExecutor::SimExecutor(Timeline& timeline, Chance& chance)
    : core_{std::make_shared<Core>(Core{timeline, chance, {}, {}, {}, true})} {}

SimExecutor::~SimExecutor() {
  core_->alive = false;
  core_->ready.clear();
}

UtcMillis SimExecutor::now() const { return core_->timeline.now() + core_->clock_error; }
void SimExecutor::set_clock_error(Millis error) { core_->clock_error = error; }
Millis SimExecutor::clock_error() const { return core_->clock_error; }
void SimExecutor::stall(UtcMillis until) { core_->stalled_until = until; }

/// There is one turn for each function that is ready; a turn runs the oldest of them, so their order stays.
void SimExecutor::take_turn(const std::shared_ptr<Core>& core) {
  if (!core->alive) return;
  if (core->timeline.now() < core->stalled_until) {
    core->timeline.after(core->stalled_until - core->timeline.now(), [core] { take_turn(core); });
    return;
  }
  const auto run = std::move(core->ready.front());
  core->ready.pop_front();
  run();
}

void SimExecutor::post(std::function<void()> run) {
  core_->ready.push_back(std::move(run));
  const Millis delay{core_->chance.permille(20) ? core_->chance.between(1, 5) : 0};
  core_->timeline.after(delay, [core = core_] { take_turn(core); });
}

void SimExecutor::post_after(Millis delay, std::function<void()> run) {
  core_->timeline.after(delay, [core = core_, run = std::move(run)]() mutable {
    if (!core->alive) return;
    core->ready.push_back(std::move(run));
    take_turn(core);
  });
}

}  // namespace shiplog::simulation
