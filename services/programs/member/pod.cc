#include "services/programs/member/pod.h"

#include <algorithm>

#include "services/programs/member/condition.h"
#include "services/programs/member/kinds.h"
#include "services/programs/member/ownership.h"

namespace shiplog::member {
namespace {

// Source: pkg/apis/core/v1/helper/qos.
const char* qos_class(const Value& spec) {
  bool any = false;
  bool guaranteed = true;
  for (const char* list : {"containers", "initContainers"}) {
    for (const Value& container : spec[list].items()) {
      const ResourceList limits = resource_list_from(container["resources"]["limits"]);
      const ResourceList requests = resource_list_from(container["resources"]["requests"]);
      for (const char* name : {"cpu", "memory"}) {
        const auto limit = limits.find(name);
        const auto request = requests.find(name);
        any = any || limit != limits.end() || request != requests.end();
        guaranteed =
            guaranteed && limit != limits.end() && (request == requests.end() || request->second == limit->second);
      }
    }
  }
  return !any ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

void set_default(Value& object, std::string_view field, Value value) {
  if (object[field].is_empty()) object.set(field, std::move(value));
}

ResourceList requests_of_container(const Value& container) {
  ResourceList requests = resource_list_from(container["resources"]["limits"]);
  for (const auto& [name, amount] : resource_list_from(container["resources"]["requests"])) requests[name] = amount;
  return requests;
}

}  // namespace

Value new_pod(const Value& owner, const std::string& name, const Value& pod_template) {
  Value metadata = Value::object({{"name", name},
                                  {"namespace", owner["metadata"]["namespace"]},
                                  {"generation", 1},
                                  {"ownerReferences", Value::array({controller_reference(owner)})}});
  for (const char* field : {"labels", "annotations", "finalizers"}) {
    const Value& from = pod_template["metadata"][field];
    if (!from.is_empty()) metadata.set(field, from);
  }
  Value spec = pod_template["spec"];
  // Defaults that an API server adds to a pod; the template already contains the others.
  set_default(spec, "restartPolicy", "Always");
  set_default(spec, "schedulerName", "default-scheduler");
  set_default(spec, "serviceAccountName", "default");
  set_default(spec, "serviceAccount", spec["serviceAccountName"]);
  if (!spec.contains("enableServiceLinks")) spec.set("enableServiceLinks", true);
  const Value status = Value::object({{"phase", "Pending"}, {"qosClass", qos_class(spec)}});
  return Value::object(
      {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata}, {"spec", spec}, {"status", status}});
}

ObjectKey pod_key(const Value& pod) {
  return {kPods, pod["metadata"]["namespace"].str(), pod["metadata"]["name"].str()};
}

bool has_finished(const Value& pod) {
  const std::string_view phase = pod["status"]["phase"].as_string();
  return phase == "Succeeded" || phase == "Failed";
}

bool is_active(const Value& pod) { return !deleting(pod) && !has_finished(pod); }

bool is_ready(const Value& pod) { return is_active(pod) && condition_holds(pod, "Ready"); }

Millis until_available(const Value& pod, int64_t min_ready_seconds, UtcMillis now) {
  if (min_ready_seconds <= 0 || !is_ready(pod)) return Millis{0};
  const auto since = parse_rfc3339(condition_of(pod, "Ready")["lastTransitionTime"].as_string());
  if (!since) return Millis{0};
  return Millis{std::max<int64_t>(0, (since.value() + Millis{min_ready_seconds * 1000} - now).value)};
}

bool is_available(const Value& pod, int64_t min_ready_seconds, UtcMillis now) {
  return is_ready(pod) && until_available(pod, min_ready_seconds, now).value == 0;
}

UtcMillis started_at(const Value& pod) {
  for (const std::string_view text :
       {annotation_of(pod, kStartedAt), pod["metadata"]["creationTimestamp"].as_string()}) {
    if (const auto time = parse_rfc3339(text)) return time.value();
  }
  return {};
}

ResourceList requests_of(const Value& pod) {
  ResourceList sum;
  for (const Value& container : pod["spec"]["containers"].items()) {
    for (const auto& [name, amount] : requests_of_container(container)) sum[name] = sum[name] + amount;
  }
  for (const Value& container : pod["spec"]["initContainers"].items()) {
    for (const auto& [name, amount] : requests_of_container(container)) sum[name] = std::max(sum[name], amount);
  }
  for (const auto& [name, amount] : resource_list_from(pod["spec"]["overhead"])) sum[name] = sum[name] + amount;
  return sum;
}

}  // namespace shiplog::member
