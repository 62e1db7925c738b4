#include "services/roles/scheduler/filter/filter.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "services/roles/scheduler/filter/rules.h"

namespace shiplog::scheduler {
namespace {

bool always(const Demand&) { return true; }
bool spreads(const Demand& demand) { return !demand.placement.spread.empty(); }
bool evicts(const Demand& demand) { return !demand.binding.evicting.empty(); }
bool stays_together(const Demand& demand) { return demand.around.together != nullptr; }
bool stays_apart(const Demand& demand) { return demand.around.apart != nullptr; }

struct Rule {
  const char* name;
  bool (*applies)(const Demand&);  // else it has nothing to say of any cluster, and is not asked
  std::optional<std::string> (*rejects)(const Demand&, const Cluster&);
};

// Upstream leaves the order open (S-19). Affinity goes first: of a cluster that was never meant, nothing else matters.
constexpr std::array<Rule, 7> kRules = {{{"ClusterAffinity", always, cluster_affinity},
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

/// Asks the rules, and keeps one list of verdicts for all clusters that they judge alike.
class Judge {
 public:
  explicit Judge(const Demand& demand) : demand_{demand} {
    for (const Rule& rule : kRules) {
      if (rule.applies(demand) && demand.around.plugin_on(rule.name)) rules_.push_back(&rule);
    }
    passed_ = verdicts(rules_.size(), "");
  }

  bool passes(const Cluster& cluster, SharedList<Verdict>& why) {
    for (size_t at = 0; at < rules_.size(); ++at) {
      auto reason = rules_[at]->rejects(demand_, cluster);
      if (!reason) continue;
      why = rejected(at, *reason);
      return false;
    }
    why = passed_;
    return true;
  }

 private:
  const SharedList<Verdict>& rejected(size_t rule, const std::string& reason) {
    SharedList<Verdict>& known = rejected_[{rule, reason}];
    if (known.empty()) known = verdicts(rule, reason);
    return known;
  }

  /// All rules before `rejecting` let the cluster pass.
  SharedList<Verdict> verdicts(size_t rejecting, const std::string& reason) const {
    std::vector<Verdict> list;
    for (size_t at = 0; at < std::min(rejecting + 1, rules_.size()); ++at) {
      const bool passed = at < rejecting;
      list.push_back({rules_[at]->name, passed, passed ? "" : reason});
    }
    return SharedList<Verdict>{std::move(list)};
  }

  const Demand& demand_;
  std::vector<const Rule*> rules_;
  SharedList<Verdict> passed_;
  std::map<std::pair<size_t, std::string>, SharedList<Verdict>> rejected_;
};

std::string no_fit(const std::vector<ClusterExplanation>& clusters, size_t total) {
  std::map<std::string, int> counts;
  for (const ClusterExplanation& cluster : clusters) {
    if (!cluster.verdicts.empty()) ++counts[cluster.verdicts.back().reason];
  }
  const std::string head = "0/" + std::to_string(total) + " clusters are available: ";
  if (counts.empty()) return head + "no cluster exists.";
  std::vector<std::string> items;
  for (const auto& [reason, count] : counts) items.push_back(std::to_string(count) + " " + reason);
  std::sort(items.begin(), items.end());
  std::string list;
  for (const std::string& item : items) list += (list.empty() ? "" : ", ") + item;
  return head + list + ".";
}

}  // namespace

Placed<std::vector<Candidate>> filter(const Clusters& clusters, const Demand& demand, Explanation& why) {
  std::vector<Candidate> candidates;
  candidates.reserve(clusters.size());
  why.clusters.clear();
  why.clusters.reserve(clusters.size());
  Judge judge{demand};
  for (const auto& [name, cluster] : clusters) {
    if (cluster.deleting) continue;  // counted in the total, but asked nothing
    ClusterExplanation& line = why.clusters.emplace_back();
    line.cluster = name;
    if (judge.passes(cluster, line.verdicts))
      candidates.push_back({&cluster, tier_of(demand, cluster), 0, 0, 0, why.clusters.size() - 1});
  }
  if (candidates.empty()) return Unplaced{Unplaced::Kind::kNoFit, no_fit(why.clusters, clusters.size())};
  return candidates;
}

}  // namespace shiplog::scheduler
