#include "events/sqlite/connection.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <sqlite3.h>

#include "events/base/check.h"
#include "events/sqlite/memory.h"
#include "events/sqlite/row_checksum.h"
#include "events/sqlite/uncommitted_frames.h"
#include "events/sqlite/unpacked.h"
#include "events/sqlite/wal_mover.h"

namespace shiplog::sqlite {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// How long the writer stands still for readers when the WAL is to start over.
constexpr milliseconds kShortenTimeout{100};

}  // namespace

struct Connection::Impl {
  std::string path;
  Settings settings;
  sqlite3* database = nullptr;
  std::map<std::string, std::vector<sqlite3_stmt*>, std::less<>> idle;
  std::optional<WalMover> mover;  // the writer's
  int64_t wal_tried_at = 0;       // its size when it last could not be started over
  milliseconds busy_timeout;
  steady_clock::time_point busy_since;
  std::function<void(milliseconds waited)> waiting;

  Impl(std::string file, const Settings& how)
      : path{std::move(file)}, settings{how}, busy_timeout{how.busy_timeout.value} {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    mover.reset();
    for (auto& [sql, statements] : idle) {
      for (sqlite3_stmt* statement : statements) sqlite3_finalize(statement);
    }
    sqlite3_close(database);
  }

  // SQLite's own handler soon sleeps 100 ms at a time, in which a busy neighbour commits some thirty times.
  static int wait_while_busy(void* user, int count) {
    auto& self = *static_cast<Impl*>(user);
    const auto now = steady_clock::now();
    if (count == 0) self.busy_since = now;
    const auto waited = now - self.busy_since;
    if (waited >= self.busy_timeout) return 0;
    if (self.waiting) self.waiting(std::chrono::duration_cast<milliseconds>(waited));
    std::this_thread::sleep_for(std::chrono::microseconds(count < 200 ? 200 : 1000));
    return 1;
  }

  Error disk_is_full(const std::string& prefix, const std::string& reason) const {
    return {ErrorCode::kIo, prefix + "the disk is full: " + settings.when_full + "; " + reason};
  }

  Error error() {
    const int code = sqlite3_extended_errcode(database);
    const std::string prefix = std::string{settings.kind} + " " + path + ": ";
    std::string reason = std::string{sqlite3_errmsg(database)} + " (SQLite error " + std::to_string(code) + ")";
    switch (code & 0xFF) {
      case SQLITE_FULL:
        return disk_is_full(prefix, reason);
      case SQLITE_CORRUPT:
        return {ErrorCode::kCorrupt, prefix + "the file is damaged: " + reason + ": " + settings.when_damaged};
      case SQLITE_NOTADB:
        return {ErrorCode::kCorrupt,
                prefix + "this is not a SQLite file, or its first bytes are damaged: " + settings.when_damaged};
      case SQLITE_BUSY:
      case SQLITE_LOCKED:
        return {ErrorCode::kUnavailable, prefix + "other processes kept it locked for " +
                                             std::to_string(busy_timeout.count()) + " ms; try again"};
      case SQLITE_NOMEM:
        return {ErrorCode::kUnavailable, prefix + "there is not enough memory"};
      case SQLITE_IOERR:
      case SQLITE_CANTOPEN:
      case SQLITE_READONLY:
      case SQLITE_PERM:
      case SQLITE_AUTH:
      case SQLITE_NOLFS:
        if (const int system = sqlite3_system_errno(database); system != 0) {
          reason += std::string{": "} + std::strerror(system);
          if (system == ENOSPC) return disk_is_full(prefix, reason);  // of the shared memory beside the log
        }
        return {ErrorCode::kIo, prefix + "the operating system refused: " + reason};
      case SQLITE_ERROR:
      case SQLITE_SCHEMA:
      case SQLITE_CONSTRAINT:
      case SQLITE_MISMATCH:
        if (!settings.fixed_statements) break;
        return {ErrorCode::kCorrupt,
                prefix + "its tables are not those of a " + settings.kind + ", so the file is damaged: " + reason};
      default:
        break;
    }
    return {ErrorCode::kInternal, prefix + reason};
  }
};

struct Prepared {
  std::shared_ptr<Connection::Impl> owner;
  sqlite3_stmt* statement;
};

namespace {

/// The error, before the reset forgets it.
Error failed(const Prepared& prepared) {
  Error error = prepared.owner->error();
  sqlite3_reset(prepared.statement);
  return error;
}

}  // namespace

Statement::Statement(std::unique_ptr<Prepared> prepared) : prepared_{std::move(prepared)} {}
Statement::Statement(Statement&& other) noexcept = default;
Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(prepared_, other.prepared_);
  return *this;
}
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
  if (code != SQLITE_DONE) return failed(*prepared_);
  reset();
  return ok();
}

Result<bool> Statement::next() {
  const int code = sqlite3_step(prepared_->statement);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) return failed(*prepared_);
  reset();
  return false;
}

void Statement::reset() { sqlite3_reset(prepared_->statement); }

int64_t Statement::integer(int column) const { return sqlite3_column_int64(prepared_->statement, column); }
std::string_view Statement::text(int column) const {
  // Of a text its bytes: sqlite3_column_text() would copy them, to put a zero behind.
  const bool is_text = sqlite3_column_type(prepared_->statement, column) == SQLITE_TEXT;
  const void* bytes =
      is_text ? sqlite3_column_blob(prepared_->statement, column) : sqlite3_column_text(prepared_->statement, column);
  const auto* data = static_cast<const char*>(bytes);
  if (data == nullptr) return {};
  return {data, static_cast<size_t>(sqlite3_column_bytes(prepared_->statement, column))};
}
std::string_view Statement::blob(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(prepared_->statement, column));
  if (data == nullptr) return {};
  return {data, static_cast<size_t>(sqlite3_column_bytes(prepared_->statement, column))};
}
bool Statement::is_integer(int column) const {
  return sqlite3_column_type(prepared_->statement, column) == SQLITE_INTEGER;
}
bool Statement::is_null(int column) const { return sqlite3_column_type(prepared_->statement, column) == SQLITE_NULL; }

Connection::Connection(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}
Connection::~Connection() = default;

Result<std::unique_ptr<Connection>> Connection::open(const std::string& path, const Settings& settings) {
  require_memory_counting();
  // A reader too needs to write: the shared memory file of the WAL, and recovery when it is the first after a crash.
  const int flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (settings.create ? SQLITE_OPEN_CREATE : 0);
  std::unique_ptr<Connection> connection{new Connection{std::make_unique<Impl>(path, settings)}};
  Impl& impl = *connection->impl_;
  if (sqlite3_open_v2(path.c_str(), &impl.database, flags, nullptr) != SQLITE_OK) return impl.error();
  add_row_functions(impl.database);
  add_unpacked(impl.database);
  sqlite3_busy_handler(impl.database, Impl::wait_while_busy, &impl);
  sqlite3_wal_autocheckpoint(impl.database, 0);  // see committed()
  SHIPLOG_TRY(connection->execute(settings.pragmas));
  if (!settings.checkpoint_on_close) sqlite3_db_config(impl.database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  if (settings.move_wal_frames > 0) impl.mover.emplace(impl.database, path, settings.move_wal_frames);
  return connection;
}

void Connection::on_busy(std::function<void(milliseconds waited)> waiting) { impl_->waiting = std::move(waiting); }

Result<void> Connection::execute(const std::string& sql) {
  if (sqlite3_exec(impl_->database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return impl_->error();
  return ok();
}

Result<void> Connection::repeat(std::string_view sql) {
  SHIPLOG_TRY(auto statement, prepare(sql));
  return statement.run();
}

Result<Statement> Connection::prepare(std::string_view sql) {
  if (const auto found = impl_->idle.find(sql); found != impl_->idle.end() && !found->second.empty()) {
    sqlite3_stmt* statement = found->second.back();
    found->second.pop_back();
    return Statement{std::make_unique<Prepared>(Prepared{impl_, statement})};
  }
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(impl_->database, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return impl_->error();
  return Statement{std::make_unique<Prepared>(Prepared{impl_, statement})};
}

int64_t Connection::changed() const { return sqlite3_changes64(impl_->database); }

bool Connection::drop_failed_commit() { return cut_uncommitted_frames(impl_->database); }

void Connection::committed() { impl_->mover->committed(); }

void Connection::tend_wal(int64_t bytes) {
  committed();
  std::error_code none;
  const auto size = std::filesystem::file_size(impl_->path + "-wal", none);
  if (none || static_cast<int64_t>(size) < bytes) {
    impl_->wal_tried_at = 0;
    return;
  }
  // A view that is held for long would otherwise make every batch wait.
  if (static_cast<int64_t>(size) < impl_->wal_tried_at + bytes / 4) return;
  impl_->wal_tried_at = static_cast<int64_t>(size);
  const milliseconds timeout = std::exchange(impl_->busy_timeout, kShortenTimeout);
  // TRUNCATE, as the file's size shows whether it is needed. Failing is no error: the WAL is only long.
  sqlite3_wal_checkpoint_v2(impl_->database, nullptr, SQLITE_CHECKPOINT_TRUNCATE, nullptr, nullptr);
  impl_->busy_timeout = timeout;
}

const std::string& Connection::path() const { return impl_->path; }

Result<Transaction> Transaction::begin(Connection& connection) {
  SHIPLOG_TRY(connection.repeat("BEGIN IMMEDIATE"));
  return Transaction{&connection};
}
Result<Transaction> Transaction::begin_reading(Connection& connection) {
  SHIPLOG_TRY(connection.repeat("BEGIN"));
  return Transaction{&connection};
}
Transaction::Transaction(Transaction&& other) noexcept : connection_{std::exchange(other.connection_, nullptr)} {}
Transaction::~Transaction() { roll_back(); }
Result<void> Transaction::commit() {
  SHIPLOG_TRY(connection_->repeat("COMMIT"));
  connection_ = nullptr;
  return ok();
}
void Transaction::roll_back() {
  Connection* connection = std::exchange(connection_, nullptr);
  // Some errors have rolled it back already. When ROLLBACK fails, so it has.
  if (connection != nullptr && sqlite3_get_autocommit(connection->impl_->database) == 0) {
    static_cast<void>(connection->repeat("ROLLBACK"));
  }
}

}  // namespace shiplog::sqlite
