#pragma once

#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/event.h"
#include "services/runtime/replica.h"

namespace shiplog {

/// Persists the accounts with which control planes log in to a trial member across its restarts, as everything else in
/// it is lost: namespaces, ServiceAccounts and their tokens, ClusterRoles and ClusterRoleBindings that are labelled
/// karmada.io/system. The file has mode 0600; its tokens are worth no more than the signing key beside it. Threads: the
/// executor's.
class Accounts final : public Observer {
 public:
  explicit Accounts(std::string file) : file_{std::move(file)} {}

  /// The events that recreate them with their former uids. Errors: kIo; kCorrupt, the file cannot be parsed.
  Result<std::vector<Event>> restored() const;
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;

 private:
  std::string file_;
};

}  // namespace shiplog
