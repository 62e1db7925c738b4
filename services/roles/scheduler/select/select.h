#pragma once

#include <vector>

#include "events/explanation.h"
#include "services/roles/scheduler/demand.h"

namespace shiplog::scheduler {

/// Orders candidates (S-29: tier, score, available, name) and takes those that the spread constraints require
/// (S-30, S-31); the result keeps that order. PlacementFailure: kOther, SelectionFailed (S-32 to S-39).
Placed<std::vector<Candidate>> select(std::vector<Candidate> candidates, const Demand& demand, Explanation& why);

/// The first max_groups, traded for roomier ones where replicas are divided and room is short (S-32 to S-35).
Placed<std::vector<Candidate>> select_by_cluster(const std::vector<Candidate>& ordered, const SpreadConstraint& spread,
                                                 const Demand& demand);

/// Regions first, then clusters within them (S-36 to S-40).
Placed<std::vector<Candidate>> select_by_region(const std::vector<Candidate>& ordered, const SpreadConstraint& region,
                                                const SpreadConstraint* cluster, const Demand& demand);

/// Whether a precedes b (S-29).
bool goes_first(const Candidate& a, const Candidate& b);
/// In that order. In linear time where candidates come in the order of their lines.
void sort_candidates(std::vector<Candidate>& candidates);

}  // namespace shiplog::scheduler
