#include "services/programs/shiplogctl/replay_window.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "events/event.h"
#include "services/programs/shiplogctl/shared_work.h"

namespace shiplog::ctl {

std::span<ReplayRecord> ReplayWindow::read() {
  auto next = records_();
  if (!next) error_ = next.error();
  ended_ = !next || next.value().empty();
  if (ended_) return {};
  std::vector<ReplayRecord>& batch = batches_.emplace_back(std::move(next).value());
  entries_ += batch.size();
  for (const ReplayRecord& record : batch) {
    bytes_ += record.bytes;
    ids_.push_back(record.entry.id);
    for (const Event& event : record.entry.events) {
      if (const auto* hashed = std::get_if<StateHashed>(&event)) hashed_.push(hashed->revision);
    }
  }
  return batch;
}

Result<ReplayRecord*> ReplayWindow::pop() {
  if (!batches_.empty() && popped_ == batches_.front().size()) {
    if (work_ != nullptr) work_->offer_to_free(std::move(batches_.front()));
    batches_.pop_front();
    popped_ = 0;
  }
  if (batches_.empty()) {
    if (error_) return *error_;
    return nullptr;
  }
  ReplayRecord& first = batches_.front()[popped_++];
  --entries_;
  ids_.pop_front();
  bytes_ -= first.bytes;
  if (--until_fewer_ == 0) {
    if (std::exchange(furthest_, 0) < limit_ / 8) limit_ = std::max(limit_ / 2, kFewestEntries);
    until_fewer_ = limit_;
  }
  return &first;
}

ReplayRecord* ReplayWindow::find(Offset offset) {
  const auto last_of = [](const std::vector<ReplayRecord>& batch) { return batch.back().offset; };
  const auto batch = std::ranges::lower_bound(batches_, offset, {}, last_of);
  if (batch == batches_.end()) return nullptr;
  const Offset next = batches_.front()[std::min(popped_, batches_.front().size() - 1)].offset;
  const auto ahead = static_cast<size_t>(offset.value - next.value);
  furthest_ = std::max(furthest_, ahead);
  if (ahead > limit_ / 2) limit_ = std::min(2 * limit_, kMostEntries);
  const auto waiting = std::span{*batch}.subspan(batch == batches_.begin() ? popped_ : 0);
  const auto found = std::ranges::lower_bound(waiting, offset, {}, &ReplayRecord::offset);
  return found == waiting.end() || found->offset != offset ? nullptr : &*found;
}

bool ReplayWindow::hash_needed(Revision reached) {
  bool needed = false;
  for (; !hashed_.empty() && hashed_.top() <= reached; hashed_.pop()) needed |= hashed_.top() == reached;
  return needed;
}

}  // namespace shiplog::ctl
