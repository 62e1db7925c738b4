#include "services/requests/window.h"

#include "events/base/check.h"

namespace shiplog::requests {

void RequestWindow::add(int64_t offset, std::string order_key) {
  SHIPLOG_CHECK(records_.empty() || records_.rbegin()->first < offset, "records are added in their order");
  records_.emplace(offset, Record{Phase::kWaiting, std::move(order_key), std::nullopt});
  ++waiting_;
}

void RequestWindow::add_finished(int64_t offset, RecordOutcome outcome) {
  SHIPLOG_CHECK(records_.empty() || records_.rbegin()->first < offset, "records are added in their order");
  records_.emplace(offset, Record{Phase::kFinished, "", std::move(outcome)});
}

std::optional<int64_t> RequestWindow::start_next() {
  if (running_ >= most_running_ || waiting_ == 0) return std::nullopt;
  std::set<std::string_view> taken;
  for (auto& [offset, record] : records_) {
    if (record.phase == Phase::kFinished) continue;
    const bool free = record.order_key.empty() || taken.insert(record.order_key).second;
    if (record.phase == Phase::kRunning || !free) continue;
    record.phase = Phase::kRunning;
    ++running_;
    --waiting_;
    return offset;
  }
  return std::nullopt;
}

void RequestWindow::finish(int64_t offset, RecordOutcome outcome) {
  const auto record = records_.find(offset);
  SHIPLOG_CHECK(record != records_.end() && record->second.phase == Phase::kRunning, "what runs is finished, once");
  record->second.phase = Phase::kFinished;
  record->second.outcome = std::move(outcome);
  --running_;
}

std::optional<RequestWindow::Finished> RequestWindow::take_finished(size_t most) {
  Finished finished;
  while (!records_.empty() && finished.outcomes.size() < most) {
    auto first = records_.begin();
    if (first->second.phase != Phase::kFinished) break;
    finished.outcomes.emplace_back(first->first, std::move(*first->second.outcome));
    finished.next = first->first + 1;
    records_.erase(first);
  }
  if (finished.outcomes.empty()) return std::nullopt;
  return finished;
}

}  // namespace shiplog::requests
