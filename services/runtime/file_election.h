#pragma once

#include <memory>
#include <string>
#include <vector>

#include "services/runtime/election.h"
#include "services/runtime/executor.h"

namespace shiplog {

/// Election among the processes of one machine: who holds the advisory lock on `<folder>/<service>` leads. The kernel
/// releases the lock when a process dies, however it dies, so a takeover waits for no timeout; others look every 100
/// ms. Threads: the executor.
class FileElection final : public Election {
 public:
  /// Makes the folder when missing.
  FileElection(std::string folder, std::string identity, Executor& executor);
  ~FileElection() override;

  const std::string& identity() const override { return identity_; }
  void campaign(const std::string& service, std::function<void(bool leading)> changed) override;
  void resign() override;

 private:
  struct Lock;
  void look(const std::shared_ptr<Lock>& lock);

  std::string folder_;
  std::string identity_;
  Executor& executor_;
  std::vector<std::shared_ptr<Lock>> locks_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace shiplog
