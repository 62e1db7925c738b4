#pragma once

#include <functional>
#include <memory>
#include <string>

#include <sys/types.h>

#include "events/journal/journal.h"
#include "events/sqlite/free_space.h"

namespace shiplog {

/// A journal file that becomes smaller after a trim.
struct JournalShrinking {
  sqlite::FileSpace space;     ///< what is left
  int64_t released_bytes = 0;  ///< so far
  bool done = false;
};

struct SqliteJournalOptions {
  /// Creates the file if it does not exist. Its directory must exist.
  bool create = true;
  /// Of a file that is created: the offset of its first record. For copies that keep the offsets of their source.
  Offset first_offset = {};
  /// Of a file that an older build has made: its records are compressed from now on, if no other process has it open.
  /// Older builds then refuse to open it.
  bool upgrade = false;
  /// How long an append or a trim waits for other processes that write to the same file; then kUnavailable.
  Millis busy_timeout{10'000};
  /// Appends fail with kUnavailable while this many bytes are waiting to be written.
  size_t max_waiting_bytes = 256 * 1024 * 1024;
  /// Called on the journal's thread after a process was killed that had been stopped (SIGSTOP) in the middle of a
  /// commit and thereby prevented all others from writing.
  std::function<void(pid_t process)> killed_frozen_writer = {};
  /// Called on the journal's thread when the "-head" file cannot be written any more. What was appended is on disk all
  /// the same.
  std::function<void(const Error&)> head_mark_failed = {};
  /// Called on the journal's thread when the file begins to become smaller, some times while it does, and at its end.
  std::function<void(const JournalShrinking&)> shrinking = {};
  /// The same, when it cannot; the next trim tries again.
  std::function<void(const Error&)> shrinking_failed = {};
};

/// The embedded journal: one SQLite file (with its "-wal" and "-shm" files), which any number of processes on one
/// machine may append to and tail concurrently. Every group of appends is one transaction, which is on disk (fsync)
/// before any of its entries is acknowledged or visible to a tail. Offsets start at 0, have no gaps and are never
/// reused. Every record has a checksum of the bytes that were appended, which is verified on each read; it is stored
/// compressed.
///
/// A damaged file still opens if its head is intact: tails deliver everything before the damage and then kCorrupt with
/// the offset. If the end of the file is damaged, or the file is shorter than what was acknowledged (as recorded in the
/// "-head" file), head() and appends fail with kCorrupt: continuing would hide the loss.
///
/// After a trim the file becomes smaller, in steps of some milliseconds between appends, until about an eighth of it is
/// free. A file that an older build has made keeps its size.
///
/// Threads: one that writes and calls `done`; one that watches for appends by other processes, from the first tail()
/// on. A journal must not be destroyed from one of its own acknowledgements. The destructor stores and acknowledges all
/// waiting entries.
///
/// Errors, each naming the file and the remedy: kIo, no such directory, no permission; kInvalid, the file belongs to
/// another program or has a newer format; kCorrupt, it is not a database or its first pages are unreadable.
Result<std::unique_ptr<Journal>> open_sqlite_journal(const std::string& path, SqliteJournalOptions options = {});

}  // namespace shiplog
