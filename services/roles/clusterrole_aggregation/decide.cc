#include "services/roles/clusterrole_aggregation/decide.h"

#include "events/state/rbac.h"
#include "services/roles/clusterrole_aggregation/aggregate.h"

namespace shiplog::clusterrole_aggregation {

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis /*now*/) {
  const Object* role = key.type == rbac::kClusterRole ? state.find(key) : nullptr;
  if (role == nullptr) return Nothing{};
  auto wanted = up_to_date(role->value, state.objects(rbac::kClusterRole));
  if (!wanted) return Nothing{};
  return decide_one(ObjectUpdated{key, std::move(*wanted)}, {key, role->revision});
}

}  // namespace shiplog::clusterrole_aggregation
