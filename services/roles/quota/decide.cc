#include "services/roles/quota/decide.h"

#include "events/state/object.h"
#include "events/state/quota.h"

namespace shiplog::quota {

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis /*now*/) {
  const Object* object = state.find(key);
  if (object == nullptr || deleting(object->value)) return Nothing{};
  const ResourceList limits = resource_list_from(object->value["spec"]["overall"]);
  ResourceList used;
  for (const auto& [name, amount] : state.quota_usage(key.ns)) {
    if (limits.contains(name) && !amount.is_zero() && !amount.negative()) used.emplace(name, amount);
  }
  const Value& overall = object->value["spec"]["overall"];
  Value used_now = to_value(used);
  const Value& status = object->value["status"];
  if (status["overall"] == overall && status["overallUsed"] == used_now) return Nothing{};
  return decide_one(QuotaUsageChanged{key, overall, std::move(used_now)}, {key, object->revision});
}

}  // namespace shiplog::quota
