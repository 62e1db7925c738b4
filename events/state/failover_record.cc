#include "events/state/failover_record.h"

#include "events/state/state.h"

namespace shiplog {

ObjectKey failover_record_key(const ObjectKey& binding) {
  // Kinds have no colon in their name, so this is found in one way only.
  return {kFailoverRecordType, binding.ns, binding.type + ":" + binding.name};
}

const Value& failover_record_of(const State& state, const ObjectKey& binding) {
  static const Value kNone;
  // Asked for with each change of a Work, and mostly there are none.
  if (state.objects(kFailoverRecordType).empty()) return kNone;
  return state.value_of(failover_record_key(binding));
}

ObjectKey binding_of_failover_record(const ObjectKey& record) {
  const size_t colon = record.name.find(':');
  if (colon == std::string::npos) return {};
  return {record.name.substr(0, colon), record.ns, record.name.substr(colon + 1)};
}

std::optional<UtcMillis> unhealthy_since(const State& state, const ObjectKey& binding, std::string_view cluster) {
  const Value* since = failover_record_of(state, binding)["timers"].find(cluster);
  if (since == nullptr) return std::nullopt;
  return UtcMillis{since->as_int()};
}

std::string handover_step(const State& state, const ObjectKey& binding, std::string_view cluster) {
  const Value* handover = failover_record_of(state, binding)["handovers"].find(cluster);
  return handover == nullptr ? "" : (*handover)["step"].str();
}

}  // namespace shiplog
