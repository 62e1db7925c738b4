#include "services/programs/shiplogctl/replay_window.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "events/event.h"

namespace shiplog::ctl {

const ReplayRecord* ReplayWindow::read() {
  auto next = records_();
  if (!next) error_ = next.error();
  ended_ = !next || !next.value();
  if (ended_) return nullptr;
  ReplayRecord* const record = &*next.value();
  bytes_ += record->bytes;
  for (const Event& event : record->entry.events) {
    if (const auto* hashed = std::get_if<StateHashed>(&event)) hashed_.push(hashed->revision);
  }
  buffer_.push_back({std::move(*record), std::nullopt});
  return &buffer_.back().record;
}

Result<std::optional<CheckedRecord>> ReplayWindow::pop() {
  if (buffer_.empty()) {
    if (error_) return *error_;
    return std::nullopt;
  }
  std::optional<CheckedRecord> first{std::move(buffer_.front())};
  buffer_.pop_front();
  bytes_ -= first->record.bytes;
  return first;
}

CheckedRecord* ReplayWindow::find(Offset offset) {
  const auto offset_of = [](const CheckedRecord& checked) { return checked.record.offset; };
  const auto found = std::ranges::lower_bound(buffer_, offset, {}, offset_of);
  return found == buffer_.end() || found->record.offset != offset ? nullptr : &*found;
}

bool ReplayWindow::hash_needed(Revision reached) {
  bool needed = false;
  for (; !hashed_.empty() && hashed_.top() <= reached; hashed_.pop()) needed |= hashed_.top() == reached;
  return needed;
}

}  // namespace shiplog::ctl
