#include "tests/simulation/executor.h"

#include <chrono>
#include <utility>

#include "events/base/paced_time.h"

namespace shiplog::simulation {

struct SimExecutor::Core {
  Timeline& timeline;
  Chance& chance;
  std::deque<std::function<void()>> ready;
  Millis clock_error;
  UtcMillis stalled_until;
  bool alive = true;
  PacedTime paced = {};

  UtcMillis now() {
    const auto nanos = [](UtcMillis at) {
      return std::chrono::duration_cast<PacedTime::Nanos>(std::chrono::milliseconds{at.value});
    };
    const auto time = paced.at(nanos(timeline.now() + clock_error), nanos(timeline.now()));
    return UtcMillis{std::chrono::duration_cast<std::chrono::milliseconds>(time).count()};
  }
};

SimExecutor::SimExecutor(Timeline& timeline, Chance& chance, Millis clock_error)
    : core_{std::make_shared<Core>(Core{timeline, chance, {}, clock_error, {}, true})} {
  core_->now();
}

SimExecutor::~SimExecutor() {
  core_->alive = false;
  core_->ready.clear();
}

UtcMillis SimExecutor::now() const { return core_->now(); }
void SimExecutor::set_clock_error(Millis error) { core_->clock_error = error; }
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
