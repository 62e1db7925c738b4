#include "events/codec/fact_samples.h"

#include <type_traits>
#include <utility>

namespace shiplog::samples {
namespace {

template <class Kind>
using Of = std::type_identity<Kind>;

Fact sample(Of<Text>) { return Text{"2 of 3 clusters fit"}; }
Fact sample(Of<Triggered>) { return Triggered{PlacementTrigger::kTargetLeaving, "m1"}; }
Fact sample(Of<PluginsDisabled>) { return PluginsDisabled{{"ClusterLocality", "TaintToleration"}}; }
Fact sample(Of<RoomInSets>) { return RoomInSets{}; }
Fact sample(Of<RoomReserved>) { return RoomReserved{}; }
Fact sample(Of<EstimatesUsed>) { return EstimatesUsed{{0, 1}, {2, -1}}; }
Fact sample(Of<EstimatesIgnored>) { return EstimatesIgnored{"m1", true, "no answer in time"}; }
Fact sample(Of<DefinitionExpected>) { return DefinitionExpected{"Sofa", "sofas.example.com", {"m1", "m2"}}; }
Fact sample(Of<AffinityApplied>) { return AffinityApplied{1, "far"}; }
Fact sample(Of<AffinityFailed>) { return AffinityFailed{1, "near", {NoClusterFits{2, {ApiNotEnabled{}}, {2}}}}; }
Fact sample(Of<SpreadIgnored>) { return SpreadIgnored{}; }
Fact sample(Of<SpreadFiltersOnly>) { return SpreadFiltersOnly{"zone"}; }
Fact sample(Of<SpreadSelected>) { return SpreadSelected{{1, 0}, {1}}; }
Fact sample(Of<Divided>) { return Divided{Division::kAggregated, Scaling::kUp, 9, {1, 0}, {2, 1}, {3, 6}}; }
Fact sample(Of<ReplicasKept>) { return ReplicasKept{5, {0, 1}, {2, 3}}; }
Fact sample(Of<TierFilled>) { return TierFilled{1, 20, 7}; }
Fact sample(Of<Duplicated>) { return Duplicated{3}; }
Fact sample(Of<NotDivided>) { return NotDivided{true}; }
Fact sample(Of<EmptyTargetsAdded>) { return EmptyTargetsAdded{2}; }
Fact sample(Of<PlacementMade>) { return PlacementMade{}; }
Fact sample(Of<PlacementKept>) { return PlacementKept{{"m1", "m2"}, {2, 1}}; }
Fact sample(Of<PlacementFailed>) { return PlacementFailed{{SelectionFailed{SelectionFailure::kTooFewRegions, 0}}}; }
Fact sample(Of<NoClusterFits>) { return NoClusterFits{3, {AffinityMismatch{}, ApiNotEnabled{}}, {2, 1}}; }
Fact sample(Of<SelectionFailed>) { return SelectionFailed{SelectionFailure::kTooFewReplicas, 2}; }
Fact sample(Of<AssignmentFailed>) { return AssignmentFailed{true, Scaling::kDown, 4}; }
Fact sample(Of<PlacementInvalid>) { return PlacementInvalid{"spec.placement: no object"}; }
Fact sample(Of<QuotaExceeded>) { return QuotaExceeded{"default", "team", "cpu", "12", "10"}; }
Fact sample(Of<AffinityMismatch>) { return AffinityMismatch{}; }
Fact sample(Of<ApiNotEnabled>) { return ApiNotEnabled{}; }
Fact sample(Of<TaintNotTolerated>) { return TaintNotTolerated{"dedicated", "gpu", "NoSchedule"}; }
Fact sample(Of<SpreadPropertyMissing>) { return SpreadPropertyMissing{"region"}; }
Fact sample(Of<EvictionInProgress>) { return EvictionInProgress{}; }
Fact sample(Of<AffinityGroupElsewhere>) { return AffinityGroupElsewhere{}; }
Fact sample(Of<AntiAffinityGroupPresent>) { return AntiAffinityGroupPresent{}; }
Fact sample(Of<PolicySelected>) {
  return PolicySelected{"deployments.apps/default/web", "default", "p", PolicyMatch::kLabels};
}
Fact sample(Of<PolicyForbidden>) {
  return PolicyForbidden{"default", "p", "its author ann may not get secrets in namespace default"};
}
Fact sample(Of<OnlyPolicy>) { return OnlyPolicy{true}; }
Fact sample(Of<PoliciesCompared>) { return PoliciesCompared{2}; }
Fact sample(Of<PolicyCompared>) {
  return PolicyCompared{"default", "p", 7, PolicyMatch::kLabels, PolicyRank::kLowerPriority};
}
Fact sample(Of<PoliciesOmitted>) { return PoliciesOmitted{5}; }
Fact sample(Of<ClaimKept>) { return ClaimKept{}; }
Fact sample(Of<PolicyPreempted>) { return PolicyPreempted{"default", "p", 7, "default", "q", 1}; }
Fact sample(Of<LazilyActivated>) { return LazilyActivated{}; }
Fact sample(Of<FailoverIgnored>) { return FailoverIgnored{}; }
Fact sample(Of<ReplicasInterpreted>) { return ReplicasInterpreted{3, R"({"resourceRequest":{"cpu":"1"}})"}; }
Fact sample(Of<ReplicasUnknown>) { return ReplicasUnknown{"ConfigMap"}; }
Fact sample(Of<ComponentInterpreted>) {
  return ComponentInterpreted{"jobmanager", 2, R"({"resourceRequest":{"cpu":"1"}})"};
}
Fact sample(Of<NoComponents>) { return NoComponents{}; }
Fact sample(Of<AffinityGroupJoined>) { return AffinityGroupJoined{"app", "shop", true}; }
Fact sample(Of<AffinityGroupMissing>) { return AffinityGroupMissing{"app", true}; }
Fact sample(Of<DependenciesFound>) { return DependenciesFound{"Deployment", "web", 2}; }
Fact sample(Of<DependencyFound>) {
  return DependencyFound{"ConfigMap", "default", "settings", R"({"matchLabels":{"a":"b"}})", true};
}
Fact sample(Of<DependencyAttached>) { return DependencyAttached{"ConfigMap", "settings", 1}; }
Fact sample(Of<ReferrerFollowed>) { return ReferrerFollowed{"default", "web-deployment", {"m1", "m2"}, true}; }
Fact sample(Of<ReferrerReleased>) { return ReferrerReleased{"default", "web-deployment"}; }
Fact sample(Of<DependencyPolicyConflict>) { return DependencyPolicyConflict{true, true}; }
Fact sample(Of<ManifestRendered>) { return ManifestRendered{"Deployment", "web", "m1", true, 2}; }
Fact sample(Of<OverrideApplied>) { return OverrideApplied{"default", "tag", 1, R"(/spec/replicas: 1 -> 2)"}; }
Fact sample(Of<OverridePolicyForbidden>) {
  return OverridePolicyForbidden{"default", "tag", "its author ann may not get secrets in namespace default"};
}
Fact sample(Of<TargetsRendered>) { return TargetsRendered{true}; }
Fact sample(Of<TargetsFailed>) { return TargetsFailed{2}; }
Fact sample(Of<OverrideFailed>) { return OverrideFailed{"default", "tag", "m1", 2, "no such path"}; }
Fact sample(Of<RenderFailed>) { return RenderFailed{"no such kind"}; }

template <size_t... Index>
std::vector<Fact> all(std::index_sequence<Index...>) {
  return {sample(Of<std::variant_alternative_t<Index, FactVariant>>{})...};
}

}  // namespace

std::vector<Fact> every_fact() { return all(std::make_index_sequence<std::variant_size_v<FactVariant>>{}); }

}  // namespace shiplog::samples
