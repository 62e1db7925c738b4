#include "tests/simulation/timeline.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace shiplog::simulation {

bool Timeline::later(const Due& a, const Due& b) {
  return std::tie(a.at, a.tie, a.sequence) > std::tie(b.at, b.tie, b.sequence);
}

void Timeline::after(Millis delay, std::function<void()> run) {
  const UtcMillis at{now_.value + std::max<int64_t>(0, delay.value)};
  heap_.push_back({at, chance_.below(1024), ++sequence_, std::move(run)});
  std::ranges::push_heap(heap_, later);
}

bool Timeline::step(UtcMillis until) {
  if (heap_.empty() || heap_.front().at > until) {
    now_ = std::max(now_, until);
    return false;
  }
  std::ranges::pop_heap(heap_, later);
  Due due = std::move(heap_.back());
  heap_.pop_back();
  now_ = due.at;
  ++steps_;
  due.run();
  return true;
}

}  // namespace shiplog::simulation
