#include "events/sqlite/uncommitted_frames.h"

#include <cstddef>
#include <cstdint>

#include <sqlite3.h>

namespace shiplog {
namespace {

constexpr int kRegionBytes = 32 * 1024;
constexpr uint32_t kIndexVersion = 3'007'000;
constexpr int64_t kHeaderBytes = 32, kFrameHeaderBytes = 24;

/// The beginning of the WAL-index, in memory that all processes share. Its numbers have the byte order of the machine.
struct IndexHeader {
  uint32_t version;
  uint32_t unused;
  uint32_t changes;
  uint8_t initialized;
  uint8_t big_endian_checksums;
  uint16_t page_bytes;  // 1: 65,536
  uint32_t last_frame;  // of the last commit; 0: the log is empty, whatever its file has
};
static_assert(offsetof(IndexHeader, page_bytes) == 14 && offsetof(IndexHeader, last_frame) == 16);

/// Bytes of the log up to the end of the last commit; negative: not known.
int64_t committed_bytes(sqlite3_file* file) {
  void volatile* region = nullptr;
  if (file->pMethods->iVersion < 2) return -1;
  if (file->pMethods->xShmMap(file, 0, kRegionBytes, 0, &region) != SQLITE_OK || region == nullptr) return -1;
  const auto* header = static_cast<const volatile IndexHeader*>(region);
  if (header->version != kIndexVersion || header->initialized == 0) return -1;
  const int64_t frames = header->last_frame;
  const int64_t page_bytes = header->page_bytes == 1 ? 65'536 : header->page_bytes;
  return frames == 0 ? 0 : kHeaderBytes + frames * (kFrameHeaderBytes + page_bytes);
}

sqlite3_file* opened(sqlite3* database, int which) {
  sqlite3_file* file = nullptr;
  if (sqlite3_file_control(database, "main", which, static_cast<void*>(&file)) != SQLITE_OK) return nullptr;
  return file == nullptr || file->pMethods == nullptr ? nullptr : file;
}

}  // namespace

bool cut_uncommitted_frames(sqlite3* database) {
  sqlite3_file* file = opened(database, SQLITE_FCNTL_FILE_POINTER);
  sqlite3_file* wal = opened(database, SQLITE_FCNTL_JOURNAL_POINTER);
  if (file == nullptr || wal == nullptr) return false;
  const int64_t committed = committed_bytes(file);
  sqlite3_int64 size = 0;
  if (committed < 0 || wal->pMethods->xFileSize(wal, &size) != SQLITE_OK) return false;
  if (size > committed && wal->pMethods->xTruncate(wal, committed) != SQLITE_OK) return false;
  wal->pMethods->xSync(wal, SQLITE_SYNC_NORMAL);
  return true;
}

}  // namespace shiplog
