#include "services/roles/binder/workload.h"

#include <string>

#include "events/base/json.h"
#include "services/interpreter/interpreter.h"

namespace shiplog::binder {
namespace {

std::string needs(const Value& requirements) {
  return requirements.is_null() ? "nothing in particular" : to_json(requirements);
}

void set_or_erase(Value& spec, const char* field, const Value& value) {
  if (value.is_null()) {
    spec.erase(field);
  } else {
    spec.set(field, value);
  }
}

void set_components(const std::vector<interpreter::Component>& components, Value& spec, Explanation& why) {
  Value list = Value::array();
  for (const interpreter::Component& component : components) {
    Value item = Value::object({{"name", component.name}, {"replicas", component.replicas}});
    if (!component.requirements.is_null()) item.set("replicaRequirements", component.requirements);
    list.push_back(std::move(item));
    why.steps.push_back("component " + component.name + ": " + std::to_string(component.replicas) +
                        " replicas, each needs " + needs(component.requirements));
  }
  set_or_erase(spec, "components", components.empty() ? Value{} : list);
  if (components.empty()) why.steps.push_back("components: it has none");
}

}  // namespace

Result<void> set_workload(const State& state, const Value& object, UtcMillis now, Value& spec, Explanation& why) {
  if (state.gates().multiple_pod_templates) {
    SHIPLOG_TRY(const auto components, interpreter::components(state, object, now));
    if (components) {
      for (const char* field : {"replicas", "replicaRequirements"}) spec.erase(field);
      set_components(*components, spec, why);
      return ok();
    }
  }
  spec.erase("components");
  SHIPLOG_TRY(const auto replicas, interpreter::replicas(state, object, now));
  set_or_erase(spec, "replicas", replicas && replicas->count != 0 ? Value{replicas->count} : Value{});
  set_or_erase(spec, "replicaRequirements", replicas ? replicas->requirements : Value{});
  if (!replicas) {
    why.steps.push_back("replicas: none, " + object["kind"].str() + " is not a workload whose replicas can be told");
    return ok();
  }
  why.steps.push_back("replicas: " + std::to_string(replicas->count) + ", each needs " + needs(replicas->requirements));
  return ok();
}

void set_affinity_groups(const Policy& policy, const Value& object, Value& spec, Explanation& why) {
  const Value& wanted = policy.spec["placement"]["workloadAffinity"];
  Value groups = Value::object();
  const auto set = [&](const char* side, const char* group, const char* words) {
    if (!wanted[side].is_object()) return;
    const std::string key = wanted[side]["groupByLabelKey"].str();
    const Value* value = object["metadata"]["labels"].find(key);
    if (value == nullptr) {
      why.steps.push_back("workload affinity: it has no label " + key + ", so there is nobody it stays " + words);
      return;
    }
    groups.set(group, key + "=" + value->str());
    why.steps.push_back("workload affinity: it stays " + std::string{words} + " others with " + key + "=" +
                        value->str());
  };
  set("affinity", "affinityGroup", "with");
  set("antiAffinity", "antiAffinityGroup", "apart from");
  set_or_erase(spec, "workloadAffinityGroups", groups.is_empty() ? Value{} : groups);
}

}  // namespace shiplog::binder
