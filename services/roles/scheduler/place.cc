#include "services/roles/scheduler/place.h"

#include <algorithm>
#include <map>
#include <optional>

#include "services/roles/scheduler/assign/assign.h"
#include "services/roles/scheduler/estimate/accurate.h"
#include "services/roles/scheduler/estimate/resource_summary.h"
#include "services/roles/scheduler/filter/filter.h"
#include "services/roles/scheduler/score/cluster_locality.h"
#include "services/roles/scheduler/select/select.h"

namespace shiplog::scheduler {
namespace {

/// Those that passed have one judgement; with scores, one for each score: few differ.
class ScoredJudgements {
 public:
  explicit ScoredJudgements(std::vector<Judgement>& judgements) : judgements_{judgements} {}

  uint32_t add(uint32_t passed, int64_t points) {
    const auto [known, is_new] = by_points_.try_emplace(points, passed);
    if (!is_new) return known->second;
    if (by_points_.size() > 1) {
      Judgement judgement = judgements_[passed - 1];
      judgement.scores.clear();
      judgements_.push_back(std::move(judgement));
      known->second = static_cast<uint32_t>(judgements_.size());
    }
    judgements_[known->second - 1].scores = {{"ClusterLocality", points}};
    return known->second;
  }

 private:
  std::vector<Judgement>& judgements_;
  std::map<int64_t, uint32_t> by_points_;
};

void rate(FleetTable& fleet, std::vector<Candidate>& candidates, const Demand& demand, Explanation& why) {
  const bool room = needs_capacity(demand);
  const Estimate estimate{demand, fleet};
  const bool locality = demand.context.plugin_on("ClusterLocality");
  if (room && demand.goes_as_a_set()) why.steps.emplace_back(RoomInSets{});
  if (room && demand.context.unsettled != nullptr) why.steps.emplace_back(RoomReserved{});
  const Accurate accurate{demand, candidates, why};
  ScoredJudgements scored{why.judgements};
  for (Candidate& candidate : candidates) {
    if (locality) candidate.score = cluster_locality(candidate);
    ClusterExplanation& line = why.clusters[candidate.line];
    if (locality && !demand.binding.targets.empty()) line.judgement = scored.add(line.judgement, candidate.score);
    if (!room) continue;
    candidate.allocatable = estimate(candidate.row);
    if (const auto bound = accurate.bound(candidate.cluster->name)) {
      candidate.allocatable = std::min(candidate.allocatable, *bound);
    }
    candidate.available = candidate.allocatable + (candidate.previous == nullptr ? 0 : candidate.previous->replicas);
    line.available_replicas = candidate.allocatable;
  }
}

void explain_plugins(const Demand& demand, Explanation& why) {
  PluginsDisabled disabled;
  for (const std::string& name : scheduler_plugin_names()) {
    if (!demand.context.plugin_on(name)) disabled.plugins.push_back(name);
  }
  if (!disabled.plugins.empty()) why.steps.emplace_back(std::move(disabled));
}

/// One cycle under one affinity term.
Placed<std::vector<Target>> place(FleetTable& fleet, const Demand& demand, Explanation& why) {
  SHIPLOG_TRY(auto candidates, filter(fleet, demand, why));
  rate(fleet, candidates, demand, why);
  SHIPLOG_TRY(const auto selected, select(std::move(candidates), demand, why));
  SHIPLOG_TRY(auto targets, assign(selected, demand, why));
  // Both are sorted by cluster.
  auto line = why.clusters.begin();
  for (const Target& target : targets) {
    while (line->cluster != target.cluster) ++line;
    line->replicas = target.replicas;
  }
  return targets;
}

}  // namespace

bool needs_capacity(const Demand& demand) {
  if (!demand.binding.workload) return false;
  if (demand.placement.strategy == Strategy::kDynamicWeight || demand.placement.strategy == Strategy::kAggregated) {
    return true;
  }
  return !demand.placement.spread.empty();
}

PlacementOutcome place_by_terms(FleetTable& fleet, Demand demand, Explanation& why) {
  explain_plugins(demand, why);
  const auto& terms = demand.placement.terms;
  if (terms.empty()) return {place(fleet, demand, why), ""};
  size_t first = 0;
  for (size_t index = 0; index < terms.size() && !demand.fresh; ++index) {
    if (terms[index].name == demand.binding.observed_affinity) first = index;
  }
  std::optional<PlacementFailure> first_failure;
  for (size_t index = first; index < terms.size(); ++index) {
    demand.term = &terms[index];
    auto targets = place(fleet, demand, why);
    if (targets) {
      why.steps.emplace_back(AffinityApplied{static_cast<int64_t>(index), terms[index].name});
      return {std::move(targets), terms[index].name};
    }
    why.steps.emplace_back(AffinityFailed{static_cast<int64_t>(index), terms[index].name, {targets.error().cause}});
    if (!first_failure) first_failure = targets.error();
  }
  return {std::move(*first_failure), demand.binding.observed_affinity};
}

}  // namespace shiplog::scheduler
