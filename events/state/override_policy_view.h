#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/state/object.h"
#include "events/state/object_store.h"
#include "events/state/override_policy.h"
#include "events/state/policy_index.h"

namespace shiplog {

/// OverridePolicies and ClusterOverridePolicies.
class OverridePolicyView {
 public:
  static bool wants(std::string_view type) {
    return type == type::kOverridePolicy || type == type::kClusterOverridePolicy;
  }
  void update(const ObjectKey& key, const Value& before, const Value& after);
  bool operator==(const OverridePolicyView&) const = default;

  /// By namespace and name; the namespace of a ClusterOverridePolicy is empty.
  const std::map<ObjectStore::Name, OverridePolicy>& all() const { return policies_; }
  /// Names of those of `policy_ns` (empty: cluster-scoped ones) that may select such an object, sorted: a superset of
  /// those for which match() is true.
  std::vector<std::string_view> candidates(std::string_view policy_ns, std::string_view kind, std::string_view ns,
                                           std::string_view name) const;

 private:
  std::map<ObjectStore::Name, OverridePolicy> policies_;
  PolicyIndex index_;
};

}  // namespace shiplog
