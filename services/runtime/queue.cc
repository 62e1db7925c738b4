#include "services/runtime/queue.h"

#include <algorithm>

#include "events/base/check.h"

namespace shiplog {
namespace {

constexpr int64_t kFirstBackoffMs = 20;
constexpr int64_t kLongestBackoffMs = 30'000;
/// Users cannot keep what was queued at a start from ever being looked at.
constexpr int kMostChangesInARow = 7;

}  // namespace

void ReconcileQueue::schedule(Node& node, UtcMillis due) {
  node.second.due = due;
  if (!node.second.busy) waiting_.insert({due, &node});
}

void ReconcileQueue::unschedule(Node& node) {
  Item& item = node.second;
  if (item.due && !item.busy && waiting_.erase({*item.due, &node}) == 0) {
    const ReadyKey key{item.priority, *item.due, &node};
    if (ready_of(item.urgency).erase(key) == 0 && item.lane != nullptr) {
      held_[static_cast<size_t>(item.urgency)] -= item.lane->held[static_cast<size_t>(item.urgency)].erase(key);
      item.lane = nullptr;
    }
  }
  item.due.reset();
}

bool ReconcileQueue::wake(const ObjectKey& key, UtcMillis now, const Cause& cause, int64_t priority, Urgency urgency,
                          Relation relation) {
  Node& node = *items_.try_emplace(key).first;
  Item& item = node.second;
  const bool due = item.due && *item.due <= now;
  const bool raised = due && urgency > item.urgency;
  if (due && item.priority == priority && !raised) return false;  // for an older cause
  const UtcMillis since = due ? *item.due : now;
  const bool keeps_cause = relation == Relation::kHastens && (item.due || item.busy) && !item.cause.entry_id.empty();
  unschedule(node);
  item.priority = priority;
  item.urgency = due ? std::max(item.urgency, urgency) : urgency;
  if ((!due || raised) && !keeps_cause) item.cause = cause;
  schedule(node, since);
  return !due;
}

void ReconcileQueue::collect_due(UtcMillis now) {
  while (!waiting_.empty() && waiting_.begin()->due <= now) {
    const WaitingKey first = *waiting_.begin();
    waiting_.erase(waiting_.begin());
    const Item& item = first.node->second;
    ready_of(item.urgency).insert({item.priority, first.due, first.node});
  }
}

size_t ReconcileQueue::ready(UtcMillis now) { return ready(now, Urgency::kChange) + ready(now, Urgency::kRoutine); }

size_t ReconcileQueue::ready(UtcMillis now, Urgency urgency) {
  collect_due(now);
  return ready_of(urgency).size() + held_[static_cast<size_t>(urgency)];
}

std::optional<ReconcileQueue::Taken> ReconcileQueue::take(UtcMillis now, bool routine) {
  collect_due(now);
  notice_slow(now);
  while (true) {
    const bool changes_wait = !ready_of(Urgency::kChange).empty();
    const bool routine_waits = routine && !ready_of(Urgency::kRoutine).empty();
    if (!changes_wait && !routine_waits) return std::nullopt;
    const bool change = changes_wait && (!routine_waits || changes_in_a_row_ < kMostChangesInARow);
    auto& keys = ready_of(change ? Urgency::kChange : Urgency::kRoutine);
    const ReadyKey first = *keys.begin();
    keys.erase(keys.begin());
    Item& item = first.node->second;
    Lane* lane = lane_of(first.node->first);
    if (lane != nullptr && lane->slow && lane->steps.all >= kMostOfSlowLane) {
      const auto urgency = static_cast<size_t>(item.urgency);
      lane->held[urgency].insert(first);
      ++held_[urgency];
      item.lane = lane;
      continue;
    }
    changes_in_a_row_ = change && routine_waits ? changes_in_a_row_ + 1 : 0;
    item.due.reset();
    begin_step(*first.node, !change, lane, now);
    return Taken{first.node->first, item.cause, first.due, item.urgency};
  }
}

ReconcileQueue::Lane* ReconcileQueue::lane_of(const ObjectKey& key) {
  if (!lane_of_) return nullptr;
  std::string name = lane_of_(key);
  return name.empty() ? nullptr : &lanes_[std::move(name)];
}

void ReconcileQueue::begin_step(Node& node, bool routine, Lane* lane, UtcMillis now) {
  Item& item = node.second;
  item.busy = true;
  item.busy_with_routine = routine;
  item.lane = lane;
  const Steps step{1, routine ? size_t{1} : size_t{0}};
  steps_ += step;
  if (lane == nullptr) return;
  item.began = now;
  item.number = ++last_step_;
  quick_.emplace(item.number, &node);
  lane->steps += step;
  if (lane->slow) of_slow_ += step;
}

void ReconcileQueue::become_slow(Lane& lane) {
  if (std::exchange(lane.slow, true)) return;
  of_slow_ += lane.steps;
}

void ReconcileQueue::notice_slow(UtcMillis now) {
  while (!quick_.empty()) {
    Item& item = quick_.begin()->second->second;
    if (now - item.began < kSlow) return;
    quick_.erase(quick_.begin());
    item.slow = true;
    ++item.lane->slow_steps;
    become_slow(*item.lane);
  }
}

ReconcileQueue::Steps ReconcileQueue::counted(UtcMillis now) {
  notice_slow(now);
  Steps counted = steps_;
  return counted -= of_slow_;
}

void ReconcileQueue::release(Lane& lane, size_t most_of_each) {
  for (const Urgency urgency : kUrgencies) {
    auto& held = lane.held[static_cast<size_t>(urgency)];
    for (size_t released = 0; released < most_of_each && !held.empty(); ++released) {
      held.begin()->node->second.lane = nullptr;
      ready_of(urgency).insert(held.extract(held.begin()));
      --held_[static_cast<size_t>(urgency)];
    }
  }
}

Urgency ReconcileQueue::end_step(Item& item, UtcMillis now) {
  item.busy = false;
  const Steps step{1, item.busy_with_routine ? size_t{1} : size_t{0}};
  steps_ -= step;
  if (item.lane != nullptr) end_step_in_lane(item, step, now);
  return item.busy_with_routine ? Urgency::kRoutine : Urgency::kChange;
}

void ReconcileQueue::end_step_in_lane(Item& item, const Steps& step, UtcMillis now) {
  notice_slow(now);
  Lane& lane = *std::exchange(item.lane, nullptr);
  quick_.erase(item.number);
  lane.steps -= step;
  if (lane.slow) of_slow_ -= step;
  const bool was_slow = std::exchange(item.slow, false);
  if (was_slow) --lane.slow_steps;
  if (lane.slow && !was_slow && lane.slow_steps == 0) {
    lane.slow = false;
    of_slow_ -= lane.steps;
  }
  release(lane, lane.slow ? 1 : SIZE_MAX);
}

std::optional<UtcMillis> ReconcileQueue::next_due(bool routine) const {
  for (const Urgency urgency : {Urgency::kChange, Urgency::kRoutine}) {
    if (urgency == Urgency::kRoutine && !routine) continue;
    if (const auto& keys = ready_of(urgency); !keys.empty()) return keys.begin()->due;
  }
  if (waiting_.empty()) return std::nullopt;
  return waiting_.begin()->due;
}

void ReconcileQueue::done(const ObjectKey& key, UtcMillis now, std::optional<UtcMillis> look_again) {
  const auto found = items_.find(key);
  if (found == items_.end() || !found->second.busy) return;  // cleared meanwhile
  Item& item = found->second;
  const Urgency urgency = end_step(item, now);
  if (!item.due) item.urgency = urgency;
  item.failures = 0;
  if (item.due) {
    schedule(*found, std::min(*item.due, look_again.value_or(*item.due)));
  } else if (look_again) {
    schedule(*found, std::max(*look_again, now));
  } else {
    items_.erase(found);
  }
}

void ReconcileQueue::retry(const ObjectKey& key, UtcMillis now, Random& random) {
  const auto found = items_.find(key);
  if (found == items_.end() || !found->second.busy) return;
  Item& item = found->second;
  const Urgency urgency = end_step(item, now);
  item.urgency = item.due ? std::max(item.urgency, urgency) : urgency;
  const int64_t backoff = std::min(kLongestBackoffMs, kFirstBackoffMs << std::min(item.failures, 12));
  ++item.failures;
  ++retries_;
  const auto jitter = static_cast<int64_t>(random_below(random, static_cast<uint64_t>(backoff / 2 + 1)));
  const UtcMillis later{now.value + backoff / 2 + jitter};
  schedule(*found, item.due ? std::min(*item.due, later) : later);
}

int ReconcileQueue::failures(const ObjectKey& key) const {
  const auto found = items_.find(key);
  return found == items_.end() ? 0 : found->second.failures;
}

ReconcileQueue::Backlog ReconcileQueue::backlog(UtcMillis now) const {
  size_t due_now = 0;
  for (const Urgency urgency : kUrgencies) due_now += ready_of(urgency).size() + held_[static_cast<size_t>(urgency)];
  Backlog backlog{due_now, Millis{0}};
  for (auto waiting = waiting_.begin(); waiting != waiting_.end() && waiting->due <= now; ++waiting) ++backlog.keys;
  if (const auto due = next_due(); due && *due <= now) backlog.waiting = now - *due;
  return backlog;
}

void ReconcileQueue::clear() {
  waiting_.clear();
  for (auto& keys : ready_) keys.clear();
  items_.clear();
  changes_in_a_row_ = 0;
  steps_ = of_slow_ = {};
  lanes_.clear();
  held_ = {};
  quick_.clear();
  retries_ = 0;
}

}  // namespace shiplog
