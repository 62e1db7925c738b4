#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/state/placement.h"

namespace shiplog::scheduler {

/// Bindings by the content of their spec.placement. Most bindings of a fleet have one of a few placements, those of its
/// policies: what a change of a cluster concerns is found out once for each of them.
class PlacementIndex {
 public:
  struct Group {
    std::optional<Placement> placement;  ///< nullopt: it cannot be parsed
    std::set<ObjectKey> bindings;
  };

  /// The binding has this placement from now on; null: none, or the binding is gone.
  void put(const ObjectKey& binding, const Value& placement);
  void clear();
  /// By the canonical JSON of the placement.
  const std::map<std::string, Group>& groups() const { return groups_; }

 private:
  std::map<std::string, Group> groups_;
  std::map<ObjectKey, std::map<std::string, Group>::iterator> group_of_;
};

}  // namespace shiplog::scheduler
