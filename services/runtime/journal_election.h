#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "events/base/time.h"
#include "events/journal/journal.h"
#include "services/runtime/election.h"
#include "services/runtime/executor.h"

namespace shiplog {

/// Election among processes that share no more than a journal: one beside the record, of heartbeats (LeaseTable), that
/// may forget what is some minutes old. A holder that is killed is replaced once `patience` heartbeats have gone by
/// without it. Nothing but liveness depends on it, as with every Election: what a deposed holder still appends, the
/// fold refuses. Threads: one that sends heartbeats and reads; campaign() and resign() on the executor.
class JournalElection final : public Election {
 public:
  struct Options {
    std::shared_ptr<Journal> heartbeats;
    std::string identity;
    Executor* executor = nullptr;
    Millis heartbeat_every{100};
    int patience = 5;
    Millis unheard_after{30'000};  ///< trouble() reports when no heartbeat of its own was read for so long
    uint32_t fold_version = 0;     ///< the newest that this build supports
  };

  explicit JournalElection(Options options);
  ~JournalElection() override;

  const std::string& identity() const override;
  void campaign(const std::string& service, std::function<void(bool leading)> changed) override;
  void withdraw(const std::string& service) override;
  void announce(const std::string& role) override;
  std::vector<std::string> candidates(const std::string& role) override;
  std::optional<bool> led(const std::string& service) override;
  std::optional<uint32_t> fold_version_of_all() override;
  std::string trouble() override;
  void resign() override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog
