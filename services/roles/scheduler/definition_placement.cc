#include "services/roles/scheduler/definition_placement.h"

#include "events/base/api_version.h"
#include "events/state/work.h"
#include "services/roles/scheduler/trigger.h"

namespace shiplog::scheduler {
namespace {

constexpr const char* kDefinitionKind = "CustomResourceDefinition";

/// The name of the definition of a binding's kind in the control plane; empty: there is none.
std::string definition_of(const State& state, const Binding& binding) {
  const std::string_view group = split_api_version(binding.api_version).group;
  if (group.find('.') == std::string_view::npos) return "";  // "apps": a definition's group is a domain
  for (const auto& [name, definition] : state.objects(type::kCustomResourceDefinition)) {
    const Value& spec = definition.value["spec"];
    if (spec["group"].as_string() == group && spec["names"]["kind"].as_string() == binding.kind) return name.name.str();
  }
  return "";
}

}  // namespace

ObjectKey definition_binding_key(const std::string& definition) {
  return binding_key({type::kCustomResourceDefinition, "", definition}, kDefinitionKind);
}

ObjectKey definition_work_key(const std::string& definition, const std::string& cluster) {
  return {type::kWork, execution_space(cluster), work_name(kDefinitionKind, "", definition)};
}

DefinitionPlacement definition_placement(const std::string& definition, const Value& placed,
                                         const std::function<const Value&(const ObjectKey&)>& object) {
  DefinitionPlacement placement;
  if (placed.is_null() || deleting(placed)) return placement;
  placement.name = definition;
  const Binding binding = binding_from(definition_binding_key(definition), placed);
  placement.pending = binding.targets.empty() && binding.scheduled_status.empty() && is_schedulable(binding);
  for (const Target& target : binding.targets) {
    const Value& work = object(definition_work_key(definition, target.cluster));
    if (condition_of(work, "Applied")["status"].as_string() != "False") placement.clusters.insert(target.cluster);
  }
  return placement;
}

std::optional<DefinitionPlacement> definition_placement(const State& state, const Binding& binding) {
  if (state.fold_version() < 4) return std::nullopt;
  const std::string definition = definition_of(state, binding);
  if (definition.empty()) return std::nullopt;
  return definition_placement(definition, state.value_of(definition_binding_key(definition)),
                              [&](const ObjectKey& key) -> const Value& { return state.value_of(key); });
}

}  // namespace shiplog::scheduler
