#pragma once

#include <functional>
#include <memory>
#include <string>

#include <sys/types.h>

#include "events/journal/journal.h"

namespace shiplog {

struct SqliteJournalOptions {
  /// Makes the file when there is none. Its directory must exist.
  bool create = true;
  /// How long an append or a trim waits for other processes that write to the same file; then kUnavailable.
  Millis busy_timeout{10'000};
  /// Appends are refused with kUnavailable while so many bytes wait to be written.
  size_t max_waiting_bytes = 256 * 1024 * 1024;
  /// Called, on the journal's thread, when a process had to be killed that was stopped (SIGSTOP) in the middle of a
  /// commit and so kept all others from writing.
  std::function<void(pid_t process)> killed_frozen_writer = {};
};

/// The embedded journal: one SQLite file (with its "-wal" and "-shm" beside it), which any number of processes of one
/// machine may append to and tail at the same time. Every group of appends is one transaction, on disk (fsync) before
/// any of it is acknowledged or seen by a tail. Offsets start at 0 and have no gaps; they are never used again.
/// Every record has a checksum, which is verified when it is read.
///
/// A damaged file still opens as long as its head is intact: tails deliver all before the damage and then kCorrupt
/// with the offset. When the end of the file is damaged, or the file is shorter than what was acknowledged (a mark
/// beside it, "-head", remembers), head() and appends are refused with kCorrupt: going on would hide the loss.
///
/// Threads: one that writes and calls `done`; one that watches for appends of other processes, from the first tail()
/// on. Not to be destroyed from one of its own acknowledgements; the destructor stores and acknowledges what waits.
///
/// Errors, all naming the file and what to do: kIo, no such directory, no permission; kInvalid, the file is somebody
/// else's or of a newer format; kCorrupt, it is no database at all or its first pages are unreadable.
Result<std::unique_ptr<Journal>> open_sqlite_journal(const std::string& path, SqliteJournalOptions options = {});

}  // namespace shiplog
