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

namespace shiplog {

/// What ResourceBindings have been placed on a cluster and are not yet healthy there: its members may not have heard of
/// it, so that what they say is free does not count it (behaviour-core M-8, M-9). Kept up to date by the fold while the
/// gate is on; it can be told from the bindings alone.
class UnsettledIndex {
 public:
  using Footprint = std::shared_ptr<const std::vector<Component>>;
  /// Of one cluster, by when they were placed.
  using Placed = std::map<UtcMillis, std::map<ObjectKey, Footprint>>;

  /// A ResourceBinding has changed; null: it was, or is, not there.
  void update(const ObjectKey& binding, const Value& before, const Value& after);

  const Placed& on(std::string_view cluster) const;

 private:
  std::map<std::string, Placed, std::less<>> clusters_;
};

}  // namespace shiplog
