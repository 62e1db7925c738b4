#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "services/programs/shiplogctl/replay.h"
#include "services/programs/shiplogctl/replay_checks.h"

namespace shiplog::ctl {

/// The records that are read, and not folded yet. The fold reads ahead: decisions are found there that were computed
/// from the present state, and the revisions whose state hash was recorded. Few are appended later than that.
class ReplayWindow {
 public:
  static constexpr size_t kEntries = 8192;
  static constexpr size_t kBytes = size_t{64} << 20U;

  explicit ReplayWindow(Records records) : records_{std::move(records)} {}

  bool full() const { return ended_ || buffer_.size() >= kEntries || bytes_ >= kBytes; }
  /// The next record, which is now in the window; nullptr: there is none. An error is that of pop(), once all before it
  /// is folded.
  const ReplayRecord* read();
  /// The next record to fold, with what it was decided to be again; nullopt: the end.
  Result<std::optional<CheckedRecord>> pop();
  /// What was read and not folded.
  std::deque<CheckedRecord> take_rest() { return std::exchange(buffer_, {}); }
  /// nullptr: it is folded already.
  CheckedRecord* find(Offset offset);
  /// Of the records in the window, those that were decided again so far.
  template <class Use>
  void for_each_decided(Use use) {
    for (CheckedRecord& checked : buffer_) {
      if (checked.again) use(checked);
    }
  }
  /// Whether the state hash of `reached`, the revision of the state, is recorded by an entry in the window.
  bool hash_needed(Revision reached);

 private:
  Records records_;
  std::deque<CheckedRecord> buffer_;
  std::priority_queue<Revision, std::vector<Revision>, std::greater<>> hashed_;
  size_t bytes_ = 0;
  bool ended_ = false;
  std::optional<Error> error_;  // after what is in the window
};

}  // namespace shiplog::ctl
