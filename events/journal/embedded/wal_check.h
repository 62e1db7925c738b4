#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "events/base/result.h"

namespace shiplog::embedded {

/// Detects damage that SQLite itself ignores: it ends the write-ahead log at the first frame whose checksum does not
/// match, as crashes leave them, and silently drops every commit after a corrupt byte. A frame is considered corrupt
/// rather than partly written if a commit after it is followed by another frame, because SQLite only continues after an
/// fsync. Call this before SQLite opens the file; other processes may be writing.
/// Returns the number of the corrupt frame, counted from 1 (0: the log's header), or nullopt. Error: kIo.
/// Source: the "WAL file format" section of SQLite's file format document.
Result<std::optional<int64_t>> find_corrupt_frame(const std::string& wal_path);

/// Syncs data that a killed process may have left only in the operating system's cache: SQLite is about to recover it,
/// and a tail must not deliver records that a power failure could undo. A missing file is not an error. Error: kIo.
Result<void> sync_wal(const std::string& wal_path);

}  // namespace shiplog::embedded
