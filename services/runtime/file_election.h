#pragma once

#include <memory>
#include <string>
#include <vector>

#include "events/base/time.h"
#include "services/runtime/election.h"
#include "services/runtime/executor.h"

namespace shiplog {

/// Election among the processes of one machine. The process that holds the advisory lock on the newest lease file of a
/// service, `<folder>/<service>` or `<folder>/<service>.N`, leads. The kernel releases the lock when a process ends,
/// however it ends, and another one takes it at its next look. A process that is frozen keeps its lock; but a leader
/// also counts up a number in its lease file at every look, and one that stops doing so for `patience` looks of another
/// process, `poll_every` apart, is replaced: that process makes the next lease file and locks it. A leader that finds a
/// newer file than its own no longer leads. Heartbeats are on a thread of its own, so only a frozen process misses
/// them, not a busy one. While no other process has announced itself there, a process writes one heartbeat in ten. Each
/// process also holds the lock on a file `<folder>/processes/<identity>`. It has three lines: the process's fold
/// version; a number that is counted up as in lease files, so that a process that is frozen is no candidate; the
/// divided roles that it has announced. Older builds write and read the first line only. Threads: campaign() and
/// resign() on the executor, which `changed` is called on.
class FileElection final : public Election {
 public:
  struct Options {
    std::string folder;  ///< made when missing
    std::string identity;
    Executor* executor = nullptr;
    Millis poll_every{100};
    int patience = 5;
    uint32_t fold_version = 0;  ///< the newest that this build supports
  };

  explicit FileElection(Options options);
  ~FileElection() override;

  const std::string& identity() const override;
  void campaign(const std::string& service, std::function<void(bool leading)> changed) override;
  void withdraw(const std::string& service) override;
  void announce(const std::string& role) override;
  std::vector<std::string> candidates(const std::string& role) override;
  std::optional<bool> led(const std::string& service) override;
  std::optional<uint32_t> fold_version_of_all() override;
  void resign() override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog
