#pragma once

#include <string>

#include "events/explanation.h"

namespace shiplog {

/// The text of a fact: for `why`, `history`, Events, conditions and logs. `of`: the explanation that it is part of,
/// which has the names of its clusters. Pure. Where a text enters an object (PlacementRefused, QuotaRefused,
/// WorksSynced), the event keeps it, so that a later wording does not change what was folded.
std::string text_of(const Fact& fact, const Explanation& of);
/// Of one that refers to no cluster by its place.
std::string text_of(const Fact& fact);

/// "PropagationPolicy default/web", "ClusterPropagationPolicy all".
std::string propagation_policy_text(const std::string& policy_namespace, const std::string& policy);
/// "override policy(default/tag)", "cluster override policy(all)": as in Karmada's Events.
std::string override_policy_text(const std::string& policy_namespace, const std::string& policy);

}  // namespace shiplog
