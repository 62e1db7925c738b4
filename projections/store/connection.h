#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "events/base/result.h"

// The only place that knows sqlite3. Blobs and texts are string_views; integers are 64 bits and signed.
namespace shiplog::store {

struct Prepared;

/// A prepared statement on loan from its connection, which keeps it for the next asker. Parameters count from 1,
/// columns from 0. Must not outlive the connection.
class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Bound bytes are not copied: they must stay until run() or the last next() has returned.
  void bind(int index, int64_t value);
  void bind(int index, std::string_view text);
  void bind_blob(int index, std::string_view bytes);
  void bind_null(int index);
  // By name (":user"); does nothing when the statement has no such parameter: for statements put together from parts.
  void bind(const char* name, int64_t value);
  void bind(const char* name, std::string_view text);

  /// Executes to the end and is ready to be bound and run again. Rows are not looked at.
  Result<void> run();
  /// Binds all, in order, and runs.
  template <class... Args>
  Result<void> run(const Args&... args) {
    bind_all(args...);
    return run();
  }
  template <class... Args>
  void bind_all(const Args&... args) {
    int index = 0;
    (bind(++index, args), ...);
  }

  /// True: there is a row; false: there are no more.
  Result<bool> next();
  /// Ready for the next run; what is bound stays.
  void reset();

  // Of the current row; texts and blobs are valid until next() or reset(). NULL reads as 0 or empty.
  int64_t integer(int column) const;
  std::string_view text(int column) const;
  std::string_view blob(int column) const;
  bool is_null(int column) const;

 private:
  friend class Connection;
  explicit Statement(std::unique_ptr<Prepared> prepared);
  std::unique_ptr<Prepared> prepared_;  // null: moved from
};

/// One SQLite connection in WAL mode. Errors of all functions: kCorrupt, the file is damaged or no database; kIo;
/// kUnavailable, somebody else holds the lock; kInternal, anything else (the message has SQLite's words and the file).
/// Threads: one at a time.
class Connection {
 public:
  enum class Mode {
    kWrite,  ///< makes the file where there is none
    kRead,   ///< the file must exist; statements that write fail
  };
  static Result<std::unique_ptr<Connection>> open(const std::string& path, Mode mode);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  /// Runs statements separated by semicolons.
  Result<void> execute(const std::string& sql);
  /// Runs one statement that will be run often: it is parsed once.
  Result<void> repeat(std::string_view sql);
  /// A statement, from the cache where possible.
  Result<Statement> prepare(std::string_view sql);
  /// Rows that the last statement inserted, updated or deleted.
  int64_t changed() const;

  /// For a writer, after a commit: has the WAL moved into the file now and then, and starts it over when it has grown
  /// to `bytes`, waiting a little for readers. SQLite by itself does so only at a moment when nobody reads, which under
  /// a steady load of overlapping readers may never come.
  void tend_wal(int64_t bytes);

  const std::string& path() const;

 private:
  friend struct Prepared;
  struct Impl;
  explicit Connection(std::unique_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;  // shared with statements on loan
};

/// All or nothing: rolls back unless committed.
class Transaction {
 public:
  /// Takes the write lock at once, so that it cannot fail for it later.
  static Result<Transaction> begin(Connection& connection);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Result<void> commit();

 private:
  explicit Transaction(Connection* connection) : connection_{connection} {}
  Connection* connection_;  // null: over
};

}  // namespace shiplog::store
