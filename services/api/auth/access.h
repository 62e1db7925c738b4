#pragma once

#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "events/base/error.h"
#include "services/api/auth/rbac/agent_access.h"
#include "services/api/auth/rbac/policy.h"
#include "services/runtime/replica.h"

namespace shiplog::api {

/// Who may do what, now: a cache of the roles and bindings in the state. Asked on any thread, kept up to date on the
/// fold thread, so that a confirmed deletion of a binding takes effect at once. Threads: decide(), held(),
/// escalation(), refuse_owned(), refuse_agent_write() and records_authors() from any; the rest on the executor.
class Access final : public Observer {
 public:
  /// AUTHZ-1 to AUTHZ-3.
  RbacPolicy::Decision decide(const User& user, const Attributes& wanted) const;
  RbacPolicy::Held held(const User& user, const std::string& ns) const;
  /// See rbac/escalation.h.
  std::optional<Error> escalation(const User& user, const ObjectKey& key, const Value& old, const Value& object) const;
  /// See rbac/owned_kinds.h.
  std::optional<Error> refuse_owned(const User& user, const ObjectKey& key, const Value& old,
                                    const Value& object) const;
  /// See rbac/agent_access.h.
  std::optional<Error> refuse_agent_write(const User& user, const ObjectKey& key, const Value& old,
                                          const Value& object) const;

  /// --enable-policy-author-check is in force: policies are written with their author (decision 0028).
  bool records_authors() const;
  /// Whether ClusterTaintPolicies may have taints with the effect NoExecute.
  bool allows_no_execute_policies() const;

  /// Takes in what a restored state holds.
  void load(const State& state);
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;

 private:
  void read(const FleetOptions& options);

  mutable std::shared_mutex mutex_;
  RbacPolicy policy_;
  ClusterIds clusters_;
  bool records_authors_ = false;
  bool allows_no_execute_policies_ = false;
};

}  // namespace shiplog::api
