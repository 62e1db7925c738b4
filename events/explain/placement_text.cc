#include <algorithm>

#include "events/explain/fact_texts.h"
#include "events/explain/text.h"

namespace shiplog::explain {
namespace {

constexpr size_t kUsualLength = 16;  // of "member-12:100 "

std::string name_of_cluster(uint32_t index, const Explanation& of) {
  return index < of.clusters.size() ? of.clusters[index].cluster : "cluster " + std::to_string(index);
}

/// Numbers are missing only where another program wrote the entry.
int64_t number_at(const std::vector<int64_t>& numbers, size_t place) {
  return place < numbers.size() ? numbers[place] : 0;
}

void add_pair(std::string& text, const std::string& cluster, int64_t number) {
  if (!text.empty()) text += ' ';
  text += cluster;
  text += ':';
  text += std::to_string(number);
}

std::string or_nothing(std::string text) { return text.empty() ? "nothing" : text; }

/// "m1:2 m2:1".
std::string pairs(const ClusterIndexes& clusters, const std::vector<int64_t>& numbers, const Explanation& of) {
  std::string text;
  text.reserve(clusters.size() * kUsualLength);
  for (size_t place = 0; place < clusters.size(); ++place) {
    add_pair(text, name_of_cluster(clusters[place], of), number_at(numbers, place));
  }
  return text;
}

std::string names(const ClusterIndexes& clusters, const Explanation& of) {
  std::string text;
  for (const uint32_t index : clusters) text += (text.empty() ? "" : " ") + name_of_cluster(index, of);
  return text;
}

std::string cause_text(const std::vector<Fact>& cause) { return cause.empty() ? "" : text_of(cause.front()); }

const char* scaling_text(Scaling scaling) {
  switch (scaling) {
    case Scaling::kUp:
      return "scale up";
    case Scaling::kDown:
      return "scale down";
    case Scaling::kFresh:
      return "do fresh scale";
    case Scaling::kNone:
      break;
  }
  return "scale";
}

const char* trigger_text(PlacementTrigger trigger) {
  switch (trigger) {
    case PlacementTrigger::kPlacementChanged:
      return "its placement is new or has changed";
    case PlacementTrigger::kReplicasChanged:
      return "its number of replicas is not the one placed";
    case PlacementTrigger::kReschedulingRequested:
      return "rescheduling was asked for";
    case PlacementTrigger::kRefusedBefore:
      return "it was refused before";
    case PlacementTrigger::kFollowsClusters:
      return "objects without replicas, and duplicated ones, always follow the clusters";
    case PlacementTrigger::kTargetLeaving:
      break;
  }
  return "";
}

}  // namespace

std::string text(const Triggered& fact, const Explanation&) {
  if (fact.trigger == PlacementTrigger::kTargetLeaving) return "placed because target " + fact.cluster + " is leaving";
  return std::string{"placed because "} + trigger_text(fact.trigger);
}

std::string text(const PluginsDisabled& fact, const Explanation&) {
  std::string text;
  for (const std::string& plugin : fact.plugins) text += (text.empty() ? "" : ", ") + plugin;
  return "switched off by --plugins: " + text;
}

std::string text(const RoomInSets&, const Explanation&) { return "room is counted in whole sets of its components"; }

std::string text(const RoomReserved&, const Explanation&) {
  return "room leaves out what was placed in the last five minutes and is not healthy yet";
}

std::string text(const EstimatesUsed& fact, const Explanation& of) {
  std::string text;
  for (size_t place = 0; place < fact.clusters.size(); ++place) {
    text += (text.empty() ? "" : ", ") + name_of_cluster(fact.clusters[place], of) + " " +
            std::to_string(number_at(fact.replicas, place));
  }
  return "estimators say: " + text;
}

std::string text(const EstimatesIgnored& fact, const Explanation&) {
  return "estimators are left aside: that of " + fact.cluster + " " +
         (fact.asked ? "gave no answer: " + fact.failure : "was not asked");
}

std::string text(const DefinitionExpected& fact, const Explanation&) {
  std::string text =
      "not serving " + fact.kind + " yet, but CustomResourceDefinition " + fact.definition + " is placed there:";
  for (const std::string& cluster : fact.clusters) text += " " + cluster;
  return text;
}

std::string text(const AffinityApplied& fact, const Explanation&) { return "affinity " + fact.name + " is in force"; }

std::string text(const AffinityFailed& fact, const Explanation&) {
  return "affinity " + fact.name + " fails: " + cause_text(fact.cause);
}

std::string text(const SpreadIgnored&, const Explanation&) {
  return "static weights: spread constraints are not looked at";
}

std::string text(const SpreadFiltersOnly& fact, const Explanation&) {
  return "spread by " + fact.field + ": only leaves out clusters that have none";
}

std::string text(const SpreadSelected& fact, const Explanation& of) {
  return "spread constraints select, of " + std::to_string(fact.candidates.size()) + " clusters in order " +
         names(fact.candidates, of) + ": " + names(fact.selected, of);
}

std::string text(const Divided& fact, const Explanation& of) {
  std::string text;
  if (fact.division == Division::kStaticWeight) {
    text = "static weight: ";
  } else {
    text = fact.division == Division::kAggregated ? "aggregated, to " : "available replicas, to ";
    text += std::string{scaling_text(fact.scaling)} + ": ";
  }
  text += std::to_string(fact.replicas) + " replicas by weights";
  if (!fact.clusters.empty()) text += ' ';
  ClusterIndexes sorted = fact.clusters;
  std::ranges::sort(sorted);
  return text + pairs(fact.clusters, fact.weights, of) + " give " + or_nothing(pairs(sorted, fact.assigned, of));
}

std::string text(const ReplicasKept& fact, const Explanation& of) {
  return "the " + std::to_string(fact.total) + " replicas stay: " + or_nothing(pairs(fact.clusters, fact.replicas, of));
}

std::string text(const TierFilled& fact, const Explanation&) {
  return "tier " + std::to_string(fact.tier) + " has room for " + std::to_string(fact.available) + ", takes " +
         std::to_string(fact.taken);
}

std::string text(const Duplicated& fact, const Explanation&) {
  return "duplicated: " + std::to_string(fact.replicas) + " replicas on each cluster";
}

std::string text(const NotDivided& fact, const Explanation&) {
  return fact.components ? "its components are not divided: all of them go to every selected cluster"
                         : "no replicas to assign: the object goes to every selected cluster";
}

std::string text(const EmptyTargetsAdded& fact, const Explanation&) {
  return "the other " + std::to_string(fact.count) +
         " selected get it with 0 replicas (--enable-empty-workload-propagation)";
}

std::string text(const PlacementMade&, const Explanation& of) {
  std::string text;
  for (const ClusterExplanation& line : of.clusters) {
    if (line.replicas >= 0) add_pair(text, line.cluster, line.replicas);
  }
  return "placed on " + or_nothing(std::move(text));
}

std::string text(const PlacementKept& fact, const Explanation&) {
  std::string text;
  for (size_t place = 0; place < fact.clusters.size(); ++place) {
    add_pair(text, fact.clusters[place], number_at(fact.replicas, place));
  }
  return "stays on " + or_nothing(std::move(text)) + ": what was refused is no longer asked for";
}

std::string text(const PlacementFailed& fact, const Explanation&) {
  return "cannot be placed: " + cause_text(fact.cause);
}

std::string text(const NoClusterFits& fact, const Explanation&) {
  std::vector<std::string> items;
  for (size_t place = 0; place < fact.reasons.size(); ++place) {
    items.push_back(std::to_string(number_at(fact.counts, place)) + " " + text_of(fact.reasons[place]));
  }
  std::ranges::sort(items);
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return "0/" + std::to_string(fact.total) + " clusters are available: " + (text.empty() ? "no cluster exists" : text) +
         ".";
}

std::string text(const SelectionFailed& fact, const Explanation&) {
  const std::string begin = "failed to select clusters: ";
  switch (fact.failure) {
    case SelectionFailure::kTooFewClusters:
      return begin + "the number of feasible clusters is less than spreadConstraint.MinGroups";
    case SelectionFailure::kTooFewRegions:
      return begin + "the number of feasible region is less than spreadConstraint.MinGroups";
    case SelectionFailure::kTooFewClustersInRegions:
      return begin + "the number of clusters is less than the cluster spreadConstraint.MinGroups";
    case SelectionFailure::kTooFewReplicas:
      return begin + "no enough resource when selecting " + std::to_string(fact.clusters) + " clusters";
    case SelectionFailure::kUnsupported:
      break;
  }
  return begin + "just support cluster and region spread constraint";
}

std::string text(const AssignmentFailed& fact, const Explanation&) {
  const std::string begin = "failed to assign replicas: ";
  if (fact.no_cluster) return begin + "no clusters available to schedule";
  if (fact.scaling == Scaling::kNone) return begin + "Clusters available replicas are not enough to schedule.";
  return begin + "failed to " + scaling_text(fact.scaling) + ": Clusters available replicas " +
         std::to_string(fact.available) + " are not enough to schedule.";
}

std::string text(const PlacementInvalid& fact, const Explanation&) { return fact.message; }

std::string text(const QuotaExceeded& fact, const Explanation&) {
  return "FederatedResourceQuota(" + fact.ns + "/" + fact.name + ") exceeded for resource " + fact.resource +
         ": requested sum " + fact.requested + ", limit " + fact.limit + ".";
}

}  // namespace shiplog::explain
