#pragma once

#include <string>

#include "events/explanation.h"

// The text of each type of fact, for events/explain/text.cc. A new type needs one here.
namespace shiplog::explain {

std::string text(const Text& fact, const Explanation& of);

// placement_text.cc
std::string text(const Triggered& fact, const Explanation& of);
std::string text(const PluginsDisabled& fact, const Explanation& of);
std::string text(const RoomInSets& fact, const Explanation& of);
std::string text(const RoomReserved& fact, const Explanation& of);
std::string text(const EstimatesUsed& fact, const Explanation& of);
std::string text(const EstimatesIgnored& fact, const Explanation& of);
std::string text(const DefinitionExpected& fact, const Explanation& of);
std::string text(const AffinityApplied& fact, const Explanation& of);
std::string text(const AffinityFailed& fact, const Explanation& of);
std::string text(const SpreadIgnored& fact, const Explanation& of);
std::string text(const SpreadFiltersOnly& fact, const Explanation& of);
std::string text(const SpreadSelected& fact, const Explanation& of);
std::string text(const Divided& fact, const Explanation& of);
std::string text(const ReplicasKept& fact, const Explanation& of);
std::string text(const TierFilled& fact, const Explanation& of);
std::string text(const Duplicated& fact, const Explanation& of);
std::string text(const NotDivided& fact, const Explanation& of);
std::string text(const EmptyTargetsAdded& fact, const Explanation& of);
std::string text(const PlacementMade& fact, const Explanation& of);
std::string text(const PlacementKept& fact, const Explanation& of);
std::string text(const PlacementFailed& fact, const Explanation& of);
std::string text(const NoClusterFits& fact, const Explanation& of);
std::string text(const SelectionFailed& fact, const Explanation& of);
std::string text(const AssignmentFailed& fact, const Explanation& of);
std::string text(const PlacementInvalid& fact, const Explanation& of);
std::string text(const QuotaExceeded& fact, const Explanation& of);

// filter_text.cc
std::string text(const AffinityMismatch& fact, const Explanation& of);
std::string text(const ApiNotEnabled& fact, const Explanation& of);
std::string text(const TaintNotTolerated& fact, const Explanation& of);
std::string text(const SpreadPropertyMissing& fact, const Explanation& of);
std::string text(const EvictionInProgress& fact, const Explanation& of);
std::string text(const AffinityGroupElsewhere& fact, const Explanation& of);
std::string text(const AntiAffinityGroupPresent& fact, const Explanation& of);

// policy_text.cc
std::string text(const PolicySelected& fact, const Explanation& of);
std::string text(const PolicyForbidden& fact, const Explanation& of);
std::string text(const OnlyPolicy& fact, const Explanation& of);
std::string text(const PoliciesCompared& fact, const Explanation& of);
std::string text(const PolicyCompared& fact, const Explanation& of);
std::string text(const PoliciesOmitted& fact, const Explanation& of);
std::string text(const ClaimKept& fact, const Explanation& of);
std::string text(const PolicyPreempted& fact, const Explanation& of);
std::string text(const LazilyActivated& fact, const Explanation& of);
std::string text(const FailoverIgnored& fact, const Explanation& of);
std::string text(const ReplicasInterpreted& fact, const Explanation& of);
std::string text(const ReplicasUnknown& fact, const Explanation& of);
std::string text(const ComponentInterpreted& fact, const Explanation& of);
std::string text(const NoComponents& fact, const Explanation& of);
std::string text(const AffinityGroupJoined& fact, const Explanation& of);
std::string text(const AffinityGroupMissing& fact, const Explanation& of);

// dependency_text.cc
std::string text(const DependenciesFound& fact, const Explanation& of);
std::string text(const DependencyFound& fact, const Explanation& of);
std::string text(const DependencyAttached& fact, const Explanation& of);
std::string text(const ReferrerFollowed& fact, const Explanation& of);
std::string text(const ReferrerReleased& fact, const Explanation& of);
std::string text(const DependencyPolicyConflict& fact, const Explanation& of);

// render_text.cc
std::string text(const ManifestRendered& fact, const Explanation& of);
std::string text(const OverrideApplied& fact, const Explanation& of);
std::string text(const OverridePolicyForbidden& fact, const Explanation& of);
std::string text(const TargetsRendered& fact, const Explanation& of);
std::string text(const TargetsFailed& fact, const Explanation& of);
std::string text(const OverrideFailed& fact, const Explanation& of);
std::string text(const RenderFailed& fact, const Explanation& of);

}  // namespace shiplog::explain
