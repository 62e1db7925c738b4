#include "services/scheduler/filter/filter.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "services/scheduler/filter/rules.h"

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

bool passes(const std::vector<const Rule*>& rules, const Demand& demand, const Cluster& cluster,
            ClusterExplanation& why) {
  why.verdicts.reserve(rules.size());
  for (const Rule* rule : rules) {
    auto reason = rule->rejects(demand, cluster);
    Verdict& verdict = why.verdicts.emplace_back();
    verdict.rule = rule->name;
    if (!reason) continue;
    verdict.passed = false;
    verdict.reason = std::move(*reason);
    return false;
  }
  return true;
}

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
  std::vector<const Rule*> rules;
  for (const Rule& rule : kRules) {
    if (rule.applies(demand) && demand.around.plugin_on(rule.name)) rules.push_back(&rule);
  }
  for (const auto& [name, cluster] : clusters) {
    if (cluster.deleting) continue;  // counted in the total, but asked nothing
    ClusterExplanation& line = why.clusters.emplace_back();
    line.cluster = name;
    if (passes(rules, demand, cluster, line))
      candidates.push_back({&cluster, tier_of(demand, cluster), 0, 0, 0, why.clusters.size() - 1});
  }
  if (candidates.empty()) return Unplaced{Unplaced::Kind::kNoFit, no_fit(why.clusters, clusters.size())};
  return candidates;
}

}  // namespace shiplog::scheduler
