#pragma once

#include <chrono>
#include <cstdint>

#include "events/base/result.h"

namespace shiplog::sqlite {

class Connection;

/// How the pages of a file are used.
struct FileSpace {
  int64_t page_bytes = 0;
  int64_t pages = 0;
  int64_t free = 0;      ///< of them, without content: the next ones that are written use them
  bool shrinks = false;  ///< the file was made with auto_vacuum=INCREMENTAL
  int64_t bytes() const { return pages * page_bytes; }
  int64_t free_bytes() const { return free * page_bytes; }
  bool operator==(const FileSpace&) const = default;
};

/// To be run before the first table of a file is made: otherwise only a copy (VACUUM) of it can become smaller. After
/// the page size was set, which cannot be changed any more then.
inline constexpr const char* kCanShrink = "PRAGMA auto_vacuum = INCREMENTAL;";

Result<FileSpace> space_of(Connection& connection);

/// How many free pages a file keeps for what is written next, when others are given back to the file system: an eighth
/// of those in use. Pure.
int64_t pages_to_keep(const FileSpace& space);
/// Whether giving the others back is worthwhile: twice as many are free, so that a file of a steady size is left alone.
/// Pure.
bool has_surplus(const FileSpace& space);

/// Gives free pages back for about `turn`, in one transaction, until `keep` are free: pages in use move from the end of
/// the file into free ones. The file itself becomes smaller when the write-ahead log is moved into it. In a transaction
/// that the caller has begun, and commits.
Result<void> release_pages(Connection& connection, int64_t keep, std::chrono::microseconds turn);

/// Moves the write-ahead log into the file. Writers do not wait, if it is called on a connection of its own. Error:
/// kUnavailable, a part remains, as a reader needs it or another connection is moving it: try again.
Result<void> move_wal(Connection& connection);

}  // namespace shiplog::sqlite
