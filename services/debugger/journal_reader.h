#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/entry.h"
#include "events/journal/journal.h"

namespace shiplog::debugger {

/// One entry of a journal. The entry is shared: what holds it may keep it.
struct DebugRecord {
  Offset offset;
  std::shared_ptr<const Entry> entry;
};

/// The entries of a journal by their index, counted from 0 at the offset where the reading began. Entries are read in
/// blocks; the latest few blocks stay in memory, of all others only their offsets.
class JournalReader {
 public:
  /// Entries before `from` are not read. Errors: those of the journal.
  static Result<JournalReader> open(std::shared_ptr<Journal> journal, Offset from);

  /// nullopt: the journal ended before, when the reader was opened or refreshed. Errors: kCorrupt naming the journal
  /// and the offset, an entry that cannot be read or that only a newer build knows; those of the journal.
  Result<std::optional<DebugRecord>> at(size_t index);
  /// Looks for the present end of the journal, for one that is written to. True: it may have grown.
  Result<bool> refresh();
  /// Every entry is before it.
  Offset head() const { return head_; }
  std::string describe() const { return journal_->describe(); }

 private:
  static constexpr size_t kBlock = 512;
  static constexpr size_t kMostBlocks = 16;

  struct Block {
    size_t number = 0;
    std::vector<JournalRecord> records;
    std::vector<std::shared_ptr<const Entry>> decoded;
    std::optional<Error> error;  ///< behind the records
  };

  JournalReader(std::shared_ptr<Journal> journal, Offset from, Offset head)
      : journal_{std::move(journal)}, from_{from}, head_{head} {}
  Result<Block*> block(size_t number);
  Offset begin_of(size_t number) const;
  Result<Block> read(size_t number);

  std::shared_ptr<Journal> journal_;
  Offset from_, head_;
  std::vector<Offset> offsets_;  // of the entries that were read so far
  std::deque<Block> blocks_;     // the latest used first
  std::unique_ptr<Journal::Tail> tail_;
  Offset tail_at_;
};

}  // namespace shiplog::debugger
