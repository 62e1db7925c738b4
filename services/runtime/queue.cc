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
    ready_of(item.urgency).erase({item.priority, *item.due, &node});
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
  return ready_of(urgency).size();
}

std::optional<ReconcileQueue::Taken> ReconcileQueue::take(UtcMillis now, bool routine) {
  collect_due(now);
  const bool changes_wait = !ready_of(Urgency::kChange).empty();
  const bool routine_waits = routine && !ready_of(Urgency::kRoutine).empty();
  if (!changes_wait && !routine_waits) return std::nullopt;
  const bool change = changes_wait && (!routine_waits || changes_in_a_row_ < kMostChangesInARow);
  changes_in_a_row_ = change && routine_waits ? changes_in_a_row_ + 1 : 0;
  auto& keys = ready_of(change ? Urgency::kChange : Urgency::kRoutine);
  const ReadyKey first = *keys.begin();
  keys.erase(keys.begin());
  Item& item = first.node->second;
  item.due.reset();
  item.busy = true;
  item.busy_with_routine = !change;
  ++busy_;
  if (item.busy_with_routine) ++busy_with_routine_;
  return Taken{first.node->first, item.cause, first.due, item.urgency};
}

Urgency ReconcileQueue::end_step(Item& item) {
  item.busy = false;
  --busy_;
  if (!item.busy_with_routine) return Urgency::kChange;
  --busy_with_routine_;
  return Urgency::kRoutine;
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
  const Urgency urgency = end_step(item);
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
  const Urgency urgency = end_step(item);
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
  Backlog backlog{ready_of(Urgency::kChange).size() + ready_of(Urgency::kRoutine).size(), Millis{0}};
  for (auto waiting = waiting_.begin(); waiting != waiting_.end() && waiting->due <= now; ++waiting) ++backlog.keys;
  if (const auto due = next_due(); due && *due <= now) backlog.waiting = now - *due;
  return backlog;
}

void ReconcileQueue::clear() {
  waiting_.clear();
  for (auto& keys : ready_) keys.clear();
  items_.clear();
  changes_in_a_row_ = 0;
  busy_ = 0;
  busy_with_routine_ = 0;
  retries_ = 0;
}

}  // namespace shiplog
