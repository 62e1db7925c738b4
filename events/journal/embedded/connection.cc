#include "events/journal/embedded/connection.h"

#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include <sqlite3.h>

#include "events/journal/embedded/frozen_writer.h"
#include "events/sqlite/wal_mover.h"

namespace shiplog::embedded {

constexpr int kLongLogFrames = 1024;  // of 4 KiB

struct Handle {
  ~Handle() {
    mover.reset();
    sqlite3_close_v2(db);
  }

  sqlite3* db = nullptr;
  std::string path;
  std::chrono::milliseconds busy_timeout{0};
  std::chrono::steady_clock::time_point busy_since;
  std::optional<WalMover> mover;
  std::optional<FrozenWriter> frozen;
};

namespace {

Error failure(const Handle& handle) {
  const int code = sqlite3_extended_errcode(handle.db);
  std::string reason = std::string(sqlite3_errmsg(handle.db)) + " (SQLite code " + std::to_string(code) + ")";
  const int system = sqlite3_system_errno(handle.db);
  const std::string prefix = "journal " + handle.path + ": ";
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return {ErrorCode::kIo, prefix + "the disk is full: free some space; " + reason};
    case SQLITE_CORRUPT:
      return {ErrorCode::kCorrupt, prefix + "the file is damaged: " + reason};
    case SQLITE_NOTADB:
      return {ErrorCode::kCorrupt, prefix +
                                       "this is not a SQLite file, or its first bytes are damaged: name another "
                                       "file, or restore this one from a backup"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::kUnavailable, prefix + "other processes kept it locked for " +
                                           std::to_string(handle.busy_timeout.count()) + " ms; try again"};
    case SQLITE_NOMEM:
      return {ErrorCode::kUnavailable, prefix + "there is not enough memory"};
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      if (system != 0) reason += std::string(": ") + std::strerror(system);
      return {ErrorCode::kIo, prefix + "the operating system refused: " + reason};
    case SQLITE_ERROR:  // the statements are always the same, so it is the tables that are not
    case SQLITE_SCHEMA:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
      return {ErrorCode::kCorrupt, prefix + "its tables are not those of a journal, so the file is damaged: " + reason};
    default:
      return {ErrorCode::kInternal, prefix + reason};
  }
}

// SQLite's own handler soon sleeps 100 ms at a time, in which a busy neighbour commits some thirty times.
int wait_while_busy(void* user, int count) {
  auto& handle = *static_cast<Handle*>(user);
  const auto now = std::chrono::steady_clock::now();
  if (count == 0) handle.busy_since = now;
  const auto waited = now - handle.busy_since;
  if (waited >= handle.busy_timeout) return 0;
  if (handle.frozen) handle.frozen->look(std::chrono::duration_cast<std::chrono::milliseconds>(waited));
  std::this_thread::sleep_for(std::chrono::microseconds(count < 200 ? 200 : 1000));
  return 1;
}

}  // namespace

Statement::Statement(std::shared_ptr<Handle> handle, sqlite3_stmt* statement)
    : handle_(std::move(handle)), statement_(statement) {}
Statement::~Statement() = default;

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::bind(int index, int64_t value) { sqlite3_bind_int64(statement_.get(), index, value); }

void Statement::bind(int index, std::string_view blob) {
  // A null pointer would bind NULL, not an empty blob.
  const char* data = blob.empty() ? "" : blob.data();
  sqlite3_bind_blob64(statement_.get(), index, data, blob.size(), SQLITE_STATIC);
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) {
    reset();
    return false;
  }
  Error error = failure(*handle_);
  reset();
  return error;
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }

std::string_view Statement::blob(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr ? std::string_view()
                         : std::string_view(static_cast<const char*>(data), static_cast<size_t>(size));
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

Result<Connection> Connection::open(const std::string& path, Purpose purpose, Millis busy_timeout) {
  auto handle = std::make_shared<Handle>();
  handle->path = path;
  handle->busy_timeout = std::chrono::milliseconds(busy_timeout.value);
  const int opened = sqlite3_open_v2(path.c_str(), &handle->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
  if (opened != SQLITE_OK) return failure(*handle);
  sqlite3_extended_result_codes(handle->db, 1);
  sqlite3_busy_handler(handle->db, wait_while_busy, handle.get());
  sqlite3_wal_autocheckpoint(handle->db, 0);  // see committed()

  Connection connection(std::move(handle));
  if (purpose == Purpose::kWrite) {
    // secure_delete is some distributions' default and would overwrite all that a trim frees.
    SHIPLOG_TRY(connection.run("PRAGMA synchronous=FULL; PRAGMA secure_delete=OFF; PRAGMA cell_size_check=ON"));
    connection.handle_->mover.emplace(connection.handle_->db, path, kLongLogFrames);
  }
  if (purpose == Purpose::kRead) {
    // With a writable schema SQLite opens a file that is shorter than its header says; query_only keeps it a reader.
    SHIPLOG_TRY(connection.run("PRAGMA writable_schema=ON; PRAGMA query_only=ON; PRAGMA cell_size_check=ON"));
    // Closing a damaged journal must not move its write-ahead log, the evidence, into the file.
    sqlite3_db_config(connection.handle_->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  }
  return connection;
}

void Connection::kill_frozen_writers(std::function<void(pid_t)> killed) {
  handle_->frozen.emplace(handle_->path, std::move(killed));
}

Result<Statement> Connection::prepare(const char* sql) const {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(handle_->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr) != SQLITE_OK) {
    return failure(*handle_);
  }
  return Statement(handle_, statement);
}

Result<void> Connection::run(const char* sql) const {
  if (sqlite3_exec(handle_->db, sql, nullptr, nullptr, nullptr) != SQLITE_OK) return failure(*handle_);
  return ok();
}

Result<int64_t> Connection::number(const char* sql) const {
  SHIPLOG_TRY(auto statement, prepare(sql));
  SHIPLOG_TRY(const bool found, statement.step());
  return found ? statement.integer(0) : 0;
}

void Connection::roll_back() const {
  // When it fails, SQLite has rolled back already.
  if (sqlite3_get_autocommit(handle_->db) == 0) sqlite3_exec(handle_->db, "ROLLBACK", nullptr, nullptr, nullptr);
}

int Connection::last_code() const { return sqlite3_extended_errcode(handle_->db); }

void Connection::committed() const { handle_->mover->committed(); }

}  // namespace shiplog::embedded
