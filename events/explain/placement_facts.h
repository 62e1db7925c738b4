#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "events/explain/fact_info.h"

// What the scheduler explains of a placement as a whole: steps and summaries.
namespace shiplog {

enum class PlacementTrigger : uint8_t {
  kPlacementChanged = 0,       ///< new or changed
  kReplicasChanged = 1,        ///< their number is not the one placed
  kReschedulingRequested = 2,  ///< a fresh placement was requested
  kRefusedBefore = 3,
  kFollowsClusters = 4,  ///< has no replicas or is duplicated: any change of the clusters counts
  kTargetLeaving = 5,
};

/// What the binding is placed anew for.
struct Triggered {
  static constexpr FactInfo kInfo{10, "Triggered", "trigger", "cluster"};
  PlacementTrigger trigger = PlacementTrigger::kPlacementChanged;
  std::string cluster = {};  ///< the target that leaves
  bool operator==(const Triggered&) const = default;
};

/// Scheduler plugins that --plugins switches off.
struct PluginsDisabled {
  static constexpr FactInfo kInfo{11, "PluginsDisabled", "plugins"};
  std::vector<std::string> plugins;
  bool operator==(const PluginsDisabled&) const = default;
};

/// Available replicas are counted in whole sets of the components (M-1).
struct RoomInSets {
  static constexpr FactInfo kInfo{12, "RoomInSets"};
  bool operator==(const RoomInSets&) const = default;
};

/// Available replicas leave out what was placed a short time ago and is not healthy yet.
struct RoomReserved {
  static constexpr FactInfo kInfo{13, "RoomReserved"};
  bool operator==(const RoomReserved&) const = default;
};

/// What the estimators of the candidates answered.
struct EstimatesUsed {
  static constexpr FactInfo kInfo{14, "EstimatesUsed", "clusters", "replicas"};
  ClusterIndexes clusters;
  std::vector<int64_t> replicas;  ///< for each of them; -1: not known
  bool operator==(const EstimatesUsed&) const = default;
};

/// No estimator counts, because that of one candidate has no answer (S-72).
struct EstimatesIgnored {
  static constexpr FactInfo kInfo{15, "EstimatesIgnored", "cluster", "asked", "failure"};
  std::string cluster;
  bool asked = false;
  std::string failure;
  bool operator==(const EstimatesIgnored&) const = default;
};

/// Clusters that do not serve the kind yet, but will: its CustomResourceDefinition is placed there.
struct DefinitionExpected {
  static constexpr FactInfo kInfo{16, "DefinitionExpected", "kind", "definition", "clusters"};
  std::string kind;
  std::string definition;
  std::vector<std::string> clusters;
  bool operator==(const DefinitionExpected&) const = default;
};

/// The affinity term that the placement was made under.
struct AffinityApplied {
  static constexpr FactInfo kInfo{17, "AffinityApplied", "index", "name"};
  int64_t index = 0;  ///< in spec.placement.clusterAffinities
  std::string name;
  bool operator==(const AffinityApplied&) const = default;
};

/// An affinity term under which no placement was possible (S-25).
struct AffinityFailed {
  static constexpr FactInfo kInfo{18, "AffinityFailed", "index", "name", "cause"};
  int64_t index = 0;  ///< in spec.placement.clusterAffinities
  std::string name;
  std::vector<Fact> cause;  ///< one: NoClusterFits, SelectionFailed or AssignmentFailed
  bool operator==(const AffinityFailed&) const = default;
};

/// With static weights, spread constraints do not count (S-30).
struct SpreadIgnored {
  static constexpr FactInfo kInfo{19, "SpreadIgnored"};
  bool operator==(const SpreadIgnored&) const = default;
};

/// A spread constraint that filters but does not select.
struct SpreadFiltersOnly {
  static constexpr FactInfo kInfo{20, "SpreadFiltersOnly", "field"};
  std::string field;  ///< "zone", "provider"
  bool operator==(const SpreadFiltersOnly&) const = default;
};

/// What the spread constraints selected.
struct SpreadSelected {
  static constexpr FactInfo kInfo{21, "SpreadSelected", "candidates", "selected"};
  ClusterIndexes candidates;  ///< in order (S-29)
  ClusterIndexes selected;
  bool operator==(const SpreadSelected&) const = default;
};

enum class Division : uint8_t { kStaticWeight = 0, kAvailableReplicas = 1, kAggregated = 2 };
enum class Scaling : uint8_t { kNone = 0, kUp = 1, kDown = 2, kFresh = 3 };

/// Replicas divided by weights, with the method of Webster (S-47).
struct Divided {
  static constexpr FactInfo kInfo{22, "Divided", "division", "scaling", "replicas", "clusters", "weights", "assigned"};
  Division division = Division::kStaticWeight;
  Scaling scaling = Scaling::kNone;
  int64_t replicas = 0;           ///< to divide
  ClusterIndexes clusters;        ///< in the order in which they were considered
  std::vector<int64_t> weights;   ///< for each of them
  std::vector<int64_t> assigned;  ///< replicas, in the order of the clusters' names
  bool operator==(const Divided&) const = default;
};

/// The replicas stay where they are.
struct ReplicasKept {
  static constexpr FactInfo kInfo{23, "ReplicasKept", "total", "clusters", "replicas"};
  int64_t total = 0;
  ClusterIndexes clusters;
  std::vector<int64_t> replicas;  ///< of each of them
  bool operator==(const ReplicasKept&) const = default;
};

/// What one tier of overflow affinities takes (S-61).
struct TierFilled {
  static constexpr FactInfo kInfo{24, "TierFilled", "tier", "available", "taken"};
  int64_t tier = 0;
  int64_t available = 0;
  int64_t taken = 0;
  bool operator==(const TierFilled&) const = default;
};

/// Every selected cluster gets all replicas.
struct Duplicated {
  static constexpr FactInfo kInfo{25, "Duplicated", "replicas"};
  int64_t replicas = 0;
  bool operator==(const Duplicated&) const = default;
};

/// Nothing to divide: the object goes whole to every selected cluster.
struct NotDivided {
  static constexpr FactInfo kInfo{26, "NotDivided", "components"};
  bool components = false;  ///< it has components, and is placed with all of them
  bool operator==(const NotDivided&) const = default;
};

/// Selected clusters without replicas that get the object all the same (S-46).
struct EmptyTargetsAdded {
  static constexpr FactInfo kInfo{27, "EmptyTargetsAdded", "count"};
  int64_t count = 0;
  bool operator==(const EmptyTargetsAdded&) const = default;
};

/// Summary: the clusters whose `replicas` are not -1 are the targets.
struct PlacementMade {
  static constexpr FactInfo kInfo{28, "PlacementMade"};
  bool operator==(const PlacementMade&) const = default;
};

/// Summary: the placement is kept, and the refusal that followed it is over.
struct PlacementKept {
  static constexpr FactInfo kInfo{29, "PlacementKept", "clusters", "replicas"};
  std::vector<std::string> clusters;
  std::vector<int64_t> replicas;  ///< of each of them
  bool operator==(const PlacementKept&) const = default;
};

/// Summary: no placement is possible.
struct PlacementFailed {
  static constexpr FactInfo kInfo{30, "PlacementFailed", "cause"};
  std::vector<Fact> cause;  ///< one: NoClusterFits, SelectionFailed, AssignmentFailed or PlacementInvalid
  bool operator==(const PlacementFailed&) const = default;
};

// Causes.

/// No cluster passes the filters (S-21).
struct NoClusterFits {
  static constexpr FactInfo kInfo{31, "NoClusterFits", "total", "reasons", "counts"};
  int64_t total = 0;            ///< clusters of the fleet
  std::vector<Fact> reasons;    ///< all different
  std::vector<int64_t> counts;  ///< clusters rejected for each of them
  bool operator==(const NoClusterFits&) const = default;
};

enum class SelectionFailure : uint8_t {
  kTooFewClusters = 0,
  kTooFewRegions = 1,
  kTooFewClustersInRegions = 2,
  kTooFewReplicas = 3,  ///< the clusters that may be selected have not enough available replicas
  kUnsupported = 4,     ///< spread by neither cluster nor region
};

/// The spread constraints cannot be met (S-32 to S-39).
struct SelectionFailed {
  static constexpr FactInfo kInfo{32, "SelectionFailed", "failure", "clusters"};
  SelectionFailure failure = SelectionFailure::kTooFewClusters;
  int64_t clusters = 0;  ///< that were to be selected; of kTooFewReplicas
  bool operator==(const SelectionFailed&) const = default;
};

/// The selected clusters have not enough available replicas, or no cluster was selected.
struct AssignmentFailed {
  static constexpr FactInfo kInfo{33, "AssignmentFailed", "noCluster", "scaling", "available"};
  bool no_cluster = false;
  Scaling scaling = Scaling::kNone;  ///< kNone: the last tier is full
  int64_t available = 0;             ///< replicas; unless kNone
  bool operator==(const AssignmentFailed&) const = default;
};

/// spec.placement or spec.replicas cannot be read.
struct PlacementInvalid {
  static constexpr FactInfo kInfo{34, "PlacementInvalid", "message"};
  std::string message;
  bool operator==(const PlacementInvalid&) const = default;
};

/// A FederatedResourceQuota of the namespace would be exceeded.
struct QuotaExceeded {
  static constexpr FactInfo kInfo{35, "QuotaExceeded", "namespace", "name", "resource", "requested", "limit"};
  std::string ns;
  std::string name;
  std::string resource;
  std::string requested;  ///< quantity: in use and requested, together
  std::string limit;      ///< quantity
  bool operator==(const QuotaExceeded&) const = default;
};

}  // namespace shiplog
