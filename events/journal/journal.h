#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"

namespace shiplog {

/// Every backend refuses larger entries with kTooLarge.
inline constexpr size_t kMaxEntryBytes = 4 * 1024 * 1024;

/// One stored entry. The bytes are opaque here; `events/codec` decodes them.
struct JournalRecord {
  Offset offset;
  std::string bytes;
};

/// An append-only, totally ordered sequence of entries. There is no compare-and-append: conflicts are resolved in the
/// fold, by the order of the entries. Offsets grow but may have gaps. Acknowledged entries survive a crash of process
/// and machine.
/// Threads: all functions of Journal may be called from any thread; a Tail belongs to one thread.
class Journal {
 public:
  /// Called once, on a thread of the journal; must not block. The result is the offset of the stored entry; or
  /// kUnknownOutcome: the entry may or may not be stored, now or later. Append the same bytes (same entry id) again;
  /// the fold drops the duplicate. With kTooLarge, kIo and kUnavailable the entry is certainly not stored.
  using Appended = std::function<void(Result<Offset>)>;

  /// Reads from one offset on, across trims and appends by other processes.
  class Tail {
   public:
    virtual ~Tail() = default;
    /// The next records in order, oldest first, at most `max_records`. Waits up to `timeout` for the first one and
    /// returns an empty vector if there is none. Errors: kGone, the next record was trimmed; kCorrupt, naming the
    /// offset, after all earlier records have been delivered; kIo, kUnavailable: may be retried.
    virtual Result<std::vector<JournalRecord>> next(size_t max_records, Millis timeout) = 0;
    /// While next() waits, the records that come next may be passed to `take` instead, on a thread of the journal: what
    /// this process appends needs no other thread to be read then. `take` must not block and must not call the journal.
    /// If it returns false, next() returns the records. To be called before the first next(). A journal that passes
    /// nothing directly ignores it.
    virtual void pass_directly(std::function<bool(std::vector<JournalRecord>& records)> /*take*/) {}
    /// Makes a waiting next() return early and all later calls return at once. May be called from any thread.
    virtual void stop() = 0;
  };

  virtual ~Journal() = default;

  /// Stores one entry atomically. Entries appended while a write is in progress are written together (group commit).
  /// Appends from one thread are stored in the order of the calls.
  virtual void append(std::string bytes, Appended done) = 0;

  /// Reads from the first record at or after `from`. Offset{0}: the oldest.
  virtual Result<std::unique_ptr<Tail>> tail(Offset from) = 0;

  /// The lowest offset that the next record can have: every stored record is before it. 0 for an empty journal.
  virtual Result<Offset> head() = 0;
  /// The same for callers that must not block. A journal that answers at once returns the result, and `then` is never
  /// called. One that has to ask another machine returns nullopt and calls `then` once, later, on a thread of its own;
  /// `then` must not block and must not call the journal.
  virtual std::optional<Result<Offset>> find_head(const std::function<void(Result<Offset>)>& /*then*/) {
    return head();
  }
  /// The offset of the oldest stored record; head() if there is none.
  virtual Result<Offset> oldest() = 0;

  /// Deletes all records before `before`. A snapshot that covers them must exist.
  virtual Result<void> trim(Offset before) = 0;

  /// For logs: "sqlite:/var/lib/shiplog/journal.db".
  virtual std::string describe() const = 0;
};

}  // namespace shiplog
