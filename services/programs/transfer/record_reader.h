#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "events/base/result.h"
#include "events/journal/journal.h"

namespace shiplog {

/// Whether records were trimmed from the front. Offsets have gaps, but the first record of a journal stands at 0 or 1.
Result<bool> is_trimmed(Journal& journal);

/// Reads a journal from its oldest record up to an end that does not move while the journal is written to.
/// Threads: one at a time.
class RecordReader {
 public:
  /// `end`: the first offset that is not read; nullopt: the journal's present head.
  static Result<RecordReader> open(Journal& journal, std::optional<Offset> end = std::nullopt);

  /// nullopt: that was the last. Errors: those of Tail::next.
  Result<std::optional<JournalRecord>> next();
  Offset end() const { return end_; }

 private:
  RecordReader(std::unique_ptr<Journal::Tail> tail, Offset end) : tail_{std::move(tail)}, end_{end} {}

  std::unique_ptr<Journal::Tail> tail_;
  Offset end_;
  Offset at_;
  std::deque<JournalRecord> waiting_;
};

}  // namespace shiplog
