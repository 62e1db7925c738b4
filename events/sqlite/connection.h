#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "events/base/result.h"
#include "events/base/time.h"

// The only place that knows sqlite3: journal, projections and key store use it. Blobs and texts are string_views;
// integers are 64 bits and signed.
namespace shiplog::sqlite {

struct Prepared;

/// What a forwarding reference is deduced as for a string that ends with the statement: not for one that has a name.
template <class T>
concept TemporaryString = std::same_as<std::remove_const_t<T>, std::string>;

/// A prepared statement on loan from its connection, which keeps it for the next use and stays open until all are
/// returned. Parameters count from 1, columns from 0.
class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();

  // Bound bytes are not copied: they must stay until run() or the last next() has returned. A temporary string does not
  // compile.
  void bind(int index, int64_t value);
  void bind(int index, std::string_view text);
  template <TemporaryString T>
  void bind(int index, T&& temporary) = delete;
  void bind_blob(int index, std::string_view bytes);
  template <TemporaryString T>
  void bind_blob(int index, T&& temporary) = delete;
  void bind_null(int index);
  // By name (":user"); does nothing when the statement has no such parameter: for statements put together from parts.
  void bind(const char* name, int64_t value);
  void bind(const char* name, std::string_view text);
  template <TemporaryString T>
  void bind(const char* name, T&& temporary) = delete;

  /// Executes to the end and is ready to be bound and run again. Rows are ignored.
  Result<void> run();
  /// Binds all, in order, and runs. Temporaries live that long.
  template <class... Args>
  Result<void> run(const Args&... args) {
    bind_all(args...);
    return run();
  }
  template <class... Args>
  void bind_all(Args&&... args) {
    int index = 0;
    (bind(++index, std::forward<Args>(args)), ...);
  }

  /// True: there is a row; false: there are no more. After false or an error the statement is ready for the next run.
  Result<bool> next();
  /// Ready for the next run; what is bound stays.
  void reset();

  // Of the current row; texts and blobs are valid until next() or reset(). NULL reads as 0 or empty.
  int64_t integer(int column) const;
  std::string_view text(int column) const;
  std::string_view blob(int column) const;
  bool is_null(int column) const;
  bool is_integer(int column) const;

 private:
  friend class Connection;
  explicit Statement(std::unique_ptr<Prepared> prepared);
  std::unique_ptr<Prepared> prepared_;  // null: moved from
};

/// One connection to a SQLite file. Errors of all functions: kCorrupt, the file is damaged or no database; kIo;
/// kUnavailable, another process holds the lock, or there is not enough memory; kInternal, anything else. The message
/// has the kind of file, its path and the words of SQLite.
/// Threads: one at a time.
class Connection {
 public:
  struct Settings {
    const char* kind = "database";                   ///< in error messages: "journal", "projection"
    const char* when_full = "free some space";       ///< advice in error messages
    const char* when_damaged = "name another file";  ///< the same
    bool fixed_statements = false;                   ///< a statement that SQLite rejects means that the tables are
                                                     ///< not those of this kind: kCorrupt
    bool create = false;                             ///< makes the file where there is none
    const char* pragmas = "";                        ///< run first
    Millis busy_timeout{10'000};                     ///< how long the lock of another process is waited for
    int move_wal_frames = 0;                         ///< of a writer: see committed(); 0: the WAL is never moved
    bool checkpoint_on_close = true;                 ///< the connection that closes last moves the WAL into the file
  };
  static Result<std::unique_ptr<Connection>> open(const std::string& path, const Settings& settings);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  /// Called again and again while the lock of another process is waited for, with the time waited so far.
  void on_busy(std::function<void(std::chrono::milliseconds waited)> waiting);

  /// Runs statements separated by semicolons.
  Result<void> execute(const std::string& sql);
  /// Runs one statement that will be run often: it is parsed once.
  Result<void> repeat(std::string_view sql);
  /// A statement, from the cache where possible.
  Result<Statement> prepare(std::string_view sql);
  /// Rows that the last statement inserted, updated or deleted.
  int64_t changed() const;
  /// Removes what a failed commit has left in the WAL, so that no recovery after a crash finds it. Call this in a new
  /// transaction, before it writes. Returns false if something may be left.
  bool drop_failed_commit();

  /// To be called by a writer after a commit, when the callers that wait for it have been answered: has the WAL moved
  /// into the file by another thread when it has grown to `move_wal_frames`.
  void committed();
  /// The same, and starts the WAL over when it has grown to `bytes`, waiting a little for readers. SQLite by itself
  /// does so only at a moment without readers, which under a steady load of overlapping readers may never occur.
  void tend_wal(int64_t bytes);

  const std::string& path() const;

 private:
  friend struct Prepared;
  friend class Transaction;
  struct Impl;
  explicit Connection(std::unique_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;  // shared with statements on loan
};

/// All or nothing: rolls back unless committed.
class Transaction {
 public:
  /// Takes the write lock at once, so that it cannot fail for it later.
  static Result<Transaction> begin(Connection& connection);
  /// Of reads alone: all see the file as of the first one.
  static Result<Transaction> begin_reading(Connection& connection);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  /// One that fails leaves the transaction open.
  Result<void> commit();
  void roll_back();

 private:
  explicit Transaction(Connection* connection) : connection_{connection} {}
  Connection* connection_;  // null: over
};

}  // namespace shiplog::sqlite
