#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "events/state/binding.h"
#include "events/state/feature_gates.h"
#include "events/state/object.h"
#include "events/state/object_store.h"

namespace shiplog {

/// What ResourceBindings have been placed on a cluster and are not yet healthy there: the member may not have received
/// it, so that the free room it reports does not count it (M-8, M-9). As a view it is empty unless the
/// gate SchedulingOvercommitProtection is on.
class UnsettledIndex {
 public:
  using Footprint = std::shared_ptr<const std::vector<Component>>;
  /// Of one cluster, by when they were placed.
  using Placed = std::map<UtcMillis, std::map<ObjectKey, Footprint>>;

  static bool wants(std::string_view type) { return type == type::kResourceBinding || type == kFeatureGatesType; }
  void update(const ObjectKey& key, const Value& before, const Value& after, const ObjectStore& objects);
  bool operator==(const UnsettledIndex& other) const;

  /// A ResourceBinding has changed, with the gate on; null: it did not, or does not, exist.
  void move(const ObjectKey& binding, const Value& before, const Value& after);
  const Placed& on(std::string_view cluster) const;

 private:
  bool enabled_ = false;  // the gate
  std::map<std::string, Placed, std::less<>> clusters_;
};

}  // namespace shiplog
