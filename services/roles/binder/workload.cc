#include "services/roles/binder/workload.h"

#include <string>
#include <utility>

#include "events/base/json.h"
#include "events/state/quota.h"
#include "services/interpreter/interpreter.h"

namespace shiplog::binder {
namespace {

/// JSON; empty: none.
std::string requirements_text(const Value& requirements) { return requirements.is_null() ? "" : to_json(requirements); }

void set_components(const std::vector<interpreter::WorkloadComponent>& components, Value& spec, Explanation& why) {
  Value list = Value::array();
  for (const interpreter::WorkloadComponent& component : components) {
    Value item = Value::object({{"name", component.name}, {"replicas", component.replicas}});
    if (!component.requirements.is_null()) item.set("replicaRequirements", component.requirements);
    list.push_back(std::move(item));
    why.steps.emplace_back(
        ComponentInterpreted{component.name, component.replicas, requirements_text(component.requirements)});
  }
  set_or_erase(spec, "components", components.empty() ? Value{} : list);
  if (components.empty()) why.steps.emplace_back(NoComponents{});
}

/// Estimators look for the member's ResourceQuotas there (S-73). A script or webhook may have set its own. The priority
/// class is the interpreter's (L-6).
Value with_namespace(Value requirements, const Value& object) {
  const Value& ns = object["metadata"]["namespace"];
  if (!requirements.is_null() && requirements["namespace"].is_empty() && !ns.is_empty()) {
    requirements.set("namespace", ns);
  }
  return requirements;
}

/// Scripts compute requests from fields that tenants write. A negative one would lower what the namespace uses of its
/// quotas.
Result<void> check_amounts(const State& state, const Value& requirements) {
  if (state.fold_version() < 7) return ok();
  for (const auto& [name, amount] : resource_list_from(requirements["resourceRequest"])) {
    if (amount.negative()) return Error{ErrorCode::kInvalid, "resourceRequest." + name + " is negative"};
  }
  return ok();
}

}  // namespace

void set_or_erase(Value& spec, const char* field, const Value& value) {
  if (value.is_null()) {
    spec.erase(field);
  } else {
    spec.set(field, value);
  }
}

interpreter::Interpreted<void> set_workload(const State& state, const Value& object, UtcMillis now, Value& spec,
                                            Explanation& why) {
  if (state.gates().multiple_pod_templates) {
    SHIPLOG_TRY(const auto components, interpreter::components(state, object, now));
    if (components) {
      for (const auto& component : *components) {
        SHIPLOG_TRY(check_amounts(state, component.requirements));
      }
      for (const char* field : {"replicas", "replicaRequirements"}) spec.erase(field);
      set_components(*components, spec, why);
      return ok();
    }
  }
  spec.erase("components");
  SHIPLOG_TRY(const auto replicas, interpreter::replicas(state, object, now));
  if (replicas) {
    SHIPLOG_TRY(check_amounts(state, replicas->requirements));
  }
  set_or_erase(spec, "replicas", replicas && replicas->count != 0 ? Value{replicas->count} : Value{});
  Value requirements = replicas ? replicas->requirements : Value{};
  if (state.gates().resource_quota_estimate) requirements = with_namespace(std::move(requirements), object);
  set_or_erase(spec, "replicaRequirements", requirements);
  if (!replicas) {
    why.steps.emplace_back(ReplicasUnknown{object["kind"].str()});
    return ok();
  }
  why.steps.emplace_back(ReplicasInterpreted{replicas->count, requirements_text(replicas->requirements)});
  return ok();
}

void set_affinity_groups(const Policy& policy, const Value& object, Value& spec, Explanation& why) {
  const Value& wanted = policy.spec["placement"]["workloadAffinity"];
  Value groups = Value::object();
  const auto set = [&](const char* side, const char* group, bool apart) {
    if (!wanted[side].is_object()) return;
    const std::string key = wanted[side]["groupByLabelKey"].str();
    const Value* value = object["metadata"]["labels"].find(key);
    if (value == nullptr) {
      why.steps.emplace_back(AffinityGroupMissing{key, apart});
      return;
    }
    groups.set(group, key + "=" + value->str());
    why.steps.emplace_back(AffinityGroupJoined{key, value->str(), apart});
  };
  set("affinity", "affinityGroup", false);
  set("antiAffinity", "antiAffinityGroup", true);
  set_or_erase(spec, "workloadAffinityGroups", groups.is_empty() ? Value{} : groups);
}

}  // namespace shiplog::binder
