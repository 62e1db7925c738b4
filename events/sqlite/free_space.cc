#include "events/sqlite/free_space.h"

#include <algorithm>
#include <string_view>

#include "events/sqlite/connection.h"

namespace shiplog::sqlite {
namespace {

constexpr int64_t kIncremental = 2;
constexpr int64_t kKeptPart = 8;     // one in so many of the pages in use
constexpr int64_t kLeastKept = 128;  // of a small file
// Some page moves between two looks at the clock; each takes some ten microseconds.
constexpr std::string_view kRelease = "PRAGMA incremental_vacuum(8)";

Result<int64_t> number(Connection& connection, std::string_view pragma) {
  SHIPLOG_TRY(auto row, connection.prepare(pragma));
  SHIPLOG_TRY(const bool found, row.next());
  return found ? row.integer(0) : 0;
}

}  // namespace

Result<FileSpace> space_of(Connection& connection) {
  FileSpace space;
  SHIPLOG_TRY(space.page_bytes, number(connection, "PRAGMA page_size"));
  SHIPLOG_TRY(space.pages, number(connection, "PRAGMA page_count"));
  SHIPLOG_TRY(space.free, number(connection, "PRAGMA freelist_count"));
  SHIPLOG_TRY(const int64_t mode, number(connection, "PRAGMA auto_vacuum"));
  space.shrinks = mode == kIncremental;
  return space;
}

int64_t pages_to_keep(const FileSpace& space) { return std::max(kLeastKept, (space.pages - space.free) / kKeptPart); }

bool has_surplus(const FileSpace& space) { return space.free >= 2 * pages_to_keep(space); }

Result<void> release_pages(Connection& connection, int64_t keep, std::chrono::microseconds turn) {
  const auto until = std::chrono::steady_clock::now() + turn;
  do {
    SHIPLOG_TRY(const int64_t free, number(connection, "PRAGMA freelist_count"));
    if (free <= keep) break;
    SHIPLOG_TRY(connection.repeat(kRelease));
  } while (std::chrono::steady_clock::now() < until);
  return ok();
}

Result<void> move_wal(Connection& connection) {
  SHIPLOG_TRY(auto row, connection.prepare("PRAGMA wal_checkpoint(PASSIVE)"));
  SHIPLOG_TRY(const bool answered, row.next());
  const bool busy = !answered || row.integer(0) != 0;
  if (!busy && row.integer(1) == row.integer(2)) return ok();  // frames, and those of them that were moved
  return Error{ErrorCode::kUnavailable, connection.path() + ": a part of the write-ahead log is still in use"};
}

}  // namespace shiplog::sqlite
