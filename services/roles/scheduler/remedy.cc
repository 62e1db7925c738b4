#include "services/roles/scheduler/remedy.h"

#include <algorithm>
#include <set>

#include "services/roles/scheduler/filter/rules.h"
#include "services/roles/scheduler/place.h"

namespace shiplog::scheduler {
namespace {

using Requirement = LabelSelector::Requirement;

/// Everything that a placement is made of, to be changed and tried.
struct PlacementTrial {
  Binding binding;
  Placement placement;
  Clusters clusters;
  bool fresh = false;
  std::string name;  // of the cluster in question
  PlacementContext context;

  Cluster& cluster() { return clusters.at(name); }

  bool chosen() const {
    Explanation unread;
    FleetTable fleet{clusters};
    const auto placed = place_by_terms(fleet, {binding, placement, nullptr, fresh, context}, unread);
    return placed.targets &&
           std::ranges::any_of(placed.targets.value(), [&](const Target& target) { return target.cluster == name; });
  }
};

using Words = std::vector<std::string>;

std::string on(const PlacementTrial& scene) { return " cluster " + scene.name; }

bool holds(const Requirement& requirement, const std::map<std::string, std::string>& labels) {
  LabelSelector selector;
  selector.requirements.push_back(requirement);
  return selector.matches(labels);
}

void label(PlacementTrial& scene, const Requirement& requirement, Words& words) {
  auto& labels = scene.cluster().labels;
  if (holds(requirement, labels)) return;
  if (requirement.op == "In" && !requirement.values.empty()) {
    words.push_back("label" + on(scene) + " with " + requirement.key + "=" + requirement.values.front());
    labels[requirement.key] = requirement.values.front();
  } else if (requirement.op == "Exists") {
    words.push_back("label" + on(scene) + " with " + requirement.key);
    labels[requirement.key] = "";
  } else {
    words.push_back("take the label " + requirement.key + " off" + on(scene));
    labels.erase(requirement.key);
  }
}

void set_field(PlacementTrial& scene, const Requirement& requirement, Words& words) {
  Cluster& cluster = scene.cluster();
  ClusterAffinity only;
  only.fields.push_back(requirement);
  if (only.matches(cluster)) return;
  const bool absent = requirement.op == "DoesNotExist" || requirement.op == "NotIn";
  const std::string value = absent || requirement.values.empty() ? "" : requirement.values.front();
  const std::string field = "spec." + requirement.key + (requirement.key == "zone" ? "s" : "");
  words.push_back(absent          ? "clear " + field + " of" + on(scene)
                  : value.empty() ? "set " + field + " of" + on(scene)
                                  : "set " + field + " of" + on(scene) + " to " + value);
  const std::string set = absent ? "" : value.empty() ? "any" : value;
  if (requirement.key == "provider") cluster.provider = set;
  if (requirement.key == "region") cluster.region = set;
  if (requirement.key == "zone") {
    cluster.zones.clear();
    if (!absent) cluster.zones.push_back(set);
  }
}

/// `where`: the affinity's place in the policy's placement.
void extend_affinity(PlacementTrial& scene, ClusterAffinity& affinity, const std::string& where, Words& words) {
  if (std::erase(affinity.exclude, scene.name) > 0)
    words.push_back("take " + scene.name + " out of " + where + ".exclude");
  auto& names = affinity.cluster_names;
  if (!names.empty() && std::ranges::find(names, scene.name) == names.end()) {
    words.push_back("add " + scene.name + " to " + where + ".clusterNames");
    names.push_back(scene.name);
  }
  if (affinity.labels) {
    for (const Requirement& requirement : affinity.labels->requirements) label(scene, requirement, words);
  }
  for (const Requirement& requirement : affinity.fields) set_field(scene, requirement, words);
}

struct Attempt {
  PlacementTrial scene;
  Words words;
};

/// Every affinity term, with each of its overflow tiers, is a way in.
std::vector<Attempt> admitting_changes(const PlacementTrial& scene) {
  std::vector<Attempt> ways;
  const auto& terms = scene.placement.terms;
  if (terms.empty()) {
    ways.push_back({scene, {}});
    auto& [changed, words] = ways.back();
    if (changed.placement.affinity) extend_affinity(changed, *changed.placement.affinity, "clusterAffinity", words);
  }
  for (size_t term = 0; term < terms.size(); ++term) {
    const size_t tiers = scene.binding.workload ? terms[term].overflow.size() : 0;
    for (size_t tier = 0; tier <= tiers; ++tier) {
      ways.push_back({scene, {}});
      auto& [changed, words] = ways.back();
      AffinityTerm& in = changed.placement.terms[term];
      const std::string where = "clusterAffinities[" + in.name + "]" +
                                (tier == 0 ? "" : ".overflowAffinities[" + std::to_string(tier - 1) + "]");
      extend_affinity(changed, tier == 0 ? in.affinity : in.overflow[tier - 1], where, words);
    }
  }
  return ways;
}

void lift_taints(PlacementTrial& scene, Words& words) {
  if (!scene.context.plugin_on("TaintToleration")) return;
  const Demand demand{scene.binding, scene.placement};
  Cluster with_one = scene.cluster();
  for (const Taint& taint : Cluster{scene.cluster()}.taints) {
    with_one.taints = {taint};
    if (!taint_toleration(demand, with_one)) continue;
    words.push_back("take the taint " + to_string(taint) + " off" + on(scene) + ", or tolerate it in the policy");
    std::erase(scene.cluster().taints, taint);
  }
}

void lift_api(PlacementTrial& scene, Words& words) {
  if (!scene.context.plugin_on("APIEnablement")) return;
  const Demand demand{scene.binding, scene.placement, nullptr, scene.fresh, scene.context};
  if (!api_enablement(demand, scene.cluster())) return;
  words.push_back("serve " + scene.binding.api_version + " " + scene.binding.kind + " in" + on(scene));
  SharedList<std::string>& list = scene.cluster().api_enablements;
  std::vector<std::string> enabled{list.begin(), list.end()};
  enabled.insert(std::ranges::upper_bound(enabled, demand.enablement), demand.enablement);
  list = SharedList<std::string>{std::move(enabled)};
}

void lift_eviction(PlacementTrial& scene, Words& words) {
  if (!scene.context.plugin_on("ClusterEviction")) return;
  if (std::erase(scene.binding.evicting, scene.name) > 0) {
    words.push_back("wait until the eviction from" + on(scene) + " has ended");
  }
}

/// "a, b and 3 more".
std::string named(const std::vector<ObjectKey>& bindings) {
  constexpr size_t kMostNamed = 3;
  std::string text;
  for (size_t index = 0; index < std::min(kMostNamed, bindings.size()); ++index) {
    text += (index == 0 ? "" : ", ") + bindings[index].name;
  }
  return bindings.size() <= kMostNamed ? text : text + " and " + std::to_string(bindings.size() - kMostNamed) + " more";
}

/// Of the others of the group, those that have targets and are (or are not) on the cluster.
std::vector<ObjectKey> others(const AffinityGroup& group, const PlacementTrial& scene, bool there) {
  std::vector<ObjectKey> found;
  for (const auto& [key, targets] : group.members) {
    if (key == scene.binding.key || targets.empty()) continue;
    if (std::ranges::binary_search(targets, scene.name) == there) found.push_back(key);
  }
  return found;
}

void lift_groups(PlacementTrial& scene, Words& words) {
  const Demand demand{scene.binding, scene.placement, nullptr, scene.fresh, scene.context};
  if (scene.context.together != nullptr && scene.context.plugin_on("WorkloadAffinity") &&
      workload_affinity(demand, scene.cluster())) {
    words.push_back("place " + named(others(*scene.context.together, scene, false)) + " on" + on(scene) +
                    " too: it stays with them (" + scene.binding.affinity_group + ")");
    scene.context.together = nullptr;
  }
  if (scene.context.apart != nullptr && scene.context.plugin_on("WorkloadAntiAffinity") &&
      workload_anti_affinity(demand, scene.cluster())) {
    words.push_back("move " + named(others(*scene.context.apart, scene, true)) + " off" + on(scene) +
                    ": it stays apart from them (" + scene.binding.anti_affinity_group + ")");
    scene.context.apart = nullptr;
  }
}

/// Which region, zone or provider it should be in can matter: the first of the fleet's with which it is chosen.
void lift_spread(PlacementTrial& scene, Words& words) {
  if (!scene.context.plugin_on("SpreadConstraint")) return;
  for (const SpreadConstraint& spread : std::vector<SpreadConstraint>{scene.placement.spread}) {
    const auto topology_of = [&](const Cluster& cluster) {
      if (spread.field == "region") return cluster.region;
      if (spread.field == "provider") return cluster.provider;
      return cluster.zones.empty() ? std::string{} : cluster.zones.front();
    };
    const bool spreads = spread.field == "region" || spread.field == "provider" || spread.field == "zone";
    if (!spreads || !topology_of(scene.cluster()).empty()) continue;
    std::set<std::string> known;
    for (const auto& [name, cluster] : scene.clusters) known.insert(topology_of(cluster));
    known.erase("");
    std::vector<std::string> values{known.begin(), known.end()};
    values.push_back("one of its own");
    const auto set = [&](const std::string& value) {
      if (spread.field == "region") scene.cluster().region = value;
      if (spread.field == "provider") scene.cluster().provider = value;
      if (spread.field == "zone") scene.cluster().zones = {value};
    };
    std::string taken = values.front();
    for (const std::string& value : values) {
      set(value);
      if (!scene.chosen()) continue;
      taken = value;
      break;
    }
    set(taken);
    words.push_back("set spec." + spread.field + (spread.field == "zone" ? "s" : "") + " of" + on(scene) + ", to " +
                    taken);
  }
}

/// The smallest number from `least` on that works, by doubling and halving; nullopt: none up to `most` does.
template <class Works>
std::optional<int64_t> smallest(int64_t least, int64_t most, Works works) {
  int64_t fails = least - 1;
  int64_t step = 1;
  int64_t high = least;
  while (!works(high)) {
    if (high >= most) return std::nullopt;
    fails = high;
    high = std::min(most, high + step);
    step *= 2;
  }
  while (high - fails > 1) {
    const int64_t middle = fails + (high - fails) / 2;
    (works(middle) ? high : fails) = middle;
  }
  return high;
}

/// Each lever is tried alone, on a copy; the first that works is returned.
std::optional<std::string> widen_spread(const PlacementTrial& scene) {
  for (size_t index = 0; index < scene.placement.spread.size(); ++index) {
    const SpreadConstraint& spread = scene.placement.spread[index];
    // A set of components is for one cluster: with more it would be no set any more.
    const Demand demand{scene.binding, scene.placement, nullptr, scene.fresh, scene.context};
    if (spread.field == "cluster" && demand.goes_as_a_set()) continue;
    PlacementTrial tried = scene;
    const auto works = [&](int64_t groups) {
      tried.placement.spread[index].max_groups = groups;
      return tried.chosen();
    };
    const auto most = static_cast<int64_t>(scene.clusters.size());
    if (spread.max_groups >= most) continue;
    if (const auto groups = smallest(spread.max_groups + 1, most, works)) {
      return "raise maxGroups of the spread constraint by " + spread.field + " from " +
             std::to_string(spread.max_groups) + " to " + std::to_string(*groups);
    }
  }
  return std::nullopt;
}

std::optional<std::string> raise_weight(const PlacementTrial& scene) {
  if (!scene.binding.divisible() || scene.placement.strategy != Strategy::kStaticWeight) return std::nullopt;
  constexpr int64_t kMostWeight = 1'000'000;
  PlacementTrial tried = scene;
  ClusterAffinity self;
  self.cluster_names = {scene.name};
  tried.placement.weights.push_back({self, 0});
  const auto weight = smallest(1, kMostWeight, [&](int64_t value) {
    tried.placement.weights.back().weight = value;
    return tried.chosen();
  });
  if (!weight) return std::nullopt;
  return "give" + on(scene) + " a static weight of " + std::to_string(*weight);
}

/// For sets of its components, where they are placed as one.
std::optional<std::string> free_capacity_for_sets(const PlacementTrial& scene) {
  constexpr int64_t kMostSets = 1024;
  PlacementTrial tried = scene;
  const Cluster before = tried.cluster();
  const auto more = smallest(1, kMostSets, [&](int64_t sets) {
    auto& room = tried.cluster().room;
    room = before.room;
    const auto add = [&](const std::string& resource, int64_t units, int64_t milli, int64_t counted) {
      Cluster::Room& has = room[resource];
      has = {std::max<int64_t>(has.units, 0) + units * sets, std::max<int64_t>(has.milli, 0) + milli * sets,
             std::max<int64_t>(has.counted, 0) + counted * sets};
    };
    Cluster::Grade node{sets, {}};  // where nodes are reported, each set gets one
    for (const Component& component : scene.binding.components) {
      add("pods", component.replicas, 1000 * component.replicas, 1000 * component.replicas);
      for (const auto& [name, request] : component.request) {
        const int64_t units = request.units() * component.replicas;
        const int64_t milli = request.milli() * component.replicas;
        add(name, units, milli, component.counted.at(name) * component.replicas);
        node.least[name].units += units;
        node.least[name].milli += milli;
      }
    }
    tried.cluster().grades = before.grades;
    if (!before.grades.empty()) tried.cluster().grades.push_back(std::move(node));
    return tried.chosen();
  });
  if (!more) return std::nullopt;
  return "make room for " + (*more == 1 ? std::string{"one more set"} : std::to_string(*more) + " more sets") +
         " of its components in" + on(scene);
}

std::optional<std::string> free_capacity(const PlacementTrial& scene) {
  if (!scene.binding.workload) return std::nullopt;
  if (Demand{scene.binding, scene.placement, nullptr, scene.fresh, scene.context}.goes_as_a_set()) {
    return free_capacity_for_sets(scene);
  }
  PlacementTrial tried = scene;
  const Cluster before = tried.cluster();
  const auto more = smallest(1, std::max<int64_t>(2 * scene.binding.replicas, 2), [&](int64_t replicas) {
    auto& room = tried.cluster().room;
    room = before.room;
    const auto add = [&](const std::string& resource, int64_t units, int64_t milli) {
      Cluster::Room& has = room[resource];
      has.units = std::max<int64_t>(has.units, 0) + units * replicas;
      has.milli = std::max<int64_t>(has.milli, 0) + milli * replicas;
    };
    add("pods", 1, 1000);
    for (const auto& [name, request] : scene.binding.request) add(name, request.units(), request.milli());
    if (!before.grades.empty()) {  // where nodes are reported, more of them
      Cluster::Grade node{replicas, {}};
      for (const auto& [name, request] : scene.binding.request) node.least[name] = {request.units(), request.milli()};
      tried.cluster().grades = before.grades;
      tried.cluster().grades.push_back(std::move(node));
    }
    return tried.chosen();
  });
  if (!more) return std::nullopt;
  return "make room for " + std::to_string(*more) + " more replica" + (*more == 1 ? "" : "s") + " in" + on(scene);
}

std::optional<std::string> scale_up(const PlacementTrial& scene) {
  if (!scene.binding.divisible()) return std::nullopt;
  constexpr int64_t kMostTimes = 16;
  PlacementTrial tried = scene;
  const int64_t now = scene.binding.replicas;
  const auto replicas = smallest(now + 1, std::max<int64_t>(now, 1) * kMostTimes, [&](int64_t count) {
    tried.binding.replicas = count;
    return tried.chosen();
  });
  if (!replicas) return std::nullopt;
  return "scale it up from " + std::to_string(now) + " to " + std::to_string(*replicas) + " replicas";
}

std::optional<Words> single_change(const PlacementTrial& scene) {
  for (const auto lever : {widen_spread, raise_weight, free_capacity}) {
    if (auto words = lever(scene)) return Words{std::move(*words)};
  }
  if (!scene.fresh && !scene.binding.targets.empty()) {
    const char* afresh =
        "ask for a fresh placement with a WorkloadRebalancer: replicas that are placed stay where they are";
    PlacementTrial tried = scene;
    tried.fresh = true;
    if (tried.chosen()) return Words{afresh};
    if (auto words = free_capacity(tried)) return Words{afresh, std::move(*words)};
  }
  if (auto words = scale_up(scene)) return Words{std::move(*words)};
  return std::nullopt;
}

}  // namespace

std::optional<Remedy> remedy_for(const Binding& binding, const Placement& placement, const Clusters& clusters,
                                 const std::string& cluster, bool fresh, const PlacementContext& context) {
  const auto found = clusters.find(cluster);
  if (found == clusters.end() || found->second.deleting) return std::nullopt;
  PlacementTrial scene{binding, placement, clusters, fresh, cluster, context};
  if (scene.chosen()) return std::nullopt;
  std::vector<Attempt> ways = admitting_changes(scene);
  std::optional<Remedy> best;
  for (auto& [changed, words] : ways) {
    lift_api(changed, words);
    lift_taints(changed, words);
    lift_eviction(changed, words);
    lift_groups(changed, words);
    lift_spread(changed, words);
    if (changed.chosen() && (!best || words.size() < best->changes.size())) best = Remedy{words, true};
  }
  if (best) return best;
  for (const auto& [changed, words] : ways) {
    if (auto more = single_change(changed)) {
      Remedy remedy{words, true};
      remedy.changes.insert(remedy.changes.end(), more->begin(), more->end());
      return remedy;
    }
  }
  return Remedy{std::move(ways.front().words), false};
}

}  // namespace shiplog::scheduler
