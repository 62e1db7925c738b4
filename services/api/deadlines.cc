#include "services/api/deadlines.h"

#include <utility>
#include <vector>

namespace shiplog::api {
namespace {

constexpr Millis kLookEvery{500};

}  // namespace

Deadlines::Done Deadlines::guard(Millis timeout, Done done) {
  auto guarded = std::make_shared<Guarded>();
  guarded->done = std::move(done);
  {
    const std::lock_guard lock{mutex_};
    guarded->at = waiting_.emplace(executor_.now() + timeout, guarded);
    arm();
  }
  return [self = shared_from_this(), guarded](Result<Outcome> outcome) {
    Done answer;
    {
      const std::lock_guard lock{self->mutex_};
      if (!guarded->done) return;  // too late
      answer = std::exchange(guarded->done, nullptr);
      self->waiting_.erase(guarded->at);
    }
    answer(std::move(outcome));
  };
}

// The caller holds the lock.
void Deadlines::arm() {
  if (std::exchange(armed_, true)) return;
  executor_.post_after(kLookEvery, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->expire();
  });
}

void Deadlines::expire() {
  std::vector<Done> late;
  {
    const std::lock_guard lock{mutex_};
    armed_ = false;
    const UtcMillis now = executor_.now();
    while (!waiting_.empty() && waiting_.begin()->first <= now) {
      late.push_back(std::exchange(waiting_.begin()->second->done, nullptr));
      waiting_.erase(waiting_.begin());
    }
    if (!waiting_.empty()) arm();
  }
  for (const Done& done : late) {
    done(Error{ErrorCode::kTimeout,
               "the journal did not confirm the write in time: it may or may not be stored; look before repeating it"});
  }
}

}  // namespace shiplog::api
