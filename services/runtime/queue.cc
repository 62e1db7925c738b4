#include "services/runtime/queue.h"

#include <algorithm>

#include "events/base/check.h"

namespace shiplog {
namespace {

constexpr int64_t kFirstBackoffMs = 20;
constexpr int64_t kLongestBackoffMs = 30'000;

}  // namespace

void ReconcileQueue::schedule(const ObjectKey& key, Item& item, UtcMillis due) {
  item.due = due;
  if (!item.busy) waiting_.emplace(due, key);
}

void ReconcileQueue::unschedule(const ObjectKey& key, Item& item) {
  if (item.due && !item.busy && waiting_.erase({*item.due, key}) == 0) ready_.erase({item.priority, *item.due, key});
  item.due.reset();
}

void ReconcileQueue::wake(const ObjectKey& key, UtcMillis now, const Cause& cause, int64_t priority) {
  Item& item = items_[key];
  const bool due = item.due && *item.due <= now;
  if (due && item.priority == priority) return;  // for an older cause
  const UtcMillis since = due ? *item.due : now;
  unschedule(key, item);
  item.priority = priority;
  if (!due) item.cause = cause;
  schedule(key, item, since);
}

std::optional<ReconcileQueue::Taken> ReconcileQueue::take(UtcMillis now) {
  while (!waiting_.empty() && waiting_.begin()->first <= now) {
    auto node = waiting_.extract(waiting_.begin());
    const int64_t priority = items_.at(node.value().second).priority;
    ready_.insert({priority, node.value().first, std::move(node.value().second)});
  }
  if (ready_.empty()) return std::nullopt;
  const ObjectKey key = std::move(ready_.extract(ready_.begin()).value().key);
  Item& item = items_.at(key);
  item.due.reset();
  item.busy = true;
  ++busy_;
  return Taken{key, item.cause};
}

std::optional<UtcMillis> ReconcileQueue::next_due() const {
  if (!ready_.empty()) return ready_.begin()->due;
  if (waiting_.empty()) return std::nullopt;
  return waiting_.begin()->first;
}

void ReconcileQueue::done(const ObjectKey& key, UtcMillis now, std::optional<UtcMillis> look_again) {
  const auto at = items_.find(key);
  if (at == items_.end() || !at->second.busy) return;  // cleared meanwhile
  Item& item = at->second;
  item.busy = false;
  item.failures = 0;
  --busy_;
  if (item.due) {
    schedule(key, item, std::min(*item.due, look_again.value_or(*item.due)));
  } else if (look_again) {
    schedule(key, item, std::max(*look_again, now));
  } else {
    items_.erase(at);
  }
}

void ReconcileQueue::retry(const ObjectKey& key, UtcMillis now, Random& random) {
  const auto at = items_.find(key);
  if (at == items_.end() || !at->second.busy) return;
  Item& item = at->second;
  item.busy = false;
  --busy_;
  const int64_t backoff = std::min(kLongestBackoffMs, kFirstBackoffMs << std::min(item.failures, 12));
  ++item.failures;
  const auto jitter = static_cast<int64_t>(random_below(random, static_cast<uint64_t>(backoff / 2 + 1)));
  const UtcMillis later{now.value + backoff / 2 + jitter};
  schedule(key, item, item.due ? std::min(*item.due, later) : later);
}

int ReconcileQueue::failures(const ObjectKey& key) const {
  const auto at = items_.find(key);
  return at == items_.end() ? 0 : at->second.failures;
}

void ReconcileQueue::clear() {
  items_.clear();
  waiting_.clear();
  ready_.clear();
  busy_ = 0;
}

}  // namespace shiplog
