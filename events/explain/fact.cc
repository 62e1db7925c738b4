#include "events/explain/fact.h"

#include <utility>

namespace shiplog {

Fact::Fact() = default;
template <class Kind>
requires kIsAlternative<Kind, FactVariant> Fact::Fact(Kind fact) : FactVariant{std::move(fact)} {}

Fact::Fact(const Fact& other) = default;
Fact::Fact(Fact&& other) noexcept = default;
Fact& Fact::operator=(const Fact& other) = default;
Fact& Fact::operator=(Fact&& other) noexcept = default;
Fact::~Fact() = default;

bool Fact::operator==(const Fact& other) const {
  return static_cast<const FactVariant&>(*this) == static_cast<const FactVariant&>(other);
}

bool Fact::empty() const {
  const auto* text = std::get_if<Text>(this);
  return text != nullptr && text->text.empty();
}

template Fact::Fact(Text);
template Fact::Fact(Triggered);
template Fact::Fact(PluginsDisabled);
template Fact::Fact(RoomInSets);
template Fact::Fact(RoomReserved);
template Fact::Fact(EstimatesUsed);
template Fact::Fact(EstimatesIgnored);
template Fact::Fact(DefinitionExpected);
template Fact::Fact(AffinityApplied);
template Fact::Fact(AffinityFailed);
template Fact::Fact(SpreadIgnored);
template Fact::Fact(SpreadFiltersOnly);
template Fact::Fact(SpreadSelected);
template Fact::Fact(Divided);
template Fact::Fact(ReplicasKept);
template Fact::Fact(TierFilled);
template Fact::Fact(Duplicated);
template Fact::Fact(NotDivided);
template Fact::Fact(EmptyTargetsAdded);
template Fact::Fact(PlacementMade);
template Fact::Fact(PlacementKept);
template Fact::Fact(PlacementFailed);
template Fact::Fact(NoClusterFits);
template Fact::Fact(SelectionFailed);
template Fact::Fact(AssignmentFailed);
template Fact::Fact(PlacementInvalid);
template Fact::Fact(QuotaExceeded);
template Fact::Fact(AffinityMismatch);
template Fact::Fact(ApiNotEnabled);
template Fact::Fact(TaintNotTolerated);
template Fact::Fact(SpreadPropertyMissing);
template Fact::Fact(EvictionInProgress);
template Fact::Fact(AffinityGroupElsewhere);
template Fact::Fact(AntiAffinityGroupPresent);
template Fact::Fact(PolicySelected);
template Fact::Fact(PolicyForbidden);
template Fact::Fact(OnlyPolicy);
template Fact::Fact(PoliciesCompared);
template Fact::Fact(PolicyCompared);
template Fact::Fact(PoliciesOmitted);
template Fact::Fact(ClaimKept);
template Fact::Fact(PolicyPreempted);
template Fact::Fact(LazilyActivated);
template Fact::Fact(FailoverIgnored);
template Fact::Fact(ReplicasInterpreted);
template Fact::Fact(ReplicasUnknown);
template Fact::Fact(ComponentInterpreted);
template Fact::Fact(NoComponents);
template Fact::Fact(AffinityGroupJoined);
template Fact::Fact(AffinityGroupMissing);
template Fact::Fact(DependenciesFound);
template Fact::Fact(DependencyFound);
template Fact::Fact(DependencyAttached);
template Fact::Fact(ReferrerFollowed);
template Fact::Fact(ReferrerReleased);
template Fact::Fact(DependencyPolicyConflict);
template Fact::Fact(ManifestRendered);
template Fact::Fact(OverrideApplied);
template Fact::Fact(OverridePolicyForbidden);
template Fact::Fact(TargetsRendered);
template Fact::Fact(TargetsFailed);
template Fact::Fact(OverrideFailed);
template Fact::Fact(RenderFailed);

}  // namespace shiplog
