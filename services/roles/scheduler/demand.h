#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <boost/outcome/basic_result.hpp>
#include <boost/outcome/policy/terminate.hpp>
#include <boost/outcome/try.hpp>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/explain/fact.h"
#include "events/state/affinity_index.h"
#include "events/state/binding.h"
#include "events/state/cluster.h"
#include "events/state/fleet_options.h"
#include "events/state/placement.h"
#include "events/state/unsettled_index.h"
#include "services/roles/scheduler/definition_placement.h"

namespace shiplog::scheduler {

/// The fleet, by name.
using Clusters = std::map<std::string, Cluster>;

/// Inputs of a placement besides the binding and the clusters.
struct PlacementContext {
  const AffinityGroup* together = nullptr;    ///< the group to share clusters with (M-11); nullptr: none
  const AffinityGroup* apart = nullptr;       ///< the group to share no cluster with (M-12)
  bool component_sets = false;                ///< gate MultiplePodTemplatesScheduling
  const UnsettledIndex* unsettled = nullptr;  ///< gate SchedulingOvercommitProtection; nullptr: it is off
  UtcMillis now = {};
  const FleetOptions* options = nullptr;            ///< nullptr: as by default
  const DefinitionPlacement* definition = nullptr;  ///< of the binding's kind; nullptr: it has none

  /// The plugin of that name is enabled (S-23).
  bool plugin_on(std::string_view name) const { return options == nullptr || options->plugin_on(name); }
};

/// What is to be placed: one binding, under one affinity term where its placement has several.
struct Demand {
  const Binding& binding;
  const Placement& placement;
  const AffinityTerm* term = nullptr;  ///< the one in force; nullptr: placement.affinity counts
  bool fresh = false;                  ///< requested explicitly: where replicas are now does not bind (S-51)
  PlacementContext context = {};
  /// The binding's kind as in Cluster::api_enablements: every cluster is checked for it.
  std::string enablement = binding.api_version + ", Kind=" + binding.kind;
  /// The answers of the members' estimators for this cycle: {CLUSTER: {replicas} | {failure}}. nullptr: none was
  /// called.
  const Value* estimates = nullptr;
  /// Canonical JSON that `placement` was read from; empty: not known, so that nothing is kept for other placements.
  std::string_view placement_json = {};

  /// It has components, and is for exactly one cluster: these are placed together, and their room is estimated whole
  /// (M-1).
  bool goes_as_a_set() const;
  /// What has room for so much may be selected (M-1).
  int64_t needed() const { return goes_as_a_set() ? 1 : binding.replicas; }

  /// What the binding has on the cluster now; nullptr: it is no target.
  const Target* previous(std::string_view cluster) const {
    const auto& all = binding.targets;
    const auto found =
        sorted ? std::lower_bound(all.begin(), all.end(), cluster,
                                  [](const Target& target, std::string_view name) { return target.cluster < name; })
               : std::find_if(all.begin(), all.end(), [&](const Target& target) { return target.cluster == cluster; });
    return found != all.end() && found->cluster == cluster ? &*found : nullptr;
  }
  /// Targets of this scheduler are; another writer may have set others.
  bool sorted = std::is_sorted(binding.targets.begin(), binding.targets.end(),
                               [](const Target& a, const Target& b) { return a.cluster < b.cluster; });
};

inline bool Demand::goes_as_a_set() const {
  if (!context.component_sets || binding.components.empty()) return false;
  for (const SpreadConstraint& constraint : placement.spread) {
    if (constraint.field == "cluster" && constraint.min_groups == 1 && constraint.max_groups == 1) return true;
  }
  return false;
}

/// A cluster that passed the filters.
struct Candidate {
  const Cluster* cluster = nullptr;
  int64_t tier = 0;  ///< 0, or the number of the overflow affinity that matched
  int64_t score = 0;
  int64_t allocatable = 0;           ///< further replicas that fit, as estimated
  int64_t available = 0;             ///< allocatable and what the binding has there already
  uint32_t line = 0;                 ///< its place in Explanation::clusters
  uint32_t row = 0;                  ///< its place in the FleetTable
  const Target* previous = nullptr;  ///< what the binding has there now
};

/// Why there is no placement.
struct PlacementFailure {
  enum class Kind {
    kNoFit,     ///< no cluster passes the filters: the targets are cleared
    kCapacity,  ///< the clusters that do have no room
    kOther,     ///< a spread constraint or strategy cannot be met
  };
  Kind kind = Kind::kOther;
  Fact cause;
};

template <class T>
using Placed = boost::outcome_v2::basic_result<T, PlacementFailure, boost::outcome_v2::policy::terminate>;

}  // namespace shiplog::scheduler
