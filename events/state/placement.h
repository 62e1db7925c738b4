#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "events/base/value.h"
#include "events/state/cluster.h"
#include "events/state/policy.h"
#include "events/taint.h"

namespace shiplog {

/// Which clusters are meant: KIND-3. Everything absent means every cluster.
struct ClusterAffinity {
  std::optional<LabelSelector> labels;
  std::vector<LabelSelector::Requirement> fields;  ///< on provider, region and zone
  std::vector<std::string> cluster_names;          ///< empty: all
  std::vector<std::string> exclude;                ///< evaluated first, always wins (S-16)

  bool matches(const Cluster& cluster) const;
  bool operator==(const ClusterAffinity&) const = default;
};

ClusterAffinity cluster_affinity_from(const Value& value);

/// corev1.Toleration, matched against a cluster's taints.
struct Toleration {
  std::string key, op, value, effect;
  std::optional<int64_t> seconds;

  /// Operators are Equal (or empty) and Exists; any other tolerates nothing.
  bool tolerates(const Taint& taint) const;
  bool operator==(const Toleration&) const = default;
};

std::vector<Toleration> tolerations_from(const Value& list);
/// "key=value:effect", or "key:effect" without a value.
std::string to_string(const Taint& taint);

struct SpreadConstraint {
  std::string field;  ///< cluster, region, zone, provider; empty: by label
  std::string label;
  int64_t min_groups = 0;
  int64_t max_groups = 0;  ///< 0 is meant literally (S-42)
  bool operator==(const SpreadConstraint&) const = default;
};

/// One of spec.placement.clusterAffinities.
struct AffinityTerm {
  std::string name;
  ClusterAffinity affinity;
  std::vector<ClusterAffinity> overflow;
  bool operator==(const AffinityTerm&) const = default;
};

struct StaticWeight {
  ClusterAffinity clusters;
  int64_t weight = 0;
  bool operator==(const StaticWeight&) const = default;
};

/// How replicas are assigned (S-44).
enum class Strategy { kDuplicated, kStaticWeight, kDynamicWeight, kAggregated };

/// spec.placement of a policy or binding: KIND-4.
struct Placement {
  std::optional<ClusterAffinity> affinity;
  std::vector<AffinityTerm> terms;
  std::vector<Toleration> tolerations;
  std::vector<SpreadConstraint> spread;
  bool scheduling_given = false;  ///< replicaScheduling is present
  Strategy strategy = Strategy::kDuplicated;
  bool weights_given = false;  ///< replicaScheduling.weightPreference is present
  std::vector<StaticWeight> weights;
  bool operator==(const Placement&) const = default;

  const SpreadConstraint* spread_by(std::string_view field) const;
};

/// Error: kInvalid, naming the field and a value that no schema admits.
Result<Placement> placement_from(const Value& value);

}  // namespace shiplog
