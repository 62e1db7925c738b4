#pragma once

#include <chrono>
#include <functional>
#include <string>

#include <sys/types.h>

namespace shiplog::embedded {

/// The process that holds the write lock of a SQLite file in WAL mode while it is stopped (SIGSTOP). 0: none that this
/// process can see.
pid_t stopped_writer(const std::string& database);

/// Recovers a journal from a process that was stopped in the middle of a commit. No process can write until the stopped
/// process continues, which may never happen, or ends, which loses nothing because the commit was not acknowledged. The
/// process is killed if it remains stopped with the lock for some time. Threads: one at a time.
class FrozenWriter {
 public:
  /// `killed` is called with the id of the process that was killed.
  FrozenWriter(std::string database, std::function<void(pid_t)> killed)
      : database_{std::move(database)}, killed_{std::move(killed)} {}

  /// Call this while waiting for the lock. `waited` is the time since the wait began.
  void look(std::chrono::milliseconds waited);

 private:
  std::string database_;
  std::function<void(pid_t)> killed_;
  pid_t suspect_ = 0;
  std::chrono::milliseconds suspected_at_{0};
  std::chrono::milliseconds next_look_{100};
  std::chrono::milliseconds last_{0};
};

}  // namespace shiplog::embedded
