#pragma once

struct sqlite3;

namespace shiplog {

/// Cuts off what a SQLite file's write-ahead log has behind its last commit, and syncs it. A commit that failed leaves
/// its frames there: whole, a recovery after a crash takes them for a commit; a later one that fails too may make them
/// so, as the checksum of a frame covers only what is before it. To be called in a write transaction that has written
/// nothing. Returns whether it is cut off. Synced or not, a recovery after the end of a process finds nothing of it;
/// after a loss of power only if the sync succeeded.
/// Source: the sections "WAL file format" and "WAL-index format" of SQLite's documents.
bool cut_uncommitted_frames(sqlite3* database);

}  // namespace shiplog
