#include "events/state/owner_index.h"

namespace shiplog {
namespace {

const std::set<ObjectKey> kNoDependents;

}  // namespace

void OwnerIndex::update(const ObjectKey& key, const Value& before, const Value& after) {
  const Value& old_owners = before["metadata"]["ownerReferences"];
  const Value& new_owners = after["metadata"]["ownerReferences"];
  if (old_owners == new_owners) return;
  for (const Value& owner : old_owners.items()) {
    const auto entry = dependents_.find(owner["uid"].as_string());
    if (entry == dependents_.end()) continue;  // named twice
    entry->second.erase(key);
    if (entry->second.empty()) dependents_.erase(entry);
  }
  for (const Value& owner : new_owners.items()) dependents_[SharedText::of(owner["uid"])].insert(key);
}

const std::set<ObjectKey>& OwnerIndex::dependents(std::string_view owner_uid) const {
  const auto found = dependents_.find(owner_uid);
  return found == dependents_.end() ? kNoDependents : found->second;
}

}  // namespace shiplog
