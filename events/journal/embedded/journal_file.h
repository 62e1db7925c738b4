#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "events/base/time.h"
#include "events/compression/compression.h"
#include "events/journal/journal.h"
#include "events/sqlite/connection.h"
#include "events/sqlite/free_space.h"

namespace shiplog::embedded {

/// The stored offsets: [oldest, next).
struct Bounds {
  int64_t oldest = 0;
  int64_t next = 0;
};

/// Creates the journal file if it does not exist and `create` is true. It appears complete under its name or not at
/// all, so an empty file is never a new journal but always a truncated one. Errors: kIo, kCorrupt: a message for the
/// operator.
/// `first`: the offset of its first record.
Result<void> prepare_file(const std::string& path, bool create, int64_t first = 0);

/// Makes a file of the first format one of the present format, in which records are compressed, if no connection of
/// this or another process has it open: a process of an older build that is running would take a compressed record for
/// a damaged one. Otherwise the file stays as it is, and so do the records that are appended to it. Error: kIo,
/// kCorrupt.
Result<void> upgrade_format(const std::string& path);

/// The identity of the file with this name: device and inode; nullopt: none.
using FileIdentity = std::optional<std::pair<uint64_t, uint64_t>>;
FileIdentity identity_of(const std::string& path);

/// Reads records and verifies them.
class FileReader {
 public:
  /// Errors: kInvalid, not a journal or of a newer format; kCorrupt; kIo.
  static Result<FileReader> open(const std::string& path, Millis busy_timeout);

  Result<Bounds> bounds();
  /// Whether the file is of the format in which records are compressed.
  bool compresses() const { return compresses_; }
  /// The records from `position` on, at most `max_records` and about 16 MiB of them; none when `position` is at or
  /// after the end. Errors: those of Tail::next for the record at `position` itself.
  Result<std::vector<JournalRecord>> read(int64_t position, size_t max_records);

 private:
  FileReader(std::string path, bool compresses, std::unique_ptr<sqlite::Connection> connection,
             sqlite::Statement bounds, sqlite::Statement records)
      : path_(std::move(path)),
        compresses_(compresses),
        connection_(std::move(connection)),
        bounds_(std::move(bounds)),
        records_(std::move(records)) {}
  Result<std::vector<JournalRecord>> read_in_transaction(int64_t position, size_t max_records);
  Error damaged(int64_t offset, const std::string& how) const;
  Result<std::string> original(int64_t offset, int64_t check, std::string_view stored);

  std::string path_;
  bool compresses_;
  Compressor compressor_;
  std::unique_ptr<sqlite::Connection> connection_;
  sqlite::Statement bounds_;
  sqlite::Statement records_;
};

/// Adds and deletes records. Threads: one at a time.
class FileWriter {
 public:
  static constexpr std::chrono::milliseconds kTrimTurn{10}, kReleaseTurn{4};
  /// With `compress`, which needs a file of the present format, records are stored compressed.
  /// While the writer waits for another process to finish writing, and that process is stopped, it is killed
  /// (FrozenWriter), and `killed` called.
  static Result<FileWriter> open(const std::string& path, bool compress, Millis busy_timeout,
                                 std::function<void(pid_t)> killed);

  /// Stores all entries in one transaction, in order, on disk when this returns. Returns the offset of the first; the
  /// others follow without gaps. Errors: kUnknownOutcome only if either all of them or none may be stored; with any
  /// other error none is. A crash of the process does not restore a failed commit. A loss of power may, if the log
  /// could not be synced after the commit was cut off. kCorrupt: the file was removed or replaced while this process
  /// had it open.
  Result<int64_t> store(const std::vector<std::string_view>& entries);

  /// Deletes records before `before`, for at most about `turn`. Returns true if more remain: call again.
  Result<bool> trim_some(int64_t before, std::chrono::milliseconds turn = kTrimTurn);

  /// How much of the file is in use.
  Result<sqlite::FileSpace> space();
  /// Gives free pages back to the file system until `keep` are free, for at most about kReleaseTurn. Records do not
  /// change: their pages move. Returns what is left.
  Result<sqlite::FileSpace> release_some(int64_t keep);
  /// Has the file on the disk become as small as its content.
  Result<void> shrink_file();

  /// Call this after the stored entries were acknowledged: may sync the file.
  void committed();

 private:
  FileWriter(std::string path, bool compress, std::unique_ptr<sqlite::Connection> connection,
             std::vector<sqlite::Statement> statements);
  Result<void> set_bounds(Bounds bounds);
  Error not_stored(Error error, int64_t next);
  Result<void> drop_failed_commit(int64_t next);
  Result<void> check_in_place();
  Result<void> insert(int64_t offset, std::string_view bytes);

  std::string path_;
  std::optional<Compressor> compressor_;  // nullopt: records are stored as they are
  FileIdentity file_, wal_;               // the files that were opened; nullopt: not known yet
  std::unique_ptr<sqlite::Connection> connection_;
  sqlite::Statement read_bounds_;
  sqlite::Statement set_bounds_;
  sqlite::Statement newest_;
  sqlite::Statement insert_;
  sqlite::Statement delete_;
};

}  // namespace shiplog::embedded
