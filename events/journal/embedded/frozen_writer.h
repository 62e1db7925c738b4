#pragma once

#include <chrono>
#include <functional>
#include <string>

#include <sys/types.h>

namespace shiplog::embedded {

/// The process that holds the write lock of a SQLite file in WAL mode while it is stopped (SIGSTOP); 0: none that this
/// process can see.
pid_t stopped_writer(const std::string& database);

/// Frees a journal from a process that was stopped in the middle of a commit: nothing can be written until that process
/// continues, which may be never, or ends, which loses nothing, as the commit was not acknowledged. It is killed once
/// it was found stopped with the lock for a while. Threads: one at a time.
class FrozenWriter {
 public:
  /// `killed` is called with the process that was killed.
  FrozenWriter(std::string database, std::function<void(pid_t)> killed)
      : database_{std::move(database)}, killed_{std::move(killed)} {}

  /// To be called while the lock is waited for, for `waited` so far.
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
