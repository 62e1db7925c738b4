#include "services/api/auth/access.h"

#include "services/api/auth/rbac/escalation.h"
#include "services/api/auth/rbac/owned_kinds.h"

namespace shiplog::api {

RbacPolicy::Decision Access::decide(const User& user, const Attributes& wanted) const {
  const std::shared_lock lock{mutex_};
  return policy_.decide(user, wanted);
}

RbacPolicy::Held Access::held(const User& user, const std::string& ns) const {
  const std::shared_lock lock{mutex_};
  return policy_.held(user, ns);
}

std::optional<Error> Access::escalation(const User& user, const ObjectKey& key, const Value& old,
                                        const Value& object) const {
  const std::shared_lock lock{mutex_};
  return api::escalation(policy_, user, key, old, object);
}

std::optional<Error> Access::refuse_owned(const User& user, const ObjectKey& key, const Value& old,
                                          const Value& object) const {
  const std::shared_lock lock{mutex_};
  return api::refuse_owned(policy_, user, key, old, object);
}

std::optional<Error> Access::refuse_agent_write(const User& user, const ObjectKey& key, const Value& old,
                                                const Value& object) const {
  const std::shared_lock lock{mutex_};
  return api::refuse_agent_write(clusters_, user, key, old, object);
}

bool Access::records_authors() const {
  const std::shared_lock lock{mutex_};
  return records_authors_;
}

bool Access::allows_no_execute_policies() const {
  const std::shared_lock lock{mutex_};
  return allows_no_execute_policies_;
}

void Access::load(const State& state) {
  const std::unique_lock lock{mutex_};
  read(state.options());
  for (const char* type : {rbac::kRole, rbac::kClusterRole, rbac::kRoleBinding, rbac::kClusterRoleBinding}) {
    for (const auto& [name, object] : state.objects(type)) policy_.put({type, name.ns, name.name}, object.value);
  }
  for (const auto& [name, cluster] : state.objects(type::kCluster)) {
    clusters_.insert_or_assign(std::string{name.name}, cluster.value["spec"]["id"].str());
  }
}

// The caller holds the lock.
void Access::read(const FleetOptions& options) {
  records_authors_ = options.checks_policy_authors();
  allows_no_execute_policies_ = options.allows_no_execute_policies();
}

void Access::on_folded(const State& state, const DecodedRecord& /*record*/, const Folded& folded) {
  for (const Change& change : folded.changes) {
    if (change.object.type == kFleetOptionsType) {
      const std::unique_lock lock{mutex_};
      read(state.options());
    }
    if (change.object.type == type::kCluster) {
      const std::unique_lock lock{mutex_};
      if (change.removed()) {
        clusters_.erase(change.object.name.str());
      } else {
        clusters_.insert_or_assign(change.object.name.str(), change.after["spec"]["id"].str());
      }
    }
    if (!rbac::is_rbac(change.object.type)) continue;
    const std::unique_lock lock{mutex_};
    if (change.removed()) {
      policy_.erase(change.object);
    } else {
      policy_.put(change.object, change.after);
    }
  }
}

}  // namespace shiplog::api
