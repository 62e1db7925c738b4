#include "services/roles/scheduler/filter/filter.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "services/roles/scheduler/filter/rules.h"

namespace shiplog::scheduler {
namespace {

bool always(const Demand&) { return true; }
bool spreads(const Demand& demand) { return !demand.placement.spread.empty(); }
bool evicts(const Demand& demand) { return !demand.binding.evicting.empty(); }
bool stays_together(const Demand& demand) { return demand.context.together != nullptr; }
bool stays_apart(const Demand& demand) { return demand.context.apart != nullptr; }

struct FilterPlugin {
  const char* name;
  bool (*applies)(const Demand&);  // else it rejects no cluster, and is not run
  std::optional<Fact> (*rejects)(const Demand&, const Cluster&);
};

// Upstream leaves the order open (S-19). Affinity is first: of an excluded cluster nothing else matters.
constexpr std::array<FilterPlugin, 7> kRules = {{{"ClusterAffinity", always, cluster_affinity},
                                                 {"APIEnablement", always, api_enablement},
                                                 {"TaintToleration", always, taint_toleration},
                                                 {"SpreadConstraint", spreads, spread_constraint},
                                                 {"ClusterEviction", evicts, cluster_eviction},
                                                 {"WorkloadAffinity", stays_together, workload_affinity},
                                                 {"WorkloadAntiAffinity", stays_apart, workload_anti_affinity}}};

constexpr int64_t kNoTier = 1000;

int64_t tier_of(const Demand& demand, const Cluster& cluster) {
  if (demand.term == nullptr || demand.term->affinity.matches(cluster)) return 0;
  for (size_t tier = 0; tier < demand.term->overflow.size(); ++tier) {
    if (demand.term->overflow[tier].matches(cluster)) return static_cast<int64_t>(tier) + 1;
  }
  return kNoTier;
}

/// Asks the rules, and keeps one judgement for all clusters that they judge alike.
class Judge {
 public:
  Judge(const Demand& demand, std::vector<Judgement>& judgements) : demand_{demand}, judgements_{judgements} {
    for (const FilterPlugin& rule : kRules) {
      if (rule.applies(demand) && demand.context.plugin_on(rule.name)) rules_.push_back(&rule);
    }
  }

  /// Sets the judgement of the line.
  bool passes(const Cluster& cluster, ClusterExplanation& line) {
    for (size_t rule = 0; rule < rules_.size(); ++rule) {
      auto reason = rules_[rule]->rejects(demand_, cluster);
      if (!reason) continue;
      line.judgement = rejected(rule, std::move(*reason));
      return false;
    }
    if (passed_ == 0) passed_ = add(rules_.size(), {});
    line.judgement = passed_;
    return true;
  }

 private:
  struct Rejection {
    size_t rule;
    uint32_t judgement;
  };

  uint32_t rejected(size_t rule, Fact reason) {
    // More different ones than this are not compared: the search would cost more than it saves.
    constexpr size_t kMostCompared = 32;
    for (const Rejection& known : rejections_) {
      if (known.rule == rule && judgements_[known.judgement - 1].verdicts.back().reason == reason) {
        return known.judgement;
      }
    }
    const uint32_t judgement = add(rule, std::move(reason));
    if (rejections_.size() < kMostCompared) rejections_.push_back({rule, judgement});
    return judgement;
  }

  /// All rules before `rejecting` let the cluster pass.
  uint32_t add(size_t rejecting, Fact reason) {
    Judgement& judgement = judgements_.emplace_back();
    judgement.verdicts.reserve(rejecting + 1);
    for (size_t rule = 0; rule < rejecting; ++rule) judgement.verdicts.push_back({rules_[rule]->name, true, {}});
    if (rejecting < rules_.size()) judgement.verdicts.push_back({rules_[rejecting]->name, false, std::move(reason)});
    return static_cast<uint32_t>(judgements_.size());
  }

  const Demand& demand_;
  std::vector<Judgement>& judgements_;
  std::vector<const FilterPlugin*> rules_;
  uint32_t passed_ = 0;
  std::vector<Rejection> rejections_;
};

/// Every cluster was rejected, or there is none.
NoClusterFits no_cluster_fits(const Explanation& why, size_t total) {
  std::vector<int64_t> counts(why.judgements.size() + 1, 0);
  for (const ClusterExplanation& line : why.clusters) ++counts[line.judgement];
  NoClusterFits none;
  none.total = static_cast<int64_t>(total);
  for (size_t judgement = 0; judgement < why.judgements.size(); ++judgement) {
    const Fact& reason = why.judgements[judgement].verdicts.back().reason;
    // Two rules may reject for the same reason.
    const auto known = std::ranges::find(none.reasons, reason);
    if (known == none.reasons.end()) {
      none.reasons.push_back(reason);
      none.counts.push_back(counts[judgement + 1]);
    } else {
      none.counts[static_cast<size_t>(known - none.reasons.begin())] += counts[judgement + 1];
    }
  }
  return none;
}

}  // namespace

Placed<std::vector<Candidate>> filter(const Clusters& clusters, const Demand& demand, Explanation& why) {
  std::vector<Candidate> candidates;
  candidates.reserve(clusters.size());
  why.clusters.clear();
  why.clusters.reserve(clusters.size());
  why.judgements.clear();
  Judge judge{demand, why.judgements};
  for (const auto& [name, cluster] : clusters) {
    if (cluster.deleting) continue;  // counted in the total, but not filtered
    ClusterExplanation& line = why.clusters.emplace_back();
    line.cluster = name;
    if (judge.passes(cluster, line)) {
      candidates.push_back(
          {&cluster, tier_of(demand, cluster), 0, 0, 0, static_cast<uint32_t>(why.clusters.size() - 1)});
    }
  }
  if (candidates.empty())
    return PlacementFailure{PlacementFailure::Kind::kNoFit, no_cluster_fits(why, clusters.size())};
  return candidates;
}

}  // namespace shiplog::scheduler
