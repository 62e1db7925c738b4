#pragma once

struct sqlite3;

namespace shiplog {

/// Truncates the write-ahead log of a SQLite file after its last commit, and syncs it. A commit that failed leaves
/// frames there. A recovery after a crash would take them for a commit if they are complete, and a later commit that
/// fails can complete them. Call this in a write transaction that has not written anything. Returns false if the log
/// could not be truncated. An error of the sync is ignored: a recovery after a crash of the process finds nothing of
/// the failed commit even so; after a loss of power it may. Source: the sections "WAL file format" and "WAL-index
/// format" of SQLite's documents.
bool cut_uncommitted_frames(sqlite3* database);

}  // namespace shiplog
