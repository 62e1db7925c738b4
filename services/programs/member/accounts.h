#pragma once

#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/event.h"
#include "services/runtime/replica.h"

namespace shiplog {

/// Keeps what control planes log in to a trial member with across its restarts, as everything else in it is lost:
/// namespaces, ServiceAccounts and their tokens, ClusterRoles and ClusterRoleBindings that are labelled
/// karmada.io/system. They are in a file of mode 0600; its tokens are worth no more than the key beside it that signs
/// them. Threads: the executor's.
class Accounts final : public Observer {
 public:
  explicit Accounts(std::string file) : file_{std::move(file)} {}

  /// The events that make them again, with the uids they had. Errors: kIo; kCorrupt, the file cannot be read.
  Result<std::vector<Event>> restored() const;
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;

 private:
  std::string file_;
};

}  // namespace shiplog
