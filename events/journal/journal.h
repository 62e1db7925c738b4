#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/result.h"
#include "events/base/time.h"

namespace shiplog {

/// Entries of more bytes than this are refused with kTooLarge by every backend.
inline constexpr size_t kMaxEntryBytes = 4 * 1024 * 1024;

/// One stored entry: opaque bytes here; `events/codec` reads them.
struct JournalRecord {
  Offset offset;
  std::string bytes;
};

/// An append-only, totally ordered sequence of entries. There is no compare-and-append: the order decides afterwards,
/// in the fold. Offsets grow but may have gaps. What was acknowledged survives a crash of process and machine.
/// Threads: all functions of Journal may be called from any thread; a Tail belongs to one thread.
class Journal {
 public:
  /// Called once, on a thread of the journal's; must not block. The offset of the stored entry; or
  /// kUnknownOutcome: the entry may or may not be stored, now or later: append the same bytes (same entry id) again,
  /// the fold drops the twin; or kTooLarge, kIo, kUnavailable: certainly not stored.
  using Appended = std::function<void(Result<Offset>)>;

  /// Reads on from one offset, across trims and across appends by other processes.
  class Tail {
   public:
    virtual ~Tail() = default;
    /// The next records in order, at most `max_records`, oldest first. Waits up to `timeout` for the first one; none
    /// after that is an empty vector. Errors: kGone, the next record was trimmed; kCorrupt, naming the offset: all
    /// before it has been delivered; kIo, kUnavailable: may be called again.
    virtual Result<std::vector<JournalRecord>> next(size_t max_records, Millis timeout) = 0;
    /// Makes a waiting next() return early, and every later one at once. From any thread.
    virtual void stop() = 0;
  };

  virtual ~Journal() = default;

  /// Stores one entry whole or not at all. Entries appended while one is being written are written together (group
  /// commit). Appends from one thread are stored in the order of the calls.
  virtual void append(std::string bytes, Appended done) = 0;

  /// Reads from the first record at or after `from`. Offset{0} is the oldest.
  virtual Result<std::unique_ptr<Tail>> tail(Offset from) = 0;

  /// The offset that the next record will have at least: every stored record is before it. An empty journal: 0.
  virtual Result<Offset> head() = 0;
  /// The offset of the oldest record still held; head() when there is none.
  virtual Result<Offset> oldest() = 0;

  /// Forgets all records before `before`. A snapshot that covers them must exist.
  virtual Result<void> trim(Offset before) = 0;

  /// For logs: "sqlite:/var/lib/shiplog/journal.db".
  virtual std::string describe() const = 0;
};

}  // namespace shiplog
