#include "services/programs/member/decide.h"
#include "services/programs/member/decision_changes.h"
#include "services/programs/member/kinds.h"

namespace shiplog::member {

Result<Decided> decide_service_account(const State& state, const ObjectKey& key, UtcMillis) {
  const Object* ns = state.find(key);
  if (ns == nullptr || deleting(ns->value)) return Nothing{};
  const ObjectKey account{kServiceAccounts, key.name, "default"};
  if (state.find(account) != nullptr) return Nothing{};
  Changes changes;
  changes.create(account, Value::object({{"apiVersion", "v1"},
                                         {"kind", "ServiceAccount"},
                                         {"metadata", Value::object({{"name", "default"}, {"namespace", key.name}})}}));
  return changes.take();
}

}  // namespace shiplog::member
