#include "services/roles/scheduler/placement_context.h"

namespace shiplog::scheduler {

PlacementContext placement_context_of(const State& state, const Binding& binding, UtcMillis now,
                                      const DefinitionPlacement* definition) {
  PlacementContext context;
  const FeatureGates gates = state.gates();
  if (gates.workload_affinity && !binding.affinity_group.empty()) {
    context.together = state.affinities().together(binding.key.ns, binding.affinity_group);
  }
  if (gates.workload_affinity && !binding.anti_affinity_group.empty()) {
    context.apart = state.affinities().apart(binding.key.ns, binding.anti_affinity_group);
  }
  context.component_sets = gates.multiple_pod_templates;
  if (gates.overcommit_protection) context.unsettled = &state.unsettled();
  context.now = now;
  context.options = &state.options();
  context.definition = definition;
  return context;
}

}  // namespace shiplog::scheduler
