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

/// Of a cluster that is no target of the binding, and is not waiting for its definition.
enum class RuleReads {
  kPlacement,  ///< nothing but the cluster, the placement and the binding's kind: the verdict is kept
  kMore,
};

struct FilterPlugin {
  const char* name;
  RuleReads reads;
  bool (*applies)(const Demand&);  // else it rejects no cluster, and is not run
  std::optional<Fact> (*rejects)(const Demand&, const Cluster&);
};

// Upstream leaves the order open (S-19). Affinity is first: of an excluded cluster nothing else matters.
constexpr std::array<FilterPlugin, 7> kRules = {
    {{"ClusterAffinity", RuleReads::kPlacement, always, cluster_affinity},
     {"APIEnablement", RuleReads::kPlacement, always, api_enablement},
     {"TaintToleration", RuleReads::kPlacement, always, taint_toleration},
     {"SpreadConstraint", RuleReads::kPlacement, spreads, spread_constraint},
     {"ClusterEviction", RuleReads::kMore, evicts, cluster_eviction},
     {"WorkloadAffinity", RuleReads::kMore, stays_together, workload_affinity},
     {"WorkloadAntiAffinity", RuleReads::kMore, stays_apart, workload_anti_affinity}}};
static_assert(std::is_sorted(kRules.begin(), kRules.end(),
                             [](const FilterPlugin& a, const FilterPlugin& b) { return a.reads < b.reads; }),
              "rules whose verdict is kept come first");

constexpr int64_t kNoTier = 1000;

int64_t tier_of(const Demand& demand, const Cluster& cluster) {
  if (demand.term == nullptr || demand.term->affinity.matches(cluster)) return 0;
  for (size_t tier = 0; tier < demand.term->overflow.size(); ++tier) {
    if (demand.term->overflow[tier].matches(cluster)) return static_cast<int64_t>(tier) + 1;
  }
  return kNoTier;
}

/// The name of what the static rules find: of all that they read besides the cluster.
std::string name_of_static_verdicts(const Demand& demand) {
  std::string name{demand.placement_json};
  name += '\n' + demand.enablement + '\n';
  // The term is one of the placement's.
  name += demand.term == nullptr ? "-" : std::to_string(demand.term - demand.placement.terms.data());
  name += demand.binding.workload ? 'w' : '-';  // overflow is about replicas
  for (const FilterPlugin& rule : kRules) name += demand.context.plugin_on(rule.name) ? '+' : '-';
  return name;
}

/// Asks the rules, and keeps one judgement for all clusters that they judge alike.
class Judge {
 public:
  Judge(FleetTable& fleet, const Demand& demand, std::vector<Judgement>& judgements)
      : fleet_{fleet}, demand_{demand}, judgements_{judgements} {
    for (const FilterPlugin& rule : kRules) {
      if (!rule.applies(demand) || !demand.context.plugin_on(rule.name)) continue;
      rules_.push_back(&rule);
      if (rule.reads == RuleReads::kPlacement) ++static_rules_;
    }
    if (!demand.placement_json.empty()) known_ = &fleet.verdicts(name_of_static_verdicts(demand));
  }

  /// Sets the judgement of the line. `target`: what the binding has there now.
  bool passes(size_t row, const Target* target, ClusterExplanation& line) {
    const Cluster& cluster = fleet_.cluster(row);
    size_t first = 0;
    if (known_ != nullptr && target == nullptr && !waits_for_definition(cluster)) {
      const uint32_t code = static_verdict(row);
      if (code >= StaticVerdicts::kFirstRejection) {
        line.judgement = judgement_of(code - StaticVerdicts::kFirstRejection);
        return false;
      }
      first = static_rules_;
    }
    for (size_t rule = first; rule < rules_.size(); ++rule) {
      const auto reason = rules_[rule]->rejects(demand_, cluster);
      if (!reason) continue;
      line.judgement = rejected(rule, *reason).judgement;
      return false;
    }
    if (passed_ == 0) passed_ = add(rules_.size(), {});
    line.judgement = passed_;
    return true;
  }

 private:
  struct Rejected {
    size_t rule;
    uint32_t judgement;
    bool compared = true;  ///< another cluster that is rejected alike finds it
  };

  bool waits_for_definition(const Cluster& cluster) const {
    const auto* definition = demand_.context.definition;
    return definition != nullptr && definition->clusters.contains(cluster.name);
  }

  uint32_t static_verdict(size_t row) {
    uint32_t& code = known_->codes[row];
    if (code != StaticVerdicts::kUnknown) return code;
    for (size_t rule = 0; rule < static_rules_; ++rule) {
      auto reason = rules_[rule]->rejects(demand_, fleet_.cluster(row));
      if (!reason) continue;
      return code = StaticVerdicts::kFirstRejection + static_cast<uint32_t>(place_of(rule, std::move(*reason)));
    }
    return code = StaticVerdicts::kPasses;
  }

  size_t place_of(size_t rule, Fact reason) {
    auto& known = known_->rejections;
    const size_t compared = std::min(known.size(), kMostCompared);
    for (size_t place = 0; place < compared; ++place) {
      if (known[place].rule == rule && known[place].reason == reason) return place;
    }
    known.push_back({rule, std::move(reason)});
    return known.size() - 1;
  }

  uint32_t judgement_of(size_t rejection) {
    if (judgement_of_.size() <= rejection) judgement_of_.resize(known_->rejections.size(), 0);
    if (judgement_of_[rejection] != 0) return judgement_of_[rejection];
    const StaticVerdicts::Rejection& known = known_->rejections[rejection];
    const Rejected found = rejected(known.rule, known.reason);
    if (found.compared) judgement_of_[rejection] = found.judgement;
    return found.judgement;
  }

  Rejected rejected(size_t rule, const Fact& reason) {
    for (const Rejected& known : rejections_) {
      if (known.rule == rule && judgements_[known.judgement - 1].verdicts.back().reason == reason) return known;
    }
    Rejected made{rule, add(rule, reason), rejections_.size() < kMostCompared};
    if (made.compared) rejections_.push_back(made);
    return made;
  }

  /// All rules before `rejecting` let the cluster pass.
  uint32_t add(size_t rejecting, const Fact& reason) {
    Judgement& judgement = judgements_.emplace_back();
    judgement.verdicts.reserve(rejecting + 1);
    for (size_t rule = 0; rule < rejecting; ++rule) judgement.verdicts.push_back({rules_[rule]->name, true, {}});
    if (rejecting < rules_.size()) judgement.verdicts.push_back({rules_[rejecting]->name, false, reason});
    return static_cast<uint32_t>(judgements_.size());
  }

  // More different ones than this are not compared: the search would cost more than it saves.
  static constexpr size_t kMostCompared = 32;

  FleetTable& fleet_;
  const Demand& demand_;
  std::vector<Judgement>& judgements_;
  std::vector<const FilterPlugin*> rules_;
  size_t static_rules_ = 0;  // they come first
  StaticVerdicts* known_ = nullptr;
  uint32_t passed_ = 0;
  std::vector<Rejected> rejections_;
  std::vector<uint32_t> judgement_of_;  // of known_->rejections; 0: none yet
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

Placed<std::vector<Candidate>> filter(FleetTable& fleet, const Demand& demand, Explanation& why) {
  std::vector<Candidate> candidates;
  candidates.reserve(fleet.size());
  why.clusters.clear();
  why.clusters.reserve(fleet.size());
  why.judgements.clear();
  Judge judge{fleet, demand, why.judgements};
  std::vector<const Target*> targets;
  if (!demand.binding.targets.empty()) targets = fleet.targets_by_row(demand);
  for (size_t row = 0; row < fleet.size(); ++row) {
    const Cluster& cluster = fleet.cluster(row);
    if (cluster.deleting) continue;  // counted in the total, but not filtered
    const Target* target = targets.empty() ? nullptr : targets[row];
    ClusterExplanation& line = why.clusters.emplace_back();
    line.cluster = cluster.name;
    if (!judge.passes(row, target, line)) continue;
    Candidate& candidate = candidates.emplace_back();
    candidate.cluster = &cluster;
    candidate.previous = target;
    candidate.tier = tier_of(demand, cluster);
    candidate.line = static_cast<uint32_t>(why.clusters.size() - 1);
    candidate.row = static_cast<uint32_t>(row);
  }
  if (candidates.empty()) return PlacementFailure{PlacementFailure::Kind::kNoFit, no_cluster_fits(why, fleet.size())};
  return candidates;
}

}  // namespace shiplog::scheduler
