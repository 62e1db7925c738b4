#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "events/state/placement.h"
#include "events/state/work.h"
#include "tests/simulation/checks.h"
#include "tests/simulation/objects.h"

// The results of override policies and dependencies, computed from the users' objects alone and without the services'
// own code: slow and simple.

namespace shiplog::simulation {
namespace {

/// 0: not selected. The users here select by kinds, one label, and names.
int selected(const Value& policy, const std::string& policy_ns, const Value& object) {
  const Value& list = policy["spec"]["resourceSelectors"];
  if (list.size() == 0) return 1;
  int best = 0;
  for (const Value& one : list.items()) {
    const std::string ns = one["namespace"].is_empty() ? policy_ns : one["namespace"].str();
    if (one["kind"] != object["kind"] || (!ns.empty() && ns != object["metadata"]["namespace"].as_string())) continue;
    if (!one["name"].is_empty()) {
      if (one["name"] == object["metadata"]["name"]) best = std::max(best, 3);
      continue;
    }
    const Value& label = one["labelSelector"]["matchLabels"]["app"];
    if (label.is_null()) {
      best = std::max(best, 1);
    } else if (label == object["metadata"]["labels"]["app"]) {
      best = std::max(best, 2);
    }
  }
  return best;
}

/// The final value of label "team" for a template in a cluster; empty: no policy sets it.
std::string team_of(const State& state, const Value& object, const Cluster& cluster) {
  std::string team;
  for (const bool namespaced : {false, true}) {
    const std::string ns = namespaced ? object["metadata"]["namespace"].str() : "";
    if (namespaced && ns.empty()) continue;
    std::map<std::pair<int, std::string>, const Value*> in_order;
    const char* type = namespaced ? type::kOverridePolicy : type::kClusterOverridePolicy;
    for (const auto& [name, policy] : state.objects(type)) {
      if (name.ns != ns) continue;
      if (const int rank = selected(policy.value, ns, object); rank > 0)
        in_order[{rank, name.name.str()}] = &policy.value;
    }
    for (const auto& [rank, policy] : in_order) {
      for (const Value& rule : (*policy)["spec"]["overrideRules"].items()) {
        const Value& target = rule["targetCluster"];
        if (target.is_object() && !cluster_affinity_from(target).matches(cluster)) continue;
        for (const Value& one : rule["overriders"]["labelsOverrider"].items()) team = one["value"]["team"].str();
      }
    }
  }
  return team;
}

void check_teams(World& world, const ObjectKey& key, const Value& binding) {
  const State& state = world.reference.state();
  const Value& resource = binding["spec"]["resource"];
  const char* type = resource["kind"].as_string() == "Deployment" ? kDeployments : kConfigMaps;
  const Value& object = state.value_of({type, key.ns, resource["name"].str()});
  if (object.is_null() || resource["kind"].as_string() == "ClusterRole") return;
  const auto failures = condition_of(binding, kWorksSyncedCondition);
  const bool failed = failures["status"].as_string() == "False";
  for (const ObjectKey& work : state.labelled(label::kBindingId, label_of(binding, label::kBindingId))) {
    const Cluster* cluster = state.cluster(cluster_of_space(work.ns));
    if (work.type != type::kWork || cluster == nullptr || cluster->deleting) continue;
    if (failed && failures["message"].as_string().find("cluster(" + cluster->name + ")") != std::string_view::npos) {
      continue;
    }
    const auto evicting = binding["spec"]["gracefulEvictionTasks"].items();
    if (std::ranges::any_of(evicting,
                            [&](const Value& one) { return one["fromCluster"].as_string() == cluster->name; })) {
      continue;  // B-5: kept as it is
    }
    const Value& manifest = state.value_of(work)["spec"]["workload"]["manifests"][0];
    const std::string team = team_of(state, object, *cluster);
    if (label_of(manifest, "team") != team) {
      world.trace.broken("override", to_string(work) + " is of team \"" + std::string{label_of(manifest, "team")} +
                                         "\", its override policies say \"" + team + "\"");
    }
  }
}

/// What a Deployment's volumes name goes where its binding goes.
void check_follows(World& world, const ObjectKey& key, const Value& binding) {
  const State& state = world.reference.state();
  const bool propagates = binding["spec"]["propagateDeps"].as_bool() && !deleting(binding);
  const Value& object = state.value_of({kDeployments, key.ns, binding["spec"]["resource"]["name"].str()});
  std::set<std::string> named;
  for (const Value& volume : object["spec"]["template"]["spec"]["volumes"].items()) {
    named.insert(volume["configMap"]["name"].str());
  }
  for (const auto& [name, config] : state.objects(kConfigMaps, key.ns)) {
    const Value& attached = state.value_of({type::kResourceBinding, key.ns, name.name + "-configmap"});
    const auto required = attached["spec"]["requiredBy"].items();
    const auto entry =
        std::ranges::find_if(required, [&](const Value& one) { return one["name"].as_string() == key.name; });
    const bool follows = entry != required.end();
    const bool placed = binding["spec"]["clusters"].size() > 0;
    if (propagates && placed && !unclaimed(binding) && named.contains(name.name.str()) && !follows) {
      world.trace.broken("depend", name.name + " does not follow " + to_string(key));
    }
    if (follows && (!propagates || !named.contains(name.name.str())) && !unclaimed(binding)) {
      world.trace.broken("depend", name.name + " still follows " + to_string(key));
    }
    if (follows && (*entry)["clusters"] != binding["spec"]["clusters"] && placed) {
      world.trace.broken("depend", name.name + " follows " + to_string(key) + " elsewhere");
    }
  }
}

}  // namespace

bool unclaimed(const Value& binding) {
  return label_of(binding, label::kPolicyId).empty() && label_of(binding, label::kClusterPolicyId).empty();
}

void check_overrides(World& world) {
  const State& state = world.reference.state();
  for (const auto& [name, object] : state.objects(type::kResourceBinding)) {
    const ObjectKey key{type::kResourceBinding, name.ns, name.name};
    const Value& binding = object.value;
    // D-39: what has no policy stays as it was rendered last, unless something refers to it.
    if (!unclaimed(binding) || binding["spec"]["requiredBy"].size() > 0) check_teams(world, key, binding);
    if (binding["spec"]["resource"]["kind"].as_string() == "Deployment") check_follows(world, key, binding);
    for (const Value& one : binding["spec"]["requiredBy"].items()) {
      if (state.find({type::kResourceBinding, one["namespace"].str(), one["name"].str()}) == nullptr) {
        world.trace.broken("depend", to_string(key) + " follows " + one["name"].str() + ", which is gone");
      }
    }
  }
}

}  // namespace shiplog::simulation
