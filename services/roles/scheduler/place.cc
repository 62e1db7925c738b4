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

void rate(std::vector<Candidate>& candidates, const Demand& demand, Explanation& why) {
  const bool room = asks_for_room(demand);
  const Estimate estimate{demand};
  const bool locality = demand.around.plugin_on("ClusterLocality");
  if (room && demand.goes_as_a_set()) why.steps.push_back("room is counted in whole sets of its components");
  if (room && demand.around.unsettled != nullptr) {
    why.steps.push_back("room leaves out what was placed in the last five minutes and is not healthy yet");
  }
  const Accurate accurate{demand, candidates, why};
  std::map<int64_t, SharedList<Score>> scores;  // few differ
  for (Candidate& candidate : candidates) {
    const Target* previous = demand.previous(candidate.cluster->name);
    if (locality) candidate.score = cluster_locality(demand, *candidate.cluster);
    ClusterExplanation& line = why.clusters[candidate.line];
    if (locality && !demand.binding.targets.empty()) {
      SharedList<Score>& score = scores[candidate.score];
      if (score.empty()) score = {{"ClusterLocality", candidate.score}};
      line.scores = score;
    }
    if (!room) continue;
    candidate.allocatable = estimate(*candidate.cluster);
    if (const auto bound = accurate.bound(candidate.cluster->name)) {
      candidate.allocatable = std::min(candidate.allocatable, *bound);
    }
    candidate.available = candidate.allocatable + (previous == nullptr ? 0 : previous->replicas);
    line.available_replicas = candidate.allocatable;
  }
}

void tell_what_is_off(const Demand& demand, Explanation& why) {
  std::string off;
  for (const std::string& name : scheduler_plugin_names()) {
    if (!demand.around.plugin_on(name)) off += (off.empty() ? "" : ", ") + name;
  }
  if (!off.empty()) why.steps.push_back("switched off by --plugins: " + off);
}

/// One cycle under one affinity term.
Placed<std::vector<Target>> place(const Clusters& clusters, const Demand& demand, Explanation& why) {
  SHIPLOG_TRY(auto candidates, filter(clusters, demand, why));
  rate(candidates, demand, why);
  auto selected = select(std::move(candidates), demand, why);
  if (!selected) return selected.error().context("failed to select clusters");
  auto targets = assign(selected.value(), demand, why);
  if (!targets) return targets.error().context("failed to assign replicas");
  // Both are sorted by cluster.
  auto line = why.clusters.begin();
  for (const Target& target : targets.value()) {
    while (line->cluster != target.cluster) ++line;
    line->replicas = target.replicas;
  }
  return targets;
}

}  // namespace

bool asks_for_room(const Demand& demand) {
  if (!demand.binding.workload) return false;
  if (demand.placement.strategy == Strategy::kDynamicWeight || demand.placement.strategy == Strategy::kAggregated) {
    return true;
  }
  return !demand.placement.spread.empty();
}

Outcome place_by_terms(const Clusters& clusters, Demand demand, Explanation& why) {
  tell_what_is_off(demand, why);
  const auto& terms = demand.placement.terms;
  if (terms.empty()) return {place(clusters, demand, why), ""};
  size_t first = 0;
  for (size_t at = 0; at < terms.size() && !demand.fresh; ++at) {
    if (terms[at].name == demand.binding.observed_affinity) first = at;
  }
  std::optional<Unplaced> first_failure;
  for (size_t at = first; at < terms.size(); ++at) {
    demand.term = &terms[at];
    auto targets = place(clusters, demand, why);
    if (targets) {
      why.steps.push_back("affinity " + terms[at].name + " is in force");
      return {std::move(targets), terms[at].name};
    }
    why.steps.push_back("affinity " + terms[at].name + " fails: " + targets.error().message);
    if (!first_failure) first_failure = targets.error();
  }
  return {std::move(*first_failure), demand.binding.observed_affinity};
}

}  // namespace shiplog::scheduler
