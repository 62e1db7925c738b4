#pragma once

#include <map>
#include <string_view>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/state/object.h"
#include "events/state/object_store.h"
#include "events/state/policy.h"
#include "events/state/policy_index.h"

namespace shiplog {

/// PropagationPolicies and ClusterPropagationPolicies.
class PolicyView {
 public:
  static bool wants(std::string_view type) { return is_propagation_policy(type); }
  void update(const ObjectKey& key, const Value& before, const Value& after);
  bool operator==(const PolicyView&) const = default;

  /// By namespace and name; the namespace of a ClusterPropagationPolicy is empty.
  const std::map<ObjectStore::Name, Policy>& all() const { return policies_; }
  /// Finds those of them that may select an object.
  const PolicyIndex& index() const { return index_; }

 private:
  std::map<ObjectStore::Name, Policy> policies_;
  PolicyIndex index_;
};

}  // namespace shiplog
