#include "events/state/target_index.h"

#include "events/base/json.h"
#include "events/state/object.h"

namespace shiplog {
namespace {

TargetIndex::Alike alike(const ObjectKey& key, const Value& binding) {
  const Value& spec = binding["spec"];
  return {key.type, spec["resource"]["kind"].str(), spec["schedulePriority"]["priority"].as_int(), deleting(binding),
          std::string{annotation_of(binding, kAppliedPlacementAnnotation)}};
}

/// Nothing of what matters here differs.
bool same_targets(const Value& before, const Value& after) {
  const Value& old_spec = before["spec"];
  const Value& new_spec = after["spec"];
  return old_spec["clusters"] == new_spec["clusters"] && old_spec["schedulePriority"] == new_spec["schedulePriority"] &&
         old_spec["resource"]["kind"] == new_spec["resource"]["kind"] && deleting(before) == deleting(after) &&
         annotation_of(before, kAppliedPlacementAnnotation) == annotation_of(after, kAppliedPlacementAnnotation);
}

std::optional<std::vector<Toleration>> tolerations_of(const std::string& placement) {
  if (placement.empty()) return std::nullopt;
  const auto parsed = parse_json(placement);
  if (!parsed) return std::nullopt;
  return tolerations_from(parsed.value()["clusterTolerations"]);
}

}  // namespace

void TargetIndex::update(const ObjectKey& binding, const Value& before, const Value& after) {
  if (same_targets(before, after)) return;
  const Alike was = alike(binding, before);
  for (const Value& target : before["spec"]["clusters"].items()) {
    const auto groups = clusters_.find(target["name"].as_string());
    if (groups == clusters_.end()) continue;
    const auto group = groups->second.find(was);
    if (group == groups->second.end()) continue;
    group->second.bindings.erase(binding);
    if (group->second.bindings.empty()) groups->second.erase(group);
    if (groups->second.empty()) clusters_.erase(groups);
  }
  const Alike is = alike(binding, after);
  for (const Value& target : after["spec"]["clusters"].items()) {
    const auto [group, made] = clusters_[target["name"].str()].try_emplace(is);
    if (made) group->second.tolerations = tolerations_of(is.placement);
    group->second.bindings.insert(binding);
  }
}

const TargetIndex::Groups& TargetIndex::on(std::string_view cluster) const {
  static const Groups kNone;
  const auto found = clusters_.find(cluster);
  return found == clusters_.end() ? kNone : found->second;
}

}  // namespace shiplog
