#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "events/base/result.h"
#include "events/base/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace shiplog::embedded {

/// One connection to a SQLite file. Closes when the last Statement is gone too.
/// Threads: one at a time.
struct Handle;

/// A prepared statement of a Connection.
class Statement {
 public:
  Statement(std::shared_ptr<Handle> handle, sqlite3_stmt* statement);
  Statement(Statement&&) noexcept = default;
  Statement& operator=(Statement&&) noexcept = default;
  ~Statement();

  void bind(int index, int64_t value);
  /// The bytes must stay where they are until the statement is done.
  void bind(int index, std::string_view blob);
  /// True: a row is there to be read. Done or failed, the statement is ready to be run again.
  Result<bool> step();
  int64_t integer(int column) const;
  /// Valid until the next step.
  std::string_view blob(int column) const;
  void reset();

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::shared_ptr<Handle> handle_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

enum class Purpose {
  kWrite,  ///< synchronous=FULL; checkpoints when closed last
  kRead,   ///< changes nothing, and reads as much of a truncated file as there is
  kBuild,  ///< makes a new file
};

class Connection {
 public:
  /// Errors: see Statement::step; the message names the file.
  static Result<Connection> open(const std::string& path, Purpose purpose, Millis busy_timeout);
  /// While this connection waits for another process to finish writing, and that process is stopped, it is killed
  /// (FrozenWriter), and `killed` called.
  void kill_frozen_writers(std::function<void(pid_t)> killed);

  Result<Statement> prepare(const char* sql) const;
  /// Runs statements that give no rows.
  Result<void> run(const char* sql) const;
  /// The first column of the first row; 0 when there is none.
  Result<int64_t> number(const char* sql) const;
  /// Undoes an open transaction, if any.
  void roll_back() const;

  /// SQLite's extended code of the last failure.
  int last_code() const;
  /// For a writer, after a commit is answered: moves the write-ahead log into the file when it has grown long.
  void committed() const;

 private:
  explicit Connection(std::shared_ptr<Handle> handle) : handle_(std::move(handle)) {}
  std::shared_ptr<Handle> handle_;
};

}  // namespace shiplog::embedded
