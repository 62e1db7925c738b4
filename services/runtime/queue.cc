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

bool ReconcileQueue::wake(const ObjectKey& key, UtcMillis now, const Cause& cause, int64_t priority) {
  Item& item = items_[key];
  const bool due = item.due && *item.due <= now;
  if (due && item.priority == priority) return false;  // for an older cause
  const UtcMillis since = due ? *item.due : now;
  unschedule(key, item);
  item.priority = priority;
  if (!due) item.cause = cause;
  schedule(key, item, since);
  return !due;
}

void ReconcileQueue::collect_due(UtcMillis now) {
  while (!waiting_.empty() && waiting_.begin()->first <= now) {
    auto node = waiting_.extract(waiting_.begin());
    const int64_t priority = items_.at(node.value().second).priority;
    ready_.insert({priority, node.value().first, std::move(node.value().second)});
  }
}

size_t ReconcileQueue::ready(UtcMillis now) {
  collect_due(now);
  return ready_.size();
}

std::optional<ReconcileQueue::Taken> ReconcileQueue::take(UtcMillis now) {
  collect_due(now);
  if (ready_.empty()) return std::nullopt;
  auto first = std::move(ready_.extract(ready_.begin()).value());
  const ObjectKey key = std::move(first.key);
  Item& item = items_.at(key);
  item.due.reset();
  item.busy = true;
  ++busy_;
  return Taken{key, item.cause, first.due};
}

std::optional<UtcMillis> ReconcileQueue::next_due() const {
  if (!ready_.empty()) return ready_.begin()->due;
  if (waiting_.empty()) return std::nullopt;
  return waiting_.begin()->first;
}

void ReconcileQueue::done(const ObjectKey& key, UtcMillis now, std::optional<UtcMillis> look_again) {
  const auto found = items_.find(key);
  if (found == items_.end() || !found->second.busy) return;  // cleared meanwhile
  Item& item = found->second;
  item.busy = false;
  item.failures = 0;
  --busy_;
  if (item.due) {
    schedule(key, item, std::min(*item.due, look_again.value_or(*item.due)));
  } else if (look_again) {
    schedule(key, item, std::max(*look_again, now));
  } else {
    items_.erase(found);
  }
}

void ReconcileQueue::retry(const ObjectKey& key, UtcMillis now, Random& random) {
  const auto found = items_.find(key);
  if (found == items_.end() || !found->second.busy) return;
  Item& item = found->second;
  item.busy = false;
  --busy_;
  const int64_t backoff = std::min(kLongestBackoffMs, kFirstBackoffMs << std::min(item.failures, 12));
  ++item.failures;
  ++retries_;
  const auto jitter = static_cast<int64_t>(random_below(random, static_cast<uint64_t>(backoff / 2 + 1)));
  const UtcMillis later{now.value + backoff / 2 + jitter};
  schedule(key, item, item.due ? std::min(*item.due, later) : later);
}

int ReconcileQueue::failures(const ObjectKey& key) const {
  const auto found = items_.find(key);
  return found == items_.end() ? 0 : found->second.failures;
}

ReconcileQueue::Backlog ReconcileQueue::backlog(UtcMillis now) const {
  Backlog backlog{ready_.size(), Millis{0}};
  for (auto waiting = waiting_.begin(); waiting != waiting_.end() && waiting->first <= now; ++waiting) ++backlog.keys;
  if (const auto due = next_due(); due && *due <= now) backlog.waiting = now - *due;
  return backlog;
}

void ReconcileQueue::clear() {
  items_.clear();
  waiting_.clear();
  ready_.clear();
  busy_ = 0;
  retries_ = 0;
}

}  // namespace shiplog
