#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <span>
#include <vector>

#include "services/programs/shiplogctl/replay.h"

namespace shiplog::ctl {

/// The records that are read, and not folded yet. The fold reads ahead: decisions are found there that were computed
/// from the present state, and the revisions whose state hash was recorded. It reads as far ahead as decisions come
/// late: a small window stays in the processor's cache. Few are appended later than the largest reaches.
class ReplayWindow {
 public:
  static constexpr size_t kFewestEntries = 256;
  static constexpr size_t kMostEntries = 8192;
  static constexpr size_t kBytes = size_t{64} << 20U;

  /// `work`: what is folded is freed by those that help, if there are any.
  explicit ReplayWindow(Records records, SharedWork* work = nullptr) : records_{std::move(records)}, work_{work} {}

  bool full() const { return ended_ || entries_ >= limit_ || bytes_ >= kBytes; }
  /// The next records, which are now in the window; none: there are no more. An error is that of pop(), once all before
  /// it is folded.
  std::span<ReplayRecord> read();
  /// The next record to fold, which stays until the next call; nullptr: the end.
  Result<ReplayRecord*> pop();
  /// The id of the record that pop() returns next; nullptr: it is not read yet. The record itself may be decoded by
  /// another thread meanwhile.
  const EntryId* following() const { return ids_.empty() ? nullptr : &ids_.front(); }
  /// nullptr: it is folded already.
  ReplayRecord* find(Offset offset);
  /// Of the records in the window, those that were decided again so far and are not known to be the same.
  template <class Use>
  void for_each_decided(Use use) {
    for (size_t batch = 0; batch < batches_.size(); ++batch) {
      for (ReplayRecord& record : std::span{batches_[batch]}.subspan(batch == 0 ? popped_ : 0)) {
        if (record.again) use(record);
      }
    }
  }
  /// Whether the state hash of `reached`, the revision of the state, is recorded by an entry in the window.
  bool hash_needed(Revision reached);

 private:
  Records records_;
  SharedWork* work_;
  std::deque<std::vector<ReplayRecord>> batches_;  // none is empty
  size_t popped_ = 0;                              // of the first
  std::deque<EntryId> ids_;                        // of what is in the window
  size_t entries_ = 0;
  size_t limit_ = 4 * kFewestEntries;
  size_t furthest_ = 0;  // that a decision was found ahead, of late
  size_t until_fewer_ = 4 * kFewestEntries;
  size_t bytes_ = 0;
  std::priority_queue<Revision, std::vector<Revision>, std::greater<>> hashed_;
  bool ended_ = false;
  std::optional<Error> error_;  // after what is in the window
};

}  // namespace shiplog::ctl
