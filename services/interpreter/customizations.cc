#include "services/interpreter/customizations.h"

#include <algorithm>

#include "services/interpreter/lua/vm.h"
#include "services/interpreter/quarantine.h"
#include "services/interpreter/webhooks.h"

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
    {InterpreterOperation::kReplicas, "InterpretReplica", "replicaResource", "GetReplicas"},
    {InterpreterOperation::kComponents, "InterpretComponent", "componentResource", "GetComponents"},
    {InterpreterOperation::kRevise, "ReviseReplica", "replicaRevision", "ReviseReplica"},
    {InterpreterOperation::kRetain, "Retain", "retention", "Retain"},
    {InterpreterOperation::kAggregate, "AggregateStatus", "statusAggregation", "AggregateStatus"},
    {InterpreterOperation::kStatus, "InterpretStatus", "statusReflection", "ReflectStatus"},
    {InterpreterOperation::kHealth, "InterpretHealth", "healthInterpretation", "InterpretHealth"},
    {InterpreterOperation::kDependencies, "InterpretDependency", "dependencyInterpretation", "GetDependencies"},
}};

const OperationNames& names_of(InterpreterOperation operation) {
  return kOperations.at(static_cast<size_t>(operation));
}

std::vector<InterpreterScript> customized(const State& state, const Value& object, InterpreterOperation operation) {
  std::vector<InterpreterScript> found;
  const auto& all = state.objects(kCustomizationType);
  if (all.empty()) return found;
  const auto api_version = object["apiVersion"].as_string();
  const auto kind = object["kind"].as_string();
  const OperationNames& names = names_of(operation);
  for (const auto& [name, customization] : all) {
    if (!targets(customization.value, api_version, kind)) continue;
    const Value& text = script_of(customization.value, names);
    if (text.is_empty()) continue;
    if (quarantined(customization.value, names.name, object["metadata"]["namespace"].as_string())) continue;
    found.push_back({"ResourceInterpreterCustomization " + name.name + ", " + names.field, text, customization.value});
    if (operation != InterpreterOperation::kDependencies) break;
  }
  return found;
}

std::vector<BadScript> bad_scripts(const Value& customization) {
  std::vector<BadScript> bad;
  for (const OperationNames& names : kOperations) {
    const Value& text = script_of(customization, names);
    if (text.is_empty()) continue;
    if (const auto parsed = lua::check(text.as_string()); !parsed) {
      bad.push_back({std::string{"spec.customizations."} + names.field + ".luaScript", parsed.error().message});
    }
  }
  return bad;
}

std::optional<std::string> conflict(const Value& customization, const std::vector<Value>& others) {
  const Value& target = customization["spec"]["target"];
  for (const Value& other : others) {
    if (other["metadata"]["name"] == customization["metadata"]["name"]) continue;
    if (!targets(other, target["apiVersion"].as_string(), target["kind"].as_string())) continue;
    for (const OperationNames& names : kOperations) {
      if (names.operation == InterpreterOperation::kDependencies) continue;
      if (script_of(customization, names).is_empty() || script_of(other, names).is_empty()) continue;
      return std::string{"conflicting with InterpreterOperation("} + names.name +
             ") of existing ResourceInterpreterCustomization(" + other["metadata"]["name"].str() + ")";
    }
  }
  return std::nullopt;
}

bool interprets(std::string_view type) { return type == kCustomizationType || type == kWebhookType; }

std::vector<InterpretedKind> concerned(const State& state, const Change& change) {
  std::vector<InterpretedKind> found;
  if (change.object.type == kWebhookType && change.before["webhooks"] != change.after["webhooks"]) {
    for (const std::string& type : state.types()) {
      const auto& objects = state.objects(type);
      if (objects.empty()) continue;
      const Value& object = objects.begin()->second.value;
      if (has_rule_for(change.before, object) || has_rule_for(change.after, object)) {
        found.push_back({object["apiVersion"].str(), object["kind"].str()});
      }
    }
  }
  if (change.object.type != kCustomizationType) return found;
  const bool same = change.before["spec"] == change.after["spec"] &&
                    change.before["status"]["quarantine"] == change.after["status"]["quarantine"];
  if (same) return found;
  for (const Value* customization : {&change.before, &change.after}) {
    const Value& target = (*customization)["spec"]["target"];
    InterpretedKind kind{target["apiVersion"].str(), target["kind"].str()};
    if (!kind.kind.empty() && std::ranges::find(found, kind) == found.end()) found.push_back(std::move(kind));
  }
  return found;
}

}  // namespace shiplog::interpreter
