#include "services/programs/shiplogd/remedies.h"

#include <algorithm>
#include <optional>

#include "events/state/feature_gates.h"
#include "events/state/fleet_options.h"
#include "services/roles/scheduler/remedy.h"
#include "services/roles/scheduler/trigger.h"

namespace shiplog {
namespace {

/// What the state holds about the bindings beside this one.
struct Beside {
  AffinityIndex affinities;
  UnsettledIndex unsettled;
  FeatureGates gates;
  FleetOptions options;
  std::optional<scheduler::DefinitionPlacement> definition;

  explicit Beside(const api::PlacementInputs& scene) {
    for (const auto& [key, object] : scene.beside) {
      if (key.type == kFeatureGatesType) gates = feature_gates_from(object);
      if (key.type == kFleetOptionsType) options = fleet_options_from(object);
    }
    for (const auto& [key, object] : scene.beside) {
      if (key.type != type::kResourceBinding) continue;
      affinities.update(key, Value{}, object);
      if (gates.overcommit_protection) unsettled.move(key, Value{}, object);
    }
    const auto find = [&](const ObjectKey& wanted) -> const Value& {
      static const Value kMissing;
      const auto found = std::ranges::find(scene.beside, wanted, &std::pair<ObjectKey, Value>::first);
      return found == scene.beside.end() ? kMissing : found->second;
    };
    for (const auto& [key, object] : scene.beside) {
      const Value& resource = object["spec"]["resource"];
      if (key.type != type::kClusterResourceBinding || resource["kind"].as_string() != "CustomResourceDefinition")
        continue;
      definition = scheduler::definition_placement(resource["name"].str(), object, find);
    }
  }

  scheduler::PlacementContext context(const Binding& binding, UtcMillis now) const {
    const bool groups = gates.workload_affinity;
    return {.together = groups ? affinities.together(binding.key.ns, binding.affinity_group) : nullptr,
            .apart = groups ? affinities.apart(binding.key.ns, binding.anti_affinity_group) : nullptr,
            .component_sets = gates.multiple_pod_templates,
            .unsettled = gates.overcommit_protection ? &unsettled : nullptr,
            .now = now,
            .options = &options,
            .definition = definition ? &*definition : nullptr};
  }
};

}  // namespace

Result<std::map<std::string, api::ClusterRemedy>> placement_remedies(const api::PlacementInputs& scene,
                                                                     const std::vector<std::string>& names) {
  const Binding wanted = binding_from(scene.key, scene.binding);
  SHIPLOG_TRY(const Placement placement, placement_from(wanted.placement));
  scheduler::Clusters clusters;
  for (const Value& cluster_object : scene.fleet) {
    Cluster cluster = cluster_from(cluster_object);
    std::string name = cluster.name;
    clusters.emplace(std::move(name), std::move(cluster));
  }
  const Beside beside{scene};
  const bool fresh = scheduler::reschedule_requested(scene.binding, scene.now);
  std::map<std::string, api::ClusterRemedy> remedies;
  for (const std::string& cluster : names) {
    auto found = scheduler::remedy_for(wanted, placement, clusters, cluster, fresh, beside.context(wanted, scene.now));
    if (found) remedies[cluster] = {std::move(found->changes), found->chosen};
  }
  return remedies;
}

}  // namespace shiplog
