#include "events/state/override_policy_view.h"

#include <algorithm>

namespace shiplog {

void OverridePolicyView::update(const ObjectKey& key, const Value&, const Value& after) {
  const ObjectStore::Name name{key.ns, key.name};
  if (const auto known = policies_.find(name); known != policies_.end()) {
    index_.remove(key.ns, key.name, known->second.selectors);
  }
  if (after.is_null()) {
    policies_.erase(name);
    return;
  }
  const OverridePolicy& policy = policies_[name] = override_policy_from(after);
  index_.add(key.ns, key.name, policy.selectors);
}

std::vector<std::string_view> OverridePolicyView::candidates(std::string_view policy_ns, std::string_view kind,
                                                             std::string_view ns, std::string_view name) const {
  if (policies_.empty()) return {};
  std::vector<std::string_view> names = index_.candidates(policy_ns, kind, ns, name);
  const std::vector<std::string_view> without_selectors = index_.candidates(policy_ns, "", "", "");
  names.insert(names.end(), without_selectors.begin(), without_selectors.end());
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

}  // namespace shiplog
