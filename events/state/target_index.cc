#include "events/state/target_index.h"

namespace shiplog {

void TargetIndex::update(const ObjectKey& binding, const Value& before, const Value& after) {
  const Value& left = before["spec"]["clusters"];
  const Value& entered = after["spec"]["clusters"];
  if (left == entered) return;
  for (const Value& target : left.items()) {
    const auto found = clusters_.find(target["name"].as_string());
    if (found == clusters_.end()) continue;
    found->second.erase(binding);
    if (found->second.empty()) clusters_.erase(found);
  }
  for (const Value& target : entered.items()) clusters_[target["name"].str()].insert(binding);
}

const std::set<ObjectKey>& TargetIndex::on(std::string_view cluster) const {
  static const std::set<ObjectKey> kNone;
  const auto found = clusters_.find(cluster);
  return found == clusters_.end() ? kNone : found->second;
}

}  // namespace shiplog
