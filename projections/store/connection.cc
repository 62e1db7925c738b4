#include "projections/store/connection.h"

#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <sqlite3.h>

#include "events/base/check.h"
#include "events/sqlite/wal_mover.h"

namespace shiplog::store {
namespace {

ErrorCode code_of(int sqlite_code) {
  switch (sqlite_code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorCode::kCorrupt;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorCode::kUnavailable;
    case SQLITE_IOERR:
    case SQLITE_FULL:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_NOLFS:
      return ErrorCode::kIo;
    default:
      return ErrorCode::kInternal;
  }
}

// How long a connection waits for another one's lock: only opening and recovery after a crash ever hold one for long.
constexpr int kBusyTimeoutMs = 10'000;
// How long the writer stands still for readers when the WAL is to start over.
constexpr int kShortenTimeoutMs = 100;
constexpr int kLongLogFrames = 1024;  // of 8 KiB

// Once for the file. Rows of 1.5 KB objects waste less of a page of 8 KB than of one of 4.
constexpr const char* kWriterPragmas =
    "PRAGMA page_size = 8192;"
    "PRAGMA journal_mode = WAL;"
    // Commits do not wait for the disk, checkpoints do: after a power cut the file is whole, though perhaps some
    // batches behind, and these are folded again from the journal. OFF could leave a damaged file that looks whole.
    "PRAGMA synchronous = NORMAL;"
    "PRAGMA wal_autocheckpoint = 0;"  // WalMover's
    "PRAGMA journal_size_limit = 67108864;"
    // Nearly all rows go to the ends of their tables: more than this only holds memory.
    "PRAGMA cache_size = -16384;"
    "PRAGMA temp_store = MEMORY;";
constexpr const char* kReaderPragmas =
    "PRAGMA query_only = ON;"
    "PRAGMA cache_size = -4096;"
    "PRAGMA temp_store = MEMORY;";

}  // namespace

struct Connection::Impl {
  std::string path;
  sqlite3* database = nullptr;
  std::map<std::string, std::vector<sqlite3_stmt*>, std::less<>> idle;
  std::optional<WalMover> mover;  // the writer's
  int64_t wal_tried_at = 0;       // its size when it last could not be started over

  Impl(std::string file, sqlite3* opened) : path{std::move(file)}, database{opened} {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    mover.reset();
    for (auto& [sql, statements] : idle) {
      for (sqlite3_stmt* statement : statements) sqlite3_finalize(statement);
    }
    sqlite3_close(database);
  }

  Error error(int code) const {
    const bool full = (code & 0xff) == SQLITE_FULL;
    return {code_of(code), "projection " + path + ": " +
                               (full ? "the disk is full: free some space, then start this process again; " : "") +
                               sqlite3_errmsg(database) + " (SQLite error " +
                               std::to_string(sqlite3_extended_errcode(database)) + ")"};
  }
};

struct Prepared {
  std::shared_ptr<Connection::Impl> owner;
  sqlite3_stmt* statement;
};

Statement::Statement(std::unique_ptr<Prepared> prepared) : prepared_{std::move(prepared)} {}
Statement::Statement(Statement&& other) noexcept = default;
Statement::~Statement() {
  if (!prepared_) return;
  sqlite3_reset(prepared_->statement);
  sqlite3_clear_bindings(prepared_->statement);
  prepared_->owner->idle[sqlite3_sql(prepared_->statement)].push_back(prepared_->statement);
}

void Statement::bind(int index, int64_t value) {
  SHIPLOG_CHECK(sqlite3_bind_int64(prepared_->statement, index, value) == SQLITE_OK, "the parameter exists");
}
void Statement::bind(int index, std::string_view text) {
  // SQLite takes a null pointer for NULL, and an empty view may have one.
  const char* data = text.data() == nullptr ? "" : text.data();
  const int code = sqlite3_bind_text64(prepared_->statement, index, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  SHIPLOG_CHECK(code == SQLITE_OK, "the parameter exists and the text is below SQLite's limit of 1 GB");
}
void Statement::bind_blob(int index, std::string_view bytes) {
  const char* data = bytes.data() == nullptr ? "" : bytes.data();
  const int code = sqlite3_bind_blob64(prepared_->statement, index, data, bytes.size(), SQLITE_STATIC);
  SHIPLOG_CHECK(code == SQLITE_OK, "the parameter exists and the bytes are below SQLite's limit of 1 GB");
}
void Statement::bind_null(int index) {
  SHIPLOG_CHECK(sqlite3_bind_null(prepared_->statement, index) == SQLITE_OK, "the parameter exists");
}

void Statement::bind(const char* name, int64_t value) {
  const int index = sqlite3_bind_parameter_index(prepared_->statement, name);
  if (index != 0) bind(index, value);
}
void Statement::bind(const char* name, std::string_view text) {
  const int index = sqlite3_bind_parameter_index(prepared_->statement, name);
  if (index != 0) bind(index, text);
}

Result<void> Statement::run() {
  int code = SQLITE_ROW;
  while (code == SQLITE_ROW) code = sqlite3_step(prepared_->statement);
  if (code != SQLITE_DONE) {
    Error failed = prepared_->owner->error(code);
    sqlite3_reset(prepared_->statement);
    return failed;
  }
  sqlite3_reset(prepared_->statement);
  return ok();
}

Result<bool> Statement::next() {
  const int code = sqlite3_step(prepared_->statement);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return prepared_->owner->error(code);
}

void Statement::reset() { sqlite3_reset(prepared_->statement); }

int64_t Statement::integer(int column) const { return sqlite3_column_int64(prepared_->statement, column); }
std::string_view Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(prepared_->statement, column));
  if (data == nullptr) return {};
  return {data, static_cast<size_t>(sqlite3_column_bytes(prepared_->statement, column))};
}
std::string_view Statement::blob(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(prepared_->statement, column));
  if (data == nullptr) return {};
  return {data, static_cast<size_t>(sqlite3_column_bytes(prepared_->statement, column))};
}
bool Statement::is_null(int column) const { return sqlite3_column_type(prepared_->statement, column) == SQLITE_NULL; }

Connection::Connection(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
Connection::~Connection() = default;

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path, Mode mode) {
  sqlite3* database = nullptr;
  // A reader too needs to write: the shared memory file of the WAL, and recovery when it comes first after a crash.
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                    (mode == Mode::kWrite ? SQLITE_OPEN_CREATE : 0);
  const int code = sqlite3_open_v2(path.c_str(), &database, flags, nullptr);
  std::unique_ptr<Connection> connection{new Connection{std::make_unique<Impl>(path, database)}};
  if (code != SQLITE_OK) return connection->impl_->error(code);
  sqlite3_busy_timeout(database, kBusyTimeoutMs);
  SHIPLOG_TRY(connection->execute(mode == Mode::kWrite ? kWriterPragmas : kReaderPragmas));
  if (mode == Mode::kWrite) connection->impl_->mover.emplace(database, path, kLongLogFrames);
  return connection;
}

Result<void> Connection::execute(const std::string& sql) {
  const int code = sqlite3_exec(impl_->database, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return impl_->error(code);
  return ok();
}

Result<void> Connection::repeat(std::string_view sql) {
  SHIPLOG_TRY(auto statement, prepare(sql));
  return statement.run();
}

Result<Statement> Connection::prepare(std::string_view sql) {
  if (const auto at = impl_->idle.find(sql); at != impl_->idle.end() && !at->second.empty()) {
    sqlite3_stmt* statement = at->second.back();
    at->second.pop_back();
    return Statement{std::make_unique<Prepared>(Prepared{impl_, statement})};
  }
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(impl_->database, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return impl_->error(code);
  return Statement{std::make_unique<Prepared>(Prepared{impl_, statement})};
}

int64_t Connection::changed() const { return sqlite3_changes64(impl_->database); }

void Connection::tend_wal(int64_t bytes) {
  impl_->mover->committed();
  std::error_code none;
  const auto size = std::filesystem::file_size(impl_->path + "-wal", none);
  if (none || static_cast<int64_t>(size) < bytes) {
    impl_->wal_tried_at = 0;
    return;
  }
  // A view that is held for long would otherwise make every batch wait.
  if (static_cast<int64_t>(size) < impl_->wal_tried_at + bytes / 4) return;
  impl_->wal_tried_at = static_cast<int64_t>(size);
  sqlite3_busy_timeout(impl_->database, kShortenTimeoutMs);
  // TRUNCATE, as the file's size is what tells whether it is needed. Failing is no error: the WAL is only long.
  sqlite3_wal_checkpoint_v2(impl_->database, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  sqlite3_busy_timeout(impl_->database, kBusyTimeoutMs);
}

const std::string& Connection::path() const { return impl_->path; }

Result<Transaction> Transaction::begin(Connection& connection) {
  SHIPLOG_TRY(connection.repeat("BEGIN IMMEDIATE"));
  return Transaction{&connection};
}
Transaction::Transaction(Transaction&& other) noexcept : connection_{std::exchange(other.connection_, nullptr)} {}
Transaction::~Transaction() {
  // Some errors have rolled it back already; then this fails, and nothing is lost by it.
  if (connection_ != nullptr) static_cast<void>(connection_->execute("ROLLBACK"));
}
Result<void> Transaction::commit() {
  SHIPLOG_TRY(connection_->repeat("COMMIT"));
  connection_ = nullptr;
  return ok();
}

}  // namespace shiplog::store
