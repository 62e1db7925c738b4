#include "services/roles/dispatcher/reverts.h"

#include <algorithm>

namespace shiplog::dispatcher {
namespace {

constexpr int kMostDoublings = 16;
constexpr size_t kMostRemembered = 100'000;
constexpr Millis kNoBudget{1'000};

}  // namespace

Millis Reverts::calm_in(const ObjectKey& work, UtcMillis now) const {
  const auto past = past_.find(work);
  if (past == past_.end()) return Millis{0};
  return std::max(Millis{0}, Millis{kCalm.value - (now - past->second.last).value});
}

Millis Reverts::due_in(const ObjectKey& work, UtcMillis now) const {
  if (calm_in(work, now).value == 0) return Millis{0};
  const Past& past = past_.at(work);
  if (past.count < kAtOnce) return Millis{0};
  const int64_t pause =
      std::min(kLongestPause.value, kFirstPause.value << std::min(past.count - kAtOnce, kMostDoublings));
  return Millis{std::max<int64_t>(0, pause - std::max<int64_t>(0, (now - past.last).value))};
}

Millis Reverts::pause(const ObjectKey& work, const std::string& cluster, UtcMillis now) {
  if (calm_in(work, now).value == 0) return Millis{0};
  if (const Millis due = due_in(work, now); due.value > 0) return due;
  auto& budget = budgets_.try_emplace(cluster, kMemberBurst, kMemberPerSecond).first->second;
  return budget.take(1, now) ? Millis{0} : kNoBudget;
}

void Reverts::restored(const ObjectKey& work, UtcMillis now) {
  if (past_.size() >= kMostRemembered) {
    std::erase_if(past_, [&](const auto& entry) { return calm_in(entry.first, now).value == 0; });
  }
  Past& past = past_[work];
  if (past.count > 0 && now - past.last >= kCalm) past.count = 0;
  ++past.count;
  past.last = now;
}

void Reverts::clear() {
  past_.clear();
  budgets_.clear();
}

}  // namespace shiplog::dispatcher
