#include "services/roles/scheduler/placement_index.h"

#include "events/base/json.h"

namespace shiplog::scheduler {

void PlacementIndex::put(const ObjectKey& binding, const Value& placement) {
  if (const auto known = group_of_.find(binding); known != group_of_.end()) {
    const auto group = known->second;
    group->second.bindings.erase(binding);
    if (group->second.bindings.empty()) groups_.erase(group);
    group_of_.erase(known);
  }
  if (placement.is_null()) return;
  const auto [group, made] = groups_.try_emplace(to_json(placement));
  if (made) {
    if (auto parsed = placement_from(placement)) group->second.placement = std::move(parsed).value();
  }
  group->second.bindings.insert(binding);
  group_of_.emplace(binding, group);
}

void PlacementIndex::clear() {
  group_of_.clear();
  groups_.clear();
}

}  // namespace shiplog::scheduler
