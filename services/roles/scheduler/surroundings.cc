#include "services/roles/scheduler/surroundings.h"

namespace shiplog::scheduler {

Surroundings surroundings_of(const State& state, const Binding& binding, UtcMillis now,
                             const DefinitionPlacement* definition) {
  Surroundings around;
  if (!binding.affinity_group.empty()) {
    around.together = state.affinities().together(binding.key.ns, binding.affinity_group);
  }
  if (!binding.anti_affinity_group.empty()) {
    around.apart = state.affinities().apart(binding.key.ns, binding.anti_affinity_group);
  }
  around.component_sets = state.gates().multiple_pod_templates;
  if (state.gates().overcommit_protection) around.unsettled = &state.unsettled();
  around.now = now;
  around.options = &state.options();
  around.definition = definition;
  return around;
}

}  // namespace shiplog::scheduler
