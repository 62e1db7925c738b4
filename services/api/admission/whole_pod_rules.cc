#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ip_range.h"
#include "events/base/json.h"
#include "events/base/names.h"
#include "services/api/admission/container_restart_rules.h"
#include "services/api/admission/ephemeral_container_rules.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/pod_resize_rules.h"
#include "services/api/admission/pod_resource_rules.h"
#include "services/api/admission/pod_rules.h"
#include "services/api/admission/pod_warnings.h"
#include "services/api/admission/rules.h"
#include "services/api/admission/scheduling_rules.h"

// Pods that are not the template of something. Source: CRU-8 to CRU-10; ValidatePodCreate, ValidatePodUpdate and
// ValidatePodStatusUpdate in pkg/apis/core/validation of Kubernetes 1.36.

namespace shiplog::api {
namespace {

constexpr std::string_view kResize = "resize";

bool leaves_host_ports_out(const Value& spec) {
  for (const char* list : {"containers", "initContainers"}) {
    for (const Value& container : spec[list].items()) {
      for (const Value& port : container["ports"].items()) {
        if (port["hostPort"].as_int() == 0) return true;
      }
    }
  }
  return false;
}

/// A pod in the network of its node has the node's ports. One that an older build stored without them keeps its spec.
void fill_host_ports(Value& spec, const Value& old) {
  if (!spec["hostNetwork"].as_bool() || !leaves_host_ports_out(spec) || leaves_host_ports_out(old["spec"])) return;
  for (const char* list : {"containers", "initContainers"}) {
    if (spec[list].size() == 0) continue;
    for (Value& container : spec.edit(list).edit_items()) {
      if (container["ports"].size() == 0) continue;
      for (Value& port : container.edit("ports").edit_items()) {
        const Value number = port["containerPort"];
        if (port["hostPort"].as_int() == 0) port.set("hostPort", number);
      }
    }
  }
}

void fill_pod(Value& object, const Write& write) {
  if (!object["spec"].is_object()) return;
  Value& spec = object.edit("spec");
  fill_pod_spec(spec);
  if (write.subresource == "ephemeralcontainers") return keep_beside_ephemeral_containers(object, old_of(write));
  if (spec["enableServiceLinks"].is_null()) spec.set("enableServiceLinks", true);
  for (const char* list : {"containers", "initContainers"}) {
    if (spec[list].size() == 0) continue;
    for (Value& container : spec.edit(list).edit_items()) {
      const Value limits = container["resources"]["limits"];
      for (const auto& limit : limits.members()) {  // limits are the default of requests
        if (container["resources"]["requests"].contains(limit.key())) continue;
        container.edit("resources").edit("requests").set(limit.key(), limit.value);
      }
    }
  }
  // What an older build stored without them keeps its spec.
  if (write.old == nullptr || spec["resources"] != old_of(write)["spec"]["resources"]) fill_pod_resources(spec);
  if (write.old == nullptr) fill_label_keys(spec, object["metadata"]["labels"]);
  fill_host_ports(spec, old_of(write));
  if (write.subresource == kResize) return keep_beside_resources(object, old_of(write));
  if (write.old != nullptr) return;  // the component that runs it updates the status
  object.set("status", Value::object({{"phase", "Pending"}, {"qosClass", quality_of_service(spec)}}));
}

/// A toleration as it is compared: how long it lasts may change.
std::string without_seconds(Value toleration) {
  toleration.erase("tolerationSeconds");
  return to_json(toleration);
}

void check_kept_tolerations(const Value& now, const Value& before, Causes& causes) {
  if (now == before) return;
  std::set<std::string> kept;
  for (const Value& each : now.items()) kept.insert(without_seconds(each));
  if (std::ranges::all_of(before.items(), [&](const Value& old) { return kept.contains(without_seconds(old)); }))
    return;
  causes.forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds");
}

void check_lowered_deadline(const Value& now, const Value& before, Causes& causes) {
  if (before.is_null()) return;
  if (now.is_null()) {
    causes.invalid("spec.activeDeadlineSeconds", now, "must not update from a positive integer to nil value");
  } else if (now.as_int() > before.as_int()) {
    causes.invalid("spec.activeDeadlineSeconds", now, "must be less than or equal to previous value");
  }
}

void check_fewer_gates(const Value& now, const Value& before, Causes& causes) {
  std::set<std::string_view> known;
  for (const Value& gate : before.items()) known.insert(gate["name"].as_string());
  for (size_t i = 0; i < now.size(); ++i) {
    const Value& name = now[i]["name"];
    if (known.contains(name.as_string())) continue;
    causes.forbidden(at("spec.schedulingGates", i) + ".name",
                     "only deletion is allowed, but found new scheduling gate '" + name.str() + "'");
  }
}

/// Whether `now` has all of `before`.
bool only_adds(const Value& now, const Value& before) {
  return std::ranges::all_of(before.members(),
                             [&](const Value::Member& each) { return now[each.key()] == each.value; });
}

/// A pod that is not to be scheduled yet may still be limited to fewer nodes.
void allow_fewer_nodes(Value& allowed, const Value& spec) {
  if (allowed["schedulingGates"].size() == 0) return;
  if (only_adds(spec["nodeSelector"], allowed["nodeSelector"]) && !spec["nodeSelector"].is_null()) {
    allowed.set("nodeSelector", spec["nodeSelector"]);
  }
  const Value& affinity = spec["affinity"]["nodeAffinity"];
  if (allowed["affinity"]["nodeAffinity"].is_null() && !affinity.is_null()) {
    allowed.edit("affinity").set("nodeAffinity", affinity);
  }
}

/// What an update of a pod with this spec may lead to, as far as it may change it: `spec` where it may.
Value allowed_spec(const Value& old, const Value& spec) {
  Value allowed = old;
  allow_fewer_nodes(allowed, spec);
  for (const char* name : {"activeDeadlineSeconds", "tolerations", "schedulingGates"}) {
    allowed.erase(name);
    if (const Value* value = spec.find(name)) allowed.set(name, *value);
  }
  if (old["terminationGracePeriodSeconds"].as_int() < 0 && spec["terminationGracePeriodSeconds"].as_int() == 1) {
    allowed.set("terminationGracePeriodSeconds", 1);
  }
  for (const char* list : {"containers", "initContainers"}) {
    for (size_t i = 0; i < std::min(allowed[list].size(), spec[list].size()); ++i) {
      allowed.edit(list).edit_items()[i].set("image", spec[list][i]["image"]);
    }
  }
  // Binding a pod to a node is this update here: there is no scheduler beside this API that would use `binding`.
  if (allowed["nodeName"].is_empty() && !spec["nodeName"].is_empty()) allowed.set("nodeName", spec["nodeName"]);
  return allowed;
}

void check_pod_update(const Value& spec, const Write& write, Causes& causes) {
  const Value& old = old_of(write)["spec"];
  if (spec == old) return;
  for (const char* list : {"containers", "initContainers"}) {
    if (spec[list].size() == old[list].size()) continue;
    return causes.forbidden(std::string{"spec."} + list, "pod updates may not add or remove containers");
  }
  check_lowered_deadline(spec["activeDeadlineSeconds"], old["activeDeadlineSeconds"], causes);
  check_kept_tolerations(spec["tolerations"], old["tolerations"], causes);
  check_fewer_gates(spec["schedulingGates"], old["schedulingGates"], causes);
  Value filled = defaulted_old(write)["spec"];
  fill_pod_spec(filled);
  if (allowed_spec(old, spec) == spec || allowed_spec(filled, spec) == spec) return;
  causes.forbidden("spec",
                   "pod updates may not change fields other than "
                   "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
                   "`spec.tolerations` (only additions to existing tolerations),"
                   "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously "
                   "negative)");
}

void check_pod(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  if (write.subresource == "ephemeralcontainers") return check_ephemeral_containers(object, old_of(write), causes);
  if (write.subresource == kResize) return check_resize(object, old_of(write), causes);
  check_whole_pod(object, old_of(write), causes);
  if (write.old != nullptr) return check_pod_update(spec, write, causes);
  if (spec["ephemeralContainers"].size() > 0) causes.forbidden("spec.ephemeralContainers", "cannot be set on create");
  if (!spec["nodeName"].is_empty() && spec["schedulingGates"].size() > 0) {
    causes.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared");
  }
}

void warn_of_pod(const Value& object, const Write& write, std::vector<std::string>& warnings) {
  if (write.old != nullptr) return;  // as upstream: people rarely write pods, controllers often
  warn_of_host_name(object, warnings);
  warn_of_new_pod(object, warnings);
}

/// A component that does not know observedGeneration does not take it away.
void keep_generations(Value& status, const Value& before) {
  constexpr const char* kField = "observedGeneration";
  if (status[kField].as_int() == 0 && before[kField].as_int() != 0) status.set(kField, before[kField]);
  if (status["conditions"].size() == 0) return;
  std::map<std::string_view, std::vector<const Value*>> known;  // a type may stand there more than once
  for (const Value& condition : before["conditions"].items()) {
    known[condition["type"].as_string()].push_back(&condition[kField]);
  }
  std::map<std::string_view, size_t> seen;
  for (Value& condition : status.edit("conditions").edit_items()) {
    const auto others = known.find(condition["type"].as_string());
    if (others == known.end()) continue;
    const size_t index = seen[others->first]++;
    if (index >= others->second.size() || condition[kField].as_int() != 0) continue;
    if (const Value& generation = *others->second[index]; generation.as_int() != 0) condition.set(kField, generation);
  }
}

void fill_pod_status(Value& object, const Write& write) {
  if (object["status"].is_object()) keep_generations(object.edit("status"), old_of(write)["status"]);
  const Value& quality = old_of(write)["status"]["qosClass"];
  if (object["status"].is_object() && object["status"]["qosClass"].is_empty() && !quality.is_empty()) {
    object.edit("status").set("qosClass", quality);
  }
}

/// One address of each family, at most.
void check_addresses_of(const Value& status, const char* list, Causes& causes) {
  const std::string field = std::string{"status."} + list;
  const Value& addresses = status[list];
  std::set<size_t> families;
  for (size_t i = 0; i < addresses.size(); ++i) {
    const Value& ip = addresses[i]["ip"];
    check_ip(ip, at(field, i), causes);
    const auto parsed = parse_ip(ip.as_string());
    if (parsed) families.insert(parsed->size);
  }
  if (addresses.size() > 1 && families.size() != addresses.size()) {
    causes.invalid(field, addresses, "may specify no more than one IP for each IP family");
  }
}

void check_generation(const Value& owner, const std::string& field, Causes& causes) {
  const Value& generation = owner["observedGeneration"];
  if (generation.as_int() >= 0) return;
  causes.invalid(field + ".observedGeneration", generation, "must be a non-negative integer");
}

void check_pod_conditions(const Value& conditions, Causes& causes) {
  for (size_t i = 0; i < conditions.size(); ++i) {
    const Value& type = conditions[i]["type"];
    const std::string field = at("status.conditions", i);
    check_generation(conditions[i], field, causes);
    if (const auto problem = qualified_name_problem(type.as_string())) {
      causes.invalid(field + ".Type", type, *problem);  // upstream's path
    }
  }
}

/// A container that has ended for good does not run again. `containers`: the list of the spec with those of the list of
/// the status; empty: they never do.
void check_ended(const Value& now, const Value& before, const char* list, const Value& spec,
                 std::string_view containers, Causes& causes) {
  if (now[list] == before[list]) return;
  std::set<std::string_view> running;
  for (const Value& each : now[list].items()) {
    if (each["state"]["terminated"].is_null()) running.insert(each["name"].as_string());
  }
  std::map<std::string_view, const Value*> known;
  if (!containers.empty()) {
    for (const Value& each : spec[containers].items()) known.emplace(each["name"].as_string(), &each);
  }
  for (size_t i = 0; i < before[list].size(); ++i) {
    const Value& was = before[list][i];
    const Value& ended = was["state"]["terminated"];
    if (ended.is_null() || !running.contains(was["name"].as_string())) continue;
    const auto container = known.find(was["name"].as_string());
    if (container != known.end() && runs_again(*container->second, spec, ended["exitCode"].as_int())) continue;
    causes.forbidden(at(std::string{"status."} + list, i) + ".state",
                     "may not be transitioned to non-terminated state");
  }
}

void check_pod_status(const Value& object, const Write& write, Causes& causes) {
  const Value& now = object["status"];
  const Value& before = old_of(write)["status"];
  const auto check = [](const Value& status, Causes& found) {
    check_pod_conditions(status["conditions"], found);
    check_generation(status, "status", found);
    if (const Value& node = status["nominatedNodeName"]; !node.is_empty()) {
      if (const auto problem = subdomain_problem(node.as_string())) {
        found.invalid("status.nominatedNodeName", node, *problem);
      }
    }
    check_addresses_of(status, "podIPs", found);
    check_addresses_of(status, "hostIPs", found);
    const Value& host = status["hostIPs"][0]["ip"];
    if (status["hostIPs"].size() > 0 && host.as_string() != status["hostIP"].as_string()) {
      found.invalid("status.hostIPs[0].ip", host, "must be equal to `hostIP`");
    }
  };
  check_new(now, before, check, causes);
  if (!before["qosClass"].is_empty() && now["qosClass"] != before["qosClass"]) {
    causes.invalid("status.qosClass", now["qosClass"], "field is immutable");
  }
  const Value& spec = old_of(write)["spec"];
  if (!may_restart_all(spec)) {
    check_ended(now, before, "containerStatuses", spec, "containers", causes);
    check_ended(now, before, "initContainerStatuses", spec, "initContainers", causes);
  }
  check_ended(now, before, "ephemeralContainerStatuses", spec, "", causes);
  const Value& nominated = now["nominatedNodeName"];
  if (!spec["nodeName"].is_empty() && !nominated.is_empty() && nominated != before["nominatedNodeName"]) {
    causes.forbidden("status.nominatedNodeName", "may not be set on pods that are already bound to a node");
  }
}

}  // namespace

const std::vector<Rules>& whole_pod_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "pods",
       .fill = fill_pod,
       .check = check_pod,
       .warn = warn_of_pod,
       .fill_status = fill_pod_status,
       .check_status = check_pod_status},
  };
  return kRules;
}

}  // namespace shiplog::api
