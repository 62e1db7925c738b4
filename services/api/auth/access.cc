#include "services/api/auth/access.h"

#include <algorithm>

#include "services/api/auth/rbac/aggregate.h"
#include "services/api/auth/rbac/bootstrap.h"
#include "services/api/auth/rbac/escalation.h"
#include "services/api/auth/rbac/owned_kinds.h"
#include "services/api/own_entry.h"
#include "services/runtime/log.h"

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

bool Access::records_authors() const {
  const std::shared_lock lock{mutex_};
  return records_authors_;
}

void Access::load(const State& state) {
  const std::unique_lock lock{mutex_};
  records_authors_ = state.options().checks_policy_authors();
  for (const char* type : {rbac::kRole, rbac::kClusterRole, rbac::kRoleBinding, rbac::kClusterRoleBinding}) {
    for (const auto& [name, object] : state.objects(type)) policy_.put({type, name.ns, name.name}, object.value);
  }
}

void Access::on_folded(const State& state, const DecodedRecord& record, const Folded& folded) {
  bool roles_changed = false;
  for (const Change& change : folded.changes) {
    if (change.object.type == kFleetOptionsType) {
      const std::unique_lock lock{mutex_};
      records_authors_ = state.options().checks_policy_authors();
    }
    if (!rbac::is_rbac(change.object.type)) continue;
    roles_changed = roles_changed || change.object.type == rbac::kClusterRole;
    const std::unique_lock lock{mutex_};
    if (change.removed()) {
      policy_.erase(change.object);
    } else {
      policy_.put(change.object, change.after);
    }
  }
  if (!roles_changed || replica_ == nullptr) return;
  update_aggregates(state, {folded.revision, record.entry.id, ""});
}

void Access::begin(Replica& replica, std::string user_agent, std::function<void()> then) {
  replica_ = &replica;
  user_agent_ = std::move(user_agent);
  std::vector<Event> missing;
  for (const auto& [key, object] : bootstrap_access()) {
    if (replica.state().find(key) == nullptr) missing.emplace_back(ObjectCreated{key, object});
  }
  update_aggregates(replica.state(), {});
  if (missing.empty()) return then();
  // Of several processes one is first; the others' entries are refused, which is as good.
  replica.append(own_entry(user_agent_, std::move(missing)), [then = std::move(then)](Result<Outcome> outcome) {
    if (!outcome) log::error("access.bootstrap_failed", {log::kv("reason", outcome.error().message)});
    then();
  });
}

void Access::update_aggregates(const State& state, const Cause& cause) {
  for (auto& [key, object] : outdated_aggregates(state.objects(rbac::kClusterRole))) {
    Entry entry = own_entry(user_agent_, {});
    entry.cause = cause;
    entry.expects = {{key, state.revision_of(key)}};
    entry.events = {ObjectUpdated{key, std::move(object)}};
    // Refused: the role has moved on, and its change brings us here again.
    replica_->append(std::move(entry), [name = key.name](Result<Outcome> outcome) {
      if (outcome) return;
      log::error("access.aggregation_failed", {log::kv("name", name), log::kv("reason", outcome.error().message)});
    });
  }
}

}  // namespace shiplog::api
