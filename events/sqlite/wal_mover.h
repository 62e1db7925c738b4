#pragma once

#include <memory>
#include <string>

struct sqlite3;

namespace shiplog {

/// Moves a SQLite file's write-ahead log into the file on a thread of its own, with a connection of its own, so that
/// commits do not stand still for the writing and syncing of megabytes. While it copies, commits go on behind it, so
/// the log would never be found empty and start over: what is added meanwhile, a few frames, is left to the writer. The
/// writer needs a busy timeout: a reader that meets half a header takes the writer's lock for a moment. Threads:
/// committed() is the writer's, between two transactions.
class WalMover {
 public:
  /// Begins to copy when a commit leaves `frames` or more in the log. `writer` must outlive this; its own automatic
  /// checkpoints are turned off. Close this first: the connection that closes last checkpoints.
  WalMover(sqlite3* writer, const std::string& path, int frames);
  ~WalMover();
  WalMover(const WalMover&) = delete;
  WalMover& operator=(const WalMover&) = delete;

  /// In a program that runs everything in one thread, as simulations do: committed() copies itself. Before the first
  /// one is made.
  static void run_in_the_writers_thread();

  /// Called by the writer after each commit. Failing to copy is no error: the log is only longer.
  void committed();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog
