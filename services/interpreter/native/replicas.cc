#include <algorithm>

#include "events/base/quantity.h"
#include "events/state/quota.h"
#include "services/interpreter/native/native.h"

namespace shiplog::interpreter::native {
namespace {

bool counts_per_replica(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource == "ephemeral-storage" ||
         resource.find('/') != std::string_view::npos || resource.starts_with("hugepages-") ||
         resource.starts_with("attachable-volumes-");
}

Result<ResourceList> amounts_of(const Value& list, const std::string& where) {
  for (const auto& member : list.members()) {
    if (member.value.is_number()) continue;
    if (const auto parsed = parse_quantity(member.value.as_string()); !parsed) {
      return parsed.error().context(where + "." + std::string{member.key()});
    }
  }
  return resource_list_from(list);
}

/// A missing request defaults to the limit, as in Kubernetes.
Result<ResourceList> requests_of(const Value& container) {
  const std::string where = "container " + container["name"].str() + ", resources.";
  SHIPLOG_TRY(ResourceList requests, amounts_of(container["resources"]["requests"], where + "requests"));
  SHIPLOG_TRY(const ResourceList limits, amounts_of(container["resources"]["limits"], where + "limits"));
  requests.insert(limits.begin(), limits.end());
  return requests;
}

Result<ResourceList> request_of(const Value& pod_spec) {
  ResourceList sum;
  for (const Value& container : pod_spec["containers"].items()) {
    SHIPLOG_TRY(const ResourceList requests, requests_of(container));
    for (const auto& [name, amount] : requests) sum[name] = sum[name] + amount;
  }
  // Init containers run one after another before the others start, so the largest counts and not their sum.
  for (const Value& container : pod_spec["initContainers"].items()) {
    SHIPLOG_TRY(const ResourceList requests, requests_of(container));
    for (const auto& [name, amount] : requests) sum[name] = std::max(sum[name], amount);
  }
  SHIPLOG_TRY(const ResourceList overhead, amounts_of(pod_spec["overhead"], "overhead"));
  for (const auto& [name, amount] : overhead) sum[name] = sum[name] + amount;
  std::erase_if(sum, [](const auto& entry) {
    return !counts_per_replica(entry.first) || entry.second.is_zero() || entry.second.negative();
  });
  return sum;
}

Value node_claim_of(const Value& pod_spec) {
  Value claim;
  const auto copy = [&](const char* field, const Value& value) {
    if (!value.is_empty()) claim.set(field, value);
  };
  copy("nodeSelector", pod_spec["nodeSelector"]);
  copy("tolerations", pod_spec["tolerations"]);
  copy("hardNodeAffinity", pod_spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]);
  return claim;
}

}  // namespace

Result<Value> pod_requirements(const Value& pod_spec, PriorityClass priority_class) {
  SHIPLOG_TRY(const ResourceList request, request_of(pod_spec));
  Value requirements;
  if (Value claim = node_claim_of(pod_spec); !claim.is_null()) requirements.set("nodeClaim", std::move(claim));
  if (!request.empty()) requirements.set("resourceRequest", to_value(request));
  const Value& named = pod_spec["priorityClassName"];
  if (priority_class == PriorityClass::kNamed && !requirements.is_null() && !named.is_empty()) {
    requirements.set("priorityClassName", named);
  }
  return requirements;
}

namespace {

int64_t job_replicas(const Value& spec) {
  const int64_t parallelism = spec["parallelism"].as_int();
  return std::min(parallelism, spec["completions"].as_int(parallelism));
}

bool is_scaled(const std::string& kind) {
  return kind == "apps/v1/Deployment" || kind == "apps/v1/ReplicaSet" || kind == "apps/v1/StatefulSet";
}

}  // namespace

Result<std::optional<Replicas>> replicas(const Value& object, PriorityClass priority_class) {
  const std::string kind = kind_of(object);
  const Value& spec = object["spec"];
  Replicas wanted;
  const Value* pod_spec = &spec["template"]["spec"];
  if (is_scaled(kind)) {
    wanted.count = spec["replicas"].as_int();
  } else if (kind == "batch/v1/Job") {
    wanted.count = job_replicas(spec);
  } else if (kind == "v1/Pod") {
    wanted.count = 1;
    pod_spec = &spec;
  } else {
    return std::nullopt;
  }
  SHIPLOG_TRY(wanted.requirements, pod_requirements(*pod_spec, priority_class));
  return std::optional{std::move(wanted)};
}

std::optional<Value> revise_replica(const Value& object, int64_t count) {
  const std::string kind = kind_of(object);
  const bool job = kind == "batch/v1/Job";
  if (!job && !is_scaled(kind)) return std::nullopt;
  const char* field = job ? "parallelism" : "replicas";
  Value revised = object;
  // A field that the template leaves to its default is not added. A spec that is as it should be stays shared.
  const Value* present = object["spec"].find(field);
  if (present != nullptr && *present != Value{count}) revised.edit("spec").set(field, count);
  return revised;
}

}  // namespace shiplog::interpreter::native
