#include "events/state/policy_index.h"

#include <algorithm>

namespace shiplog {

void PolicyIndex::add(const SharedText& ns, const SharedText& name, const std::vector<ResourceSelector>& selectors) {
  if (selectors.empty()) policies_[{ns, "", "", ""}].insert(name);
  for (const ResourceSelector& selector : selectors) {
    policies_[{ns, selector.kind, selector.ns, selector.name}].insert(name);
  }
}

void PolicyIndex::remove(const SharedText& ns, const SharedText& name, const std::vector<ResourceSelector>& selectors) {
  if (selectors.empty()) erase({ns, "", "", ""}, name);
  for (const ResourceSelector& selector : selectors) erase({ns, selector.kind, selector.ns, selector.name}, name);
}

void PolicyIndex::erase(const Key<std::string_view>& key, std::string_view name) {
  const auto found = policies_.find(key);
  if (found == policies_.end()) return;  // the policy has the same selector twice
  if (const auto named = found->second.find(name); named != found->second.end()) found->second.erase(named);
  if (found->second.empty()) policies_.erase(found);
}

std::vector<std::string_view> PolicyIndex::candidates(std::string_view policy_ns, std::string_view kind,
                                                      std::string_view ns, std::string_view name) const {
  std::vector<std::string_view> names;
  const auto collect = [&](std::string_view asked_ns, std::string_view asked_name) {
    const auto found = policies_.find(Key<std::string_view>{policy_ns, kind, asked_ns, asked_name});
    if (found != policies_.end()) names.insert(names.end(), found->second.begin(), found->second.end());
  };
  collect("", "");
  if (!name.empty()) collect("", name);
  if (!ns.empty()) collect(ns, "");
  if (!ns.empty() && !name.empty()) collect(ns, name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace shiplog
