#include "events/journal/embedded/tail.h"

#include <chrono>

#include "events/journal/limits.h"

namespace shiplog::embedded {

Result<std::vector<JournalRecord>> SqliteTail::next(size_t max_records, Millis timeout) {
  const auto deadline = std::chrono::steady_clock::now() + longest_wait(timeout);
  std::vector<JournalRecord> records;
  if (max_records == 0) return records;
  for (bool last = false; true;) {
    {
      const std::lock_guard lock(published_->mutex);
      if (stopped_) return records;
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
    if (!published_->changed.wait_until(lock, deadline, ready)) last = true;
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
