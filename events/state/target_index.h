#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/state/binding.h"
#include "events/state/placement.h"

namespace shiplog {

/// The bindings that are placed on each cluster, in groups of those that a taint of the cluster evicts alike: most
/// bindings of a fleet have one of a few placements and priorities. An evacuation looks at what waits again and again.
class TargetIndex {
 public:
  /// What bindings of a group have in common.
  struct Alike {
    SharedText type;       ///< of the bindings
    std::string kind;      ///< of the workloads
    int64_t priority = 0;  ///< spec.schedulePriority.priority
    bool deleting = false;
    std::string placement;  ///< that the scheduler used, as it has recorded it; empty: none
    auto operator<=>(const Alike&) const = default;
  };
  struct Group {
    std::optional<std::vector<Toleration>> tolerations;  ///< nullopt: no placement, or it cannot be parsed
    std::set<ObjectKey> bindings;
    bool operator==(const Group&) const = default;
  };
  using Groups = std::map<Alike, Group>;

  static bool wants(std::string_view type) { return is_binding(type); }
  void update(const ObjectKey& binding, const Value& before, const Value& after);
  bool operator==(const TargetIndex&) const = default;

  /// Empty: nothing is placed on the cluster.
  const Groups& on(std::string_view cluster) const;

 private:
  std::map<std::string, Groups, std::less<>> clusters_;
};

}  // namespace shiplog
