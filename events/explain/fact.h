#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "events/base/alternative.h"
#include "events/explain/dependency_facts.h"
#include "events/explain/fact_info.h"
#include "events/explain/filter_facts.h"
#include "events/explain/placement_facts.h"
#include "events/explain/policy_facts.h"
#include "events/explain/render_facts.h"

namespace shiplog {

/// What a build before typed facts, or one newer than this, wrote. Roles never make one; empty: nothing is explained.
struct Text {
  static constexpr FactInfo kInfo{1, "Text", "text"};
  std::string text;
  bool operator==(const Text&) const = default;
};

/// The alternatives of Fact.
using FactVariant =
    std::variant<Text,
                 // scheduler: steps and summaries
                 Triggered, PluginsDisabled, RoomInSets, RoomReserved, EstimatesUsed, EstimatesIgnored,
                 DefinitionExpected, AffinityApplied, AffinityFailed, SpreadIgnored, SpreadFiltersOnly, SpreadSelected,
                 Divided, ReplicasKept, TierFilled, Duplicated, NotDivided, EmptyTargetsAdded, PlacementMade,
                 PlacementKept, PlacementFailed,
                 // scheduler: causes
                 NoClusterFits, SelectionFailed, AssignmentFailed, PlacementInvalid, QuotaExceeded,
                 // scheduler: verdicts
                 AffinityMismatch, ApiNotEnabled, TaintNotTolerated, SpreadPropertyMissing, EvictionInProgress,
                 AffinityGroupElsewhere, AntiAffinityGroupPresent,
                 // binder
                 PolicySelected, PolicyForbidden, OnlyPolicy, PoliciesCompared, PolicyCompared, PoliciesOmitted,
                 ClaimKept, PolicyPreempted, LazilyActivated, FailoverIgnored, ReplicasInterpreted, ReplicasUnknown,
                 ComponentInterpreted, NoComponents, AffinityGroupJoined, AffinityGroupMissing,
                 // distributor
                 DependenciesFound, DependencyFound, DependencyAttached, ReferrerFollowed, ReferrerReleased,
                 DependencyPolicyConflict,
                 // dispatcher
                 ManifestRendered, OverrideApplied, OverridePolicyForbidden, TargetsRendered, TargetsFailed,
                 OverrideFailed, RenderFailed>;

/// One typed fact of an explanation. Each has a message in schemas/events/v1/facts.proto and a text in
/// events/explain/text.cc; one without a text does not compile. std::visit, std::get_if and the rest work on it. A
/// class, so that copying and destroying the alternatives is compiled once.
class Fact : public FactVariant {
 public:
  Fact();
  template <class Kind>
  requires kIsAlternative<Kind, FactVariant> Fact(Kind fact);  // implicit, as with a variant
  Fact(const Fact& other);
  Fact(Fact&& other) noexcept;
  Fact& operator=(const Fact& other);
  Fact& operator=(Fact&& other) noexcept;
  ~Fact();
  bool operator==(const Fact& other) const;

  /// Nothing is explained.
  bool empty() const;
};

}  // namespace shiplog
