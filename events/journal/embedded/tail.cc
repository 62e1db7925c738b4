#include "events/journal/embedded/tail.h"

#include <algorithm>
#include <chrono>

#include "events/journal/limits.h"

namespace shiplog::embedded {
namespace {

/// With more than these at once there is enough to do for a thread of its own: it decodes while the next are written.
constexpr size_t kMostPassedDirectly = 16;
/// A tail that is further behind reads the file.
constexpr size_t kMostRecentBytes = size_t{2} << 20;

}  // namespace

void Published::publish(int64_t up_to) {
  {
    const std::lock_guard lock(mutex);
    if (up_to <= next) return;
    next = up_to;
  }
  changed.notify_all();
}

void Published::publish(int64_t first, std::vector<std::string*>& committed) {
  const auto count = static_cast<int64_t>(committed.size());
  bool all_served = false;
  {
    const std::lock_guard lock(mutex);
    if (first + count <= next) return;
    next = first + count;
    std::vector<JournalRecord> records;
    if (!direct.empty()) {
      records.reserve(committed.size());
      for (int64_t at = 0; at < count; ++at) {
        records.push_back({Offset{first + at}, std::move(*committed[static_cast<size_t>(at)])});
      }
    }
    const auto waits = [&](const SqliteTail* tail) { return tail->waits_for(first); };
    const auto found = std::ranges::find_if(direct, waits);
    const bool taken = found != direct.end() && committed.size() <= kMostPassedDirectly && (*found)->take(records);
    taken ? drop_recent(recent.size()) : keep_recent(first, std::move(records));
    all_served = taken && waiting == 1;
  }
  if (!all_served) changed.notify_all();
}

void Published::keep_recent(int64_t first, std::vector<JournalRecord> records) {
  // Another process has written in between.
  if (first != recent_first + static_cast<int64_t>(recent.size())) drop_recent(recent.size());
  if (recent.empty()) recent_first = first;
  for (JournalRecord& record : records) {
    recent_bytes += record.bytes.size();
    recent.push_back(std::move(record.bytes));
  }
  while (recent_bytes > kMostRecentBytes) drop_recent(1);
}

void Published::drop_recent(size_t count) {
  for (; count > 0; --count) {
    recent_bytes -= recent.front().size();
    recent.pop_front();
    ++recent_first;
  }
}

std::vector<JournalRecord> Published::take_recent(int64_t from, size_t most) {
  std::vector<JournalRecord> records;
  const int64_t end = recent_first + static_cast<int64_t>(recent.size());
  if (from < recent_first || from >= end) return records;
  const auto count = static_cast<int64_t>(std::min(most, static_cast<size_t>(end - from)));
  records.reserve(static_cast<size_t>(count));
  const bool alone = direct.size() == 1;
  if (alone) drop_recent(static_cast<size_t>(from - recent_first));
  for (int64_t at = from; at < from + count; ++at) {
    if (alone) {
      recent_bytes -= recent.front().size();
      records.push_back({Offset{at}, std::move(recent.front())});
      recent.pop_front();
      ++recent_first;
    } else {
      records.push_back({Offset{at}, recent[static_cast<size_t>(at - recent_first)]});
    }
  }
  return records;
}

void Published::close() {
  {
    const std::lock_guard lock(mutex);
    closed = true;
  }
  changed.notify_all();
}

SqliteTail::~SqliteTail() {
  const std::lock_guard lock(published_->mutex);
  std::erase(published_->direct, this);
  if (published_->direct.empty()) published_->drop_recent(published_->recent.size());
}

void SqliteTail::pass_directly(std::function<bool(std::vector<JournalRecord>&)> take) {
  const std::lock_guard lock(published_->mutex);
  take_ = std::move(take);
  published_->direct.push_back(this);
}

bool SqliteTail::take(std::vector<JournalRecord>& records) {
  const auto count = static_cast<int64_t>(records.size());
  if (!take_(records)) return false;
  position_ += count;
  return true;
}

Result<std::vector<JournalRecord>> SqliteTail::next(size_t max_records, Millis timeout) {
  const auto deadline = std::chrono::steady_clock::now() + longest_wait(timeout);
  std::vector<JournalRecord> records;
  if (max_records == 0) return records;
  for (bool last = false; true;) {
    {
      const std::lock_guard lock(published_->mutex);
      if (stopped_) return records;
      if (take_) records = published_->take_recent(position_, max_records);
    }
    if (!records.empty()) {
      position_ = records.back().offset.value + 1;
      return records;
    }
    SHIPLOG_TRY(records, reader_.read(position_, max_records));
    if (!records.empty()) {
      position_ = records.back().offset.value + 1;
      return records;
    }
    if (end_) return *end_;
    if (last) return records;
    std::unique_lock lock(published_->mutex);
    const auto ready = [this] { return stopped_ || published_->closed || published_->next > position_; };
    ++published_->waiting;
    waiting_ = true;
    if (!published_->changed.wait_until(lock, deadline, ready)) last = true;
    waiting_ = false;
    --published_->waiting;
    if (published_->closed && published_->next <= position_) {
      return Error{ErrorCode::kUnavailable, "journal " + name_ + " is closed"};
    }
  }
}

void SqliteTail::stop() {
  const std::lock_guard lock(published_->mutex);
  stopped_ = true;
  published_->changed.notify_all();
}

}  // namespace shiplog::embedded
