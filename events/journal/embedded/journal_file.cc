#include "events/journal/embedded/journal_file.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "events/base/crc32c.h"
#include "events/journal/embedded/frozen_writer.h"
#include "events/journal/limits.h"

namespace shiplog::embedded {
namespace {

constexpr int64_t kApplicationId = 0x53484C4A;  // "SHLJ"
// A change of the tables below is a new format, and so is one of what they contain: in the first, no record is
// compressed.
constexpr int64_t kFirstFormat = 1, kFormat = 2;

// `entry` contains the records, `bounds` a single row: it distinguishes a lost record from one that was never stored,
// and continues the offsets after everything was trimmed. Every row is checked by crc32c: that of a record as it was
// appended. The bits of the column above it are the number of the dictionary that the record is compressed with; 0: it
// is stored as it is. The crc precedes the bytes, on the row's first page.
constexpr const char* kTables =
    "CREATE TABLE bounds(id INTEGER PRIMARY KEY CHECK(id = 0), oldest INTEGER NOT NULL, next INTEGER NOT NULL, "
    "  crc INTEGER NOT NULL) STRICT;"
    "CREATE TABLE entry(offset INTEGER PRIMARY KEY, crc INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT;";

constexpr const char* kReadBounds = "SELECT oldest, next, crc FROM bounds WHERE id = 0";
constexpr const char* kSetBounds =
    "INSERT INTO bounds(id, oldest, next, crc) VALUES(0, ?1, ?2, ?3) "
    "ON CONFLICT(id) DO UPDATE SET oldest = ?1, next = ?2, crc = ?3";

constexpr int kLongWalFrames = 1024;  // of 4 KiB

constexpr sqlite::Connection::Settings kJournal = {
    .kind = "journal",
    .when_damaged = "name another file, or restore this one from a backup",
    .fixed_statements = true};

Result<std::unique_ptr<sqlite::Connection>> open_reader(const std::string& path, Millis busy_timeout) {
  sqlite::Connection::Settings settings = kJournal;
  settings.busy_timeout = busy_timeout;
  // With a writable schema SQLite opens a file that is shorter than its header states; query_only keeps it a reader.
  settings.pragmas = "PRAGMA writable_schema=ON; PRAGMA query_only=ON; PRAGMA cell_size_check=ON";
  // Closing a damaged journal must not move its write-ahead log, the evidence, into the file.
  settings.checkpoint_on_close = false;
  return sqlite::Connection::open(path, settings);
}

Result<std::unique_ptr<sqlite::Connection>> open_writer(const std::string& path, Millis busy_timeout,
                                                        std::function<void(pid_t)> killed) {
  sqlite::Connection::Settings settings = kJournal;
  settings.busy_timeout = busy_timeout;
  // secure_delete is some distributions' default and would overwrite all that a trim frees.
  settings.pragmas = "PRAGMA synchronous=FULL; PRAGMA secure_delete=OFF; PRAGMA cell_size_check=ON";
  settings.move_wal_frames = kLongWalFrames;
  SHIPLOG_TRY(auto connection, sqlite::Connection::open(path, settings));
  connection->on_busy([frozen = std::make_shared<FrozenWriter>(path, std::move(killed))](
                          std::chrono::milliseconds waited) { frozen->look(waited); });
  return connection;
}

/// The first column of the first row; 0 when there is none.
Result<int64_t> number(sqlite::Connection& connection, std::string_view sql) {
  SHIPLOG_TRY(auto statement, connection.prepare(sql));
  SHIPLOG_TRY(const bool found, statement.next());
  return found ? statement.integer(0) : 0;
}

constexpr size_t kMaxReadBytes = 16 * 1024 * 1024;

void put_number(std::string& bytes, int64_t number) {
  for (int shift = 0; shift < 64; shift += 8) {
    bytes.push_back(static_cast<char>((static_cast<uint64_t>(number) >> shift) & 0xFF));
  }
}

// The checksum includes the offset, so that a record under a wrong offset is detected.
uint32_t checksum(int64_t offset, std::string_view bytes) {
  std::string number;
  put_number(number, offset);
  return crc32c(bytes, crc32c(number));
}

uint32_t checksum(Bounds bounds) {
  std::string numbers;
  put_number(numbers, bounds.oldest);
  put_number(numbers, bounds.next);
  return crc32c(numbers);
}

std::string parent_of(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

constexpr int kChecksumBits = 32;
constexpr int64_t kChecksumMask = (int64_t{1} << kChecksumBits) - 1;
constexpr int64_t kDictionariesAtMost = 1024;  // a larger number is a damaged one

Error refused(const std::string& path, const std::string& problem, int system, const std::string& advice) {
  return {ErrorCode::kIo, "journal " + path + ": " + problem + ": " + std::strerror(system) + "; " + advice};
}

Result<Bounds> read_bounds(sqlite::Statement& statement, const std::string& path) {
  SHIPLOG_TRY(const bool found, statement.next());
  if (found) {
    const Bounds bounds{statement.integer(0), statement.integer(1)};
    const int64_t crc = statement.integer(2);
    statement.reset();
    if (crc == checksum(bounds)) return bounds;
  }
  return Error{ErrorCode::kCorrupt, "journal " + path +
                                        ": the row with the range of its offsets is damaged; restore the file from "
                                        "a backup"};
}

// So that a crash of the machine cannot undo the rename.
Result<void> sync_directory(const std::string& path) {
  const std::string directory = parent_of(path);
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int synced = fd < 0 ? -1 : ::fsync(fd);
  const int system = errno;
  if (fd >= 0) ::close(fd);
  if (synced != 0) return refused(path, "directory " + directory + " cannot be synced", system, "check the disk");
  return ok();
}

Result<void> build(const std::string& path, int64_t first) {
  sqlite::Connection::Settings settings = kJournal;
  settings.busy_timeout = Millis{0};
  SHIPLOG_TRY(const auto connection, sqlite::Connection::open(path, settings));
  SHIPLOG_TRY(connection->execute("PRAGMA page_size=4096; " + std::string{sqlite::kCanShrink} +
                                  "PRAGMA application_id=" + std::to_string(kApplicationId) +
                                  "; PRAGMA user_version=" + std::to_string(kFormat) + ";"));
  SHIPLOG_TRY(connection->execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL"));
  SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(*connection));
  SHIPLOG_TRY(connection->execute(kTables));
  SHIPLOG_TRY(auto set, connection->prepare(kSetBounds));
  SHIPLOG_TRY(set.run(first, first, int64_t{checksum(Bounds{first, first})}));
  return transaction.commit();
}

Result<void> create_file(const std::string& path, int64_t first) {
  const std::string directory = parent_of(path);
  std::string draft = path + ".new-XXXXXX";
  const int fd = ::mkstemp(draft.data());
  if (fd < 0) {
    const int system = errno;
    if (system == ENOENT || system == ENOTDIR) {
      return refused(path, "directory " + directory + " does not exist", system, "create it, or name another file");
    }
    return refused(path, "no file can be made in directory " + directory, system,
                   "give this user write permission there, or name another file");
  }
  ::close(fd);
  auto built = build(draft, first);
  if (built && ::link(draft.c_str(), path.c_str()) != 0 && errno != EEXIST) {  // EEXIST: another process was first
    built = refused(path, "the new file cannot be renamed", errno, "name a file on another file system");
  }
  ::unlink(draft.c_str());
  SHIPLOG_TRY(built);
  return sync_directory(path);
}

}  // namespace

// Asks for the inode only. After stat() Linux 6.13 and later give the file a new time at the next write, and fdatasync
// then writes the inode, too: half as long again for each append.
FileIdentity identity_of(const std::string& path) {
  struct statx status = {};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_INO, &status) != 0) return std::nullopt;
  return std::pair<uint64_t, uint64_t>{::makedev(status.stx_dev_major, status.stx_dev_minor), status.stx_ino};
}

Result<void> prepare_file(const std::string& path, bool create, int64_t first) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) {
    const int system = errno;
    if (system == ENOENT && create) return create_file(path, first);
    return refused(path, "it cannot be opened", system,
                   system == ENOENT ? "check the name" : "give this user permission to read and write it");
  }
  if (!S_ISREG(status.st_mode)) return Error{ErrorCode::kIo, "journal " + path + ": not a file; name one"};
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK, AT_EACCESS) != 0) {
    return refused(path, "it cannot be read and written", errno, "give this user permission for both");
  }
  const std::string directory = parent_of(path);
  if (::faccessat(AT_FDCWD, directory.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
    return refused(path, "its directory " + directory + " cannot be written", errno,
                   "give this user write permission there: the journal consists of two more files");
  }
  if (status.st_size == 0) {
    return Error{ErrorCode::kCorrupt, "journal " + path +
                                          ": the file is empty, which a journal never is; all records from offset 0 "
                                          "on are lost: restore it from a backup, or delete it to start anew"};
  }
  return ok();
}

Result<void> upgrade_format(const std::string& path) {
  sqlite::Connection::Settings settings = kJournal;
  settings.busy_timeout = Millis{0};
  // In this mode a connection is alone, or is refused.
  settings.pragmas = "PRAGMA locking_mode=EXCLUSIVE; PRAGMA synchronous=FULL";
  const auto upgraded = [&]() -> Result<void> {
    SHIPLOG_TRY(const auto connection, sqlite::Connection::open(path, settings));
    SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(*connection));
    SHIPLOG_TRY(connection->execute("PRAGMA user_version=" + std::to_string(kFormat)));
    return transaction.commit();
  }();
  const bool in_use = !upgraded && upgraded.error().code == ErrorCode::kUnavailable;
  return in_use ? ok() : upgraded;
}

Result<FileReader> FileReader::open(const std::string& path, Millis busy_timeout) {
  SHIPLOG_TRY(auto connection, open_reader(path, busy_timeout));
  SHIPLOG_TRY(const int64_t application, number(*connection, "PRAGMA application_id"));
  SHIPLOG_TRY(const int64_t format, number(*connection, "PRAGMA user_version"));
  if (application != kApplicationId) {
    return Error{ErrorCode::kInvalid, "journal " + path +
                                          ": this is a SQLite file of another program (application id " +
                                          std::to_string(application) + "), left as it is; name another file"};
  }
  if (format != kFirstFormat && format != kFormat) {
    return Error{ErrorCode::kInvalid, "journal " + path + ": its format is " + std::to_string(format) +
                                          ", this program reads formats " + std::to_string(kFirstFormat) + " and " +
                                          std::to_string(kFormat) +
                                          "; use the version of shiplog that wrote it, or a later one"};
  }
  SHIPLOG_TRY(auto bounds, connection->prepare(kReadBounds));
  SHIPLOG_TRY(auto records,
              connection->prepare("SELECT offset, crc, bytes FROM entry WHERE offset >= ?1 ORDER BY offset "
                                  "LIMIT ?2"));
  FileReader reader(path, format == kFormat, std::move(connection), std::move(bounds), std::move(records));
  SHIPLOG_TRY(reader.bounds());
  return reader;
}

Result<Bounds> FileReader::bounds() { return read_bounds(bounds_, path_); }

Error FileReader::damaged(int64_t offset, const std::string& how) const {
  return {ErrorCode::kCorrupt, "journal " + path_ + ": the record at offset " + std::to_string(offset) + " " + how +
                                   "; all before it is readable: restore the file from a backup"};
}

Result<std::vector<JournalRecord>> FileReader::read(int64_t position, size_t max_records) {
  // One transaction, so that records and bounds are consistent: otherwise a concurrent append would look like a loss.
  SHIPLOG_TRY(const auto transaction, sqlite::Transaction::begin_reading(*connection_));
  return read_in_transaction(position, max_records);
}

Result<std::vector<JournalRecord>> FileReader::read_in_transaction(int64_t position, size_t max_records) {
  std::vector<JournalRecord> records;
  SHIPLOG_TRY(const Bounds bounds, this->bounds());
  if (position < bounds.oldest) return gone(path_, Offset{position}, Offset{bounds.oldest});
  size_t read_bytes = 0;
  std::optional<Error> problem;
  records_.bind(1, position);
  records_.bind(2, static_cast<int64_t>(max_records));
  for (int64_t wanted = position; read_bytes < kMaxReadBytes && records.size() < max_records; ++wanted) {
    const auto found = records_.next();
    if (!found && found.error().code == ErrorCode::kCorrupt) {
      problem = damaged(wanted, "cannot be read (" + found.error().message + ")");
      break;
    }
    if (!found) {
      problem = found.error();
      break;
    }
    if (!found.value() || records_.integer(0) != wanted) {
      if (wanted < bounds.next) problem = damaged(wanted, "is missing");
      break;
    }
    auto bytes = original(wanted, records_.integer(1), records_.blob(2));
    if (!bytes) {
      problem = std::move(bytes).error();
      break;
    }
    read_bytes += bytes.value().size();
    records.push_back({Offset{wanted}, std::move(bytes).value()});
  }
  records_.reset();
  if (records.empty() && problem) return *problem;  // otherwise the next read reports it
  return records;
}

// The record as it was appended.
Result<std::string> FileReader::original(int64_t offset, int64_t check, std::string_view stored) {
  std::string_view bytes = stored;
  const int64_t dictionary = check >> kChecksumBits;
  if (dictionary > kNewestDictionary && dictionary < kDictionariesAtMost) {
    // The checksum may be right; this program cannot know. A later build can.
    return Error{ErrorCode::kCorrupt, "journal " + path_ + ": the record at offset " + std::to_string(offset) +
                                          " is compressed with dictionary " + std::to_string(dictionary) +
                                          ", which this program does not have: use the version of shiplog that wrote "
                                          "it, or a later one; if that cannot read it either, the record is damaged"};
  }
  if (dictionary != 0) {
    const auto decompressed = compressor_.decompress(stored, static_cast<uint32_t>(dictionary), kMaxEntryBytes);
    if (!decompressed) return damaged(offset, "is damaged: " + decompressed.error().message);
    bytes = decompressed.value();
  }
  if ((check & kChecksumMask) != checksum(offset, bytes)) return damaged(offset, "does not match its checksum");
  return std::string{bytes};
}

Result<FileWriter> FileWriter::open(const std::string& path, bool compress, Millis busy_timeout,
                                    std::function<void(pid_t)> killed) {
  SHIPLOG_TRY(auto connection, open_writer(path, busy_timeout, std::move(killed)));
  std::vector<sqlite::Statement> statements;
  for (const char* sql :
       {kReadBounds, kSetBounds, "SELECT coalesce(max(offset), -1) FROM entry",
        "INSERT INTO entry(offset, crc, bytes) VALUES(?1, ?2, ?3)",
        // A few at a time: each may have 4 MiB, and appends wait meanwhile.
        "DELETE FROM entry WHERE offset < min(?1, (SELECT min(offset) FROM entry) + 16) RETURNING 1"}) {
    SHIPLOG_TRY(auto statement, connection->prepare(sql));
    statements.push_back(std::move(statement));
  }
  return FileWriter(path, compress, std::move(connection), std::move(statements));
}

FileWriter::FileWriter(std::string path, bool compress, std::unique_ptr<sqlite::Connection> connection,
                       std::vector<sqlite::Statement> statements)
    : path_(std::move(path)),
      compressor_(compress ? std::optional<Compressor>{Compressor{}} : std::nullopt),
      file_(identity_of(path_)),
      connection_(std::move(connection)),
      read_bounds_(std::move(statements[0])),
      set_bounds_(std::move(statements[1])),
      newest_(std::move(statements[2])),
      insert_(std::move(statements[3])),
      delete_(std::move(statements[4])) {}

Result<void> FileWriter::set_bounds(Bounds bounds) {
  return set_bounds_.run(bounds.oldest, bounds.next, int64_t{checksum(bounds)});
}

// Some or all frames of the failed commit may be in the write-ahead log. They must not stay: a recovery after a crash
// would take them for a commit if they are complete, and a later append that fails can complete them.
Error FileWriter::not_stored(Error error, int64_t next) {
  if (const auto dropped = drop_failed_commit(next); !dropped) {
    return {ErrorCode::kUnknownOutcome,
            std::move(error.message) + "; it may or may not be stored: " + dropped.error().message};
  }
  error.message += "; nothing was stored: check the disk";
  return error;
}

Result<void> FileWriter::drop_failed_commit(int64_t next) {
  SHIPLOG_TRY(const auto transaction, sqlite::Transaction::begin(*connection_));
  SHIPLOG_TRY(const Bounds bounds, read_bounds(read_bounds_, path_));
  // Another process has appended since, over the failed commit or, if it has recovered the file, behind it.
  if (bounds.next != next) return Error{ErrorCode::kUnavailable, "journal " + path_ + ": it has another end by now"};
  if (!connection_->drop_failed_commit()) {
    return Error{ErrorCode::kIo, "journal " + path_ + "-wal: what the failed commit has left there cannot be removed"};
  }
  return ok();
}

// Checked while holding the write lock, before anything is written: data written to an unlinked file is lost.
Result<void> FileWriter::check_in_place() {
  const std::string wal = path_ + "-wal";
  if (!wal_) wal_ = identity_of(wal);
  for (const auto& [path, opened] : {std::pair{path_, file_}, std::pair{wal, wal_}}) {
    const auto now = identity_of(path);
    if (now == opened) continue;
    return Error{ErrorCode::kCorrupt,
                 "journal " + path_ + ": " + path + " was " + (now ? "replaced" : "removed") +
                     " while this process was writing to it, so nothing more is stored. Before this process ends, its "
                     "content can be copied from /proc/" +
                     std::to_string(::getpid()) + "/fd; then restore the journal from that copy or from a backup"};
  }
  return ok();
}

// In a transaction. What is compressed is read again before it is stored: of a record that does not come back there
// would be no other copy.
Result<void> FileWriter::insert(int64_t offset, std::string_view bytes) {
  int64_t check = checksum(offset, bytes);
  std::string_view stored = bytes;
  if (const auto packed = compressor_ ? compressor_->compress(bytes) : std::nullopt) {
    const auto back = compressor_->decompress(*packed, kNewestDictionary, kMaxEntryBytes);
    if (back && back.value() == bytes) {
      stored = *packed;
      check |= int64_t{kNewestDictionary} << kChecksumBits;
    }
  }
  insert_.bind(1, offset);
  insert_.bind(2, check);
  insert_.bind_blob(3, stored);
  return insert_.run();
}

Result<int64_t> FileWriter::store(const std::vector<std::string_view>& entries) {
  SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(*connection_));
  SHIPLOG_TRY(const Bounds bounds, read_bounds(read_bounds_, path_));
  SHIPLOG_TRY(check_in_place());
  SHIPLOG_TRY(newest_.next());
  const int64_t newest = newest_.integer(0);
  newest_.reset();
  // Appending after a gap would hide it. Records before `oldest` are leftovers of an interrupted trim.
  if (newest >= bounds.next || (newest < bounds.next - 1 && bounds.oldest < bounds.next)) {
    return Error{ErrorCode::kCorrupt, "journal " + path_ + ": its newest record should be at offset " +
                                          std::to_string(bounds.next - 1) + " but is at " + std::to_string(newest) +
                                          "; nothing is appended to a damaged journal: restore it from a backup"};
  }
  int64_t offset = bounds.next;
  for (const std::string_view bytes : entries) {
    SHIPLOG_TRY(insert(offset, bytes));
    ++offset;
  }
  SHIPLOG_TRY(set_bounds({bounds.oldest, offset}));
  if (const auto committed = transaction.commit(); !committed) {
    transaction.roll_back();
    return not_stored(committed.error(), bounds.next);
  }
  return bounds.next;
}

Result<bool> FileWriter::trim_some(int64_t before, std::chrono::milliseconds turn) {
  SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(*connection_));
  SHIPLOG_TRY(Bounds bounds, read_bounds(read_bounds_, path_));
  // The bound moves in the first step; the records are deleted in this and further steps. After an interruption the
  // remaining records are never read, and the next trim deletes them.
  bounds.oldest = std::max(bounds.oldest, std::min(before, bounds.next));
  SHIPLOG_TRY(set_bounds(bounds));
  const auto until = std::chrono::steady_clock::now() + turn;
  bool more = true;
  while (more && std::chrono::steady_clock::now() < until) {
    delete_.bind(1, bounds.oldest);
    SHIPLOG_TRY(more, delete_.next());
    delete_.reset();
  }
  SHIPLOG_TRY(transaction.commit());
  return more;
}

Result<sqlite::FileSpace> FileWriter::space() { return sqlite::space_of(*connection_); }

Result<sqlite::FileSpace> FileWriter::release_some(int64_t keep) {
  {
    SHIPLOG_TRY(auto transaction, sqlite::Transaction::begin(*connection_));
    SHIPLOG_TRY(check_in_place());
    SHIPLOG_TRY(sqlite::release_pages(*connection_, keep, kReleaseTurn));
    SHIPLOG_TRY(transaction.commit());
  }
  connection_->committed();
  return space();
}

Result<void> FileWriter::shrink_file() { return sqlite::move_wal(*connection_); }

void FileWriter::committed() { connection_->committed(); }

}  // namespace shiplog::embedded
