#include "services/api/admission/pod_resize_rules.h"

#include <algorithm>
#include <string>

#include "services/api/admission/pod_resource_rules.h"
#include "services/api/admission/pod_rules.h"

// Source: podResizeStrategy in pkg/registry/core/pod and ValidatePodResize in pkg/apis/core/validation of Kubernetes
// 1.36.

namespace shiplog::api {
namespace {

constexpr const char* kResizedLists[] = {"containers", "initContainers"};
constexpr const char* kAmounts[] = {"requests", "limits"};

/// The same containers in the same order.
bool has_same_containers(const Value& spec, const Value& old) {
  return std::ranges::all_of(kResizedLists, [&](const char* list) {
    return std::ranges::equal(spec[list].items(), old[list].items(),
                              [](const Value& a, const Value& b) { return a["name"] == b["name"]; });
  });
}

void take_part(const Value& from, const char* name, Value& to) {
  to.erase(name);
  if (const Value* value = from.find(name)) to.set(name, *value);
}

void check_same_containers(const Value& spec, const Value& old, Causes& causes) {
  for (const char* list : kResizedLists) {
    const std::string field = std::string{"spec."} + list;
    if (spec[list].size() != old[list].size()) {
      causes.forbidden(field, std::string{list} + " may not be added or removed on resize");
      continue;
    }
    for (size_t i = 0; i < spec[list].size(); ++i) {
      if (spec[list][i]["name"] == old[list][i]["name"]) continue;
      causes.forbidden(at(field, i) + ".name", std::string{list} + " may not be renamed or reordered on resize");
    }
  }
}

/// `resources` with the cpu and memory of `old`: what must be left is `old`.
Value with_compute_of(Value resources, const Value& old) {
  for (const char* list : kAmounts) {
    for (const char* name : {"cpu", "memory"}) {
      if (const Value* amount = old[list].find(name)) {
        resources.edit(list).set(name, *amount);
      } else if (resources[list].contains(name)) {
        resources.edit(list).erase(name);
      }
    }
    if (resources[list].size() == 0) resources.erase(list);
  }
  return resources;
}

Value without_empty_lists(Value resources) {
  for (const char* list : kAmounts) {
    if (resources[list].size() == 0) resources.erase(list);
  }
  return resources;
}

bool changes_others(const Value& resources, const Value& old) {
  if (resources == old) return false;
  const auto whole = [](const Value& each) { return each.is_object() ? each : Value::object(); };
  return with_compute_of(whole(resources), old) != without_empty_lists(whole(old));
}

bool removes_amount(const Value& now, const Value& before) {
  return std::ranges::any_of(before.members(), [&](const Value::Member& each) { return !now.contains(each.key()); });
}

void check_kept(const Value& now, const Value& before, const std::string& field, const std::string& what,
                Causes& causes) {
  for (const char* list : kAmounts) {
    if (!removes_amount(now[list], before[list])) continue;
    causes.forbidden(field + "." + list, what + " " + list + " cannot be removed");
  }
}

void check_pod_level(const Value& now, const Value& before, Causes& causes) {
  if (!before.is_null() && now.is_null()) {
    return causes.forbidden("spec.resources", "pod-level resources cannot be removed");
  }
  check_kept(now, before, "spec.resources", "pod-level resource", causes);
  if (changes_others(now, before)) {
    causes.forbidden("spec", "only cpu and memory resources are mutable at pod-level");
  }
}

bool restarts_on_resize(const Value& container) {
  return std::ranges::any_of(container["resizePolicy"].items(),
                             [](const Value& each) { return each["restartPolicy"].as_string() == "RestartContainer"; });
}

void check_resized_container(const Value& now, const Value& before, bool init, const std::string& field,
                             Causes& causes) {
  check_kept(now["resources"], before["resources"], field + ".resources", "resource", causes);
  const bool others = changes_others(now["resources"], before["resources"]);
  if (!init) {
    if (others) causes.forbidden("spec", "only cpu and memory resources are mutable");
    return;
  }
  if (others) causes.forbidden(field, "only cpu and memory resources for init or sidecar containers are mutable");
  if (now != before && now["restartPolicy"].as_string() != "Always" && restarts_on_resize(now)) {
    causes.forbidden(field, "non-sidecar init containers with a resize policy of RestartContainer cannot be resized");
  }
}

}  // namespace

void keep_beside_resources(Value& pod, const Value& old) {
  const Value spec = pod["spec"];
  pod = old;
  if (!has_same_containers(spec, old["spec"])) {
    for (const char* list : kResizedLists) take_part(spec, list, pod.edit("spec"));
    return;
  }
  take_part(spec, "resources", pod.edit("spec"));
  for (const char* list : kResizedLists) {
    if (spec[list].size() == 0) continue;
    auto& containers = pod.edit("spec").edit(list).edit_items();
    for (size_t i = 0; i < containers.size(); ++i) {
      for (const char* name : {"resources", "resizePolicy"}) take_part(spec[list][i], name, containers[i]);
    }
  }
}

void check_resize(const Value& pod, const Value& old, Causes& causes) {
  check_whole_pod(pod, old, causes);
  if (old["metadata"]["annotations"].contains("kubernetes.io/config.mirror")) {
    return causes.forbidden("", "static pods cannot be resized");
  }
  if (pod["spec"]["os"]["name"].as_string() == "windows") {
    return causes.forbidden("", "windows pods cannot be resized");
  }
  const Value& spec = pod["spec"];
  const Value& before = old["spec"];
  const Value& quality = old["status"]["qosClass"];
  const Value was = quality.is_empty() ? Value{quality_of_service(before)} : quality;
  if (was.as_string() != quality_of_service(spec)) {
    causes.invalid("spec", was, "Pod QOS Class may not change as a result of resizing");
  }
  check_pod_level(spec["resources"], before["resources"], causes);
  if (!has_same_containers(spec, before)) return check_same_containers(spec, before, causes);
  for (const char* list : kResizedLists) {
    const bool init = std::string_view{list} == "initContainers";
    for (size_t i = 0; i < spec[list].size(); ++i) {
      check_resized_container(spec[list][i], before[list][i], init, at(std::string{"spec."} + list, i), causes);
    }
  }
}

}  // namespace shiplog::api
