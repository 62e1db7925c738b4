#include "services/runtime/interpreter/customizations.h"

#include <algorithm>

#include "services/runtime/interpreter/lua/vm.h"

namespace shiplog::interpreter {
namespace {

const Value& script_of(const Value& customization, const OperationNames& names) {
  return customization["spec"]["customizations"][names.field]["luaScript"];
}

bool targets(const Value& customization, std::string_view api_version, std::string_view kind) {
  const Value& target = customization["spec"]["target"];
  return target["apiVersion"].as_string() == api_version && target["kind"].as_string() == kind;
}

}  // namespace

const std::array<OperationNames, 8> kOperations = {{
    {Operation::kReplicas, "InterpretReplica", "replicaResource", "GetReplicas"},
    {Operation::kComponents, "InterpretComponent", "componentResource", "GetComponents"},
    {Operation::kRevise, "ReviseReplica", "replicaRevision", "ReviseReplica"},
    {Operation::kRetain, "Retain", "retention", "Retain"},
    {Operation::kAggregate, "AggregateStatus", "statusAggregation", "AggregateStatus"},
    {Operation::kStatus, "InterpretStatus", "statusReflection", "ReflectStatus"},
    {Operation::kHealth, "InterpretHealth", "healthInterpretation", "InterpretHealth"},
    {Operation::kDependencies, "InterpretDependency", "dependencyInterpretation", "GetDependencies"},
}};

const OperationNames& names_of(Operation operation) { return kOperations.at(static_cast<size_t>(operation)); }

std::vector<Script> customized(const State& state, const Value& object, Operation operation) {
  std::vector<Script> found;
  const auto& all = state.objects(kCustomizationType);
  if (all.empty()) return found;
  const auto api_version = object["apiVersion"].as_string();
  const auto kind = object["kind"].as_string();
  const OperationNames& names = names_of(operation);
  for (const auto& [name, customization] : all) {
    if (!targets(customization.value, api_version, kind)) continue;
    const Value& text = script_of(customization.value, names);
    if (text.is_empty()) continue;
    found.push_back({"ResourceInterpreterCustomization " + name.name + ", " + names.field, text});
    if (operation != Operation::kDependencies) break;
  }
  return found;
}

Result<void> check_scripts(const Value& customization) {
  for (const OperationNames& names : kOperations) {
    const Value& text = script_of(customization, names);
    if (text.is_empty()) continue;
    if (const auto parsed = lua::check(text.as_string()); !parsed) {
      return parsed.error().context(std::string{"spec.customizations."} + names.field + ".luaScript");
    }
  }
  return ok();
}

Result<void> check_customization(const State& state, const Value& customization) {
  SHIPLOG_TRY(check_scripts(customization));
  const Target target = target_of(customization);
  for (const auto& [name, other] : state.objects(kCustomizationType)) {
    if (name.name == customization["metadata"]["name"].as_string()) continue;
    if (!targets(other.value, target.api_version, target.kind)) continue;
    for (const OperationNames& names : kOperations) {
      if (names.operation == Operation::kDependencies) continue;
      if (script_of(customization, names).is_empty() || script_of(other.value, names).is_empty()) continue;
      return Error{ErrorCode::kInvalid, std::string{"conflicting with InterpreterOperation("} + names.name +
                                            ") of existing ResourceInterpreterCustomization(" + name.name + ")"};
    }
  }
  return ok();
}

Target target_of(const Value& customization) {
  const Value& target = customization["spec"]["target"];
  return {target["apiVersion"].str(), target["kind"].str()};
}

}  // namespace shiplog::interpreter
