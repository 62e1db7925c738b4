#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "events/base/result.h"

namespace shiplog::embedded {

/// Looks for damage that SQLite itself passes over: it ends the write-ahead log at the first frame that does not match
/// its checksum, as a crash leaves them, and so drops every commit after a spoilt byte without a word. A frame is
/// spoilt rather than half written when a commit after it was followed by a further frame: SQLite only goes on after
/// an fsync. To be called before SQLite opens the file; other processes may be writing.
/// The number of the spoilt frame, from 1 (0: the log's header), or nothing. Error: kIo.
/// Source: the "WAL file format" section of SQLite's file format document.
Result<std::optional<int64_t>> find_spoilt_frame(const std::string& wal_path);

/// Puts on disk what a killed process may have left with the operating system only: SQLite is about to recover it, and
/// a tail must not deliver what a power cut could take back. No such file is well. Error: kIo.
Result<void> sync_wal(const std::string& wal_path);

}  // namespace shiplog::embedded
