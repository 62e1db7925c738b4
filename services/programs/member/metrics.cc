#include "services/programs/member/metrics.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "events/base/check.h"
#include "events/base/hash.h"
#include "events/base/quantity.h"
#include "events/state/object.h"
#include "services/programs/member/ownership.h"

namespace shiplog::member {
namespace {

constexpr Millis kStep{15'000};
constexpr const char* kGroup = "metrics.k8s.io";
constexpr const char* kVersion = "v1beta1";
constexpr int64_t kNano = 1'000'000;  // in a thousandth of a CPU
constexpr int64_t kMi = 1024;         // Ki

/// CPU in billionths, memory in KiB, as metrics-server writes them.
struct ResourceUsage {
  int64_t cpu_nano = 0;
  int64_t memory_ki = 0;
};

Value to_value(const ResourceUsage& usage) {
  return Value::object(
      {{"cpu", std::to_string(usage.cpu_nano) + "n"}, {"memory", std::to_string(usage.memory_ki) + "Ki"}});
}

/// Evenly from `low` to `high` percent.
int64_t percent(std::string_view seed, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(siphash128(seed).lo % static_cast<uint64_t>(high - low + 1));
}

int64_t requested(const Value& container, const char* resource, int64_t divisor_milli) {
  for (const char* which : {"requests", "limits"}) {
    const auto quantity = parse_quantity(container["resources"][which][resource].as_string());
    if (quantity && !quantity.value().is_zero()) {
      return static_cast<int64_t>(quantity.value().whole_milli() / divisor_milli);
    }
  }
  return 0;
}

ResourceUsage usage_of(const std::string& uid, const Value& container, int64_t step) {
  const std::string seed = uid + "/" + container["name"].str();
  // Each container has a level of its own, around which it varies.
  const int64_t level = percent(seed, 25, 55);
  const int64_t now = percent(seed + "/" + std::to_string(step), 85, 115);
  int64_t milli = requested(container, "cpu", 1);
  if (milli == 0) milli = percent(seed + "/cpu", 5, 20);
  int64_t memory = requested(container, "memory", 1024 * 1000);
  if (memory == 0) memory = percent(seed + "/memory", 24, 64) * kMi;
  return {std::max<int64_t>(kNano, milli * kNano / 100 * level / 100 * now),
          std::max<int64_t>(kMi, memory / 100 * (level + 20) / 100 * (90 + now / 10))};
}

Value metrics_object(const Value& of, const char* kind, UtcMillis now, const char* field, Value value) {
  const Value& from = of["metadata"];
  const std::string time = rfc3339({now.value - now.value % kStep.value});
  Value metadata = Value::object({{"name", from["name"]}, {"creationTimestamp", time}});
  for (const char* each : {"namespace", "labels"}) {
    if (from.contains(each)) metadata.set(each, from[each]);
  }
  return Value::object({{"apiVersion", std::string{kGroup} + "/" + kVersion},
                        {"kind", kind},
                        {"metadata", metadata},
                        {"timestamp", time},
                        {"window", "15s"},
                        {field, std::move(value)}});
}

bool runs(const Value& pod) {
  return pod["status"]["phase"].as_string() == "Running" && !pod["metadata"].contains("deletionTimestamp");
}

/// What workloads say that their pods use.
class StatedUsage {
 public:
  StatedUsage(const std::vector<Value>& pods, const std::vector<Value>& workloads) {
    for (const Value& workload : workloads) workloads_[workload["metadata"]["uid"].str()] = &workload;
    for (const Value& pod : pods) {
      if (const Value* workload = runs(pod) ? stating(pod) : nullptr) ++pods_[workload];
    }
  }

  /// Of one container: an equal part of what its workload uses. What is not stated stays.
  ResourceUsage of(const Value& pod, ResourceUsage usage) const {
    const Value* workload = stating(pod);
    if (workload == nullptr) return usage;
    const auto parts = static_cast<int64_t>(pods_.at(workload) * pod["spec"]["containers"].size());
    const auto cpu = stated(*workload, kCpuUsage), memory = stated(*workload, kMemoryUsage);
    if (cpu) usage.cpu_nano = cpu->milli() / parts * kNano;
    if (memory) usage.memory_ki = memory->units() / parts / kKi;
    return usage;
  }

 private:
  static constexpr int64_t kKi = 1024;

  static std::optional<Quantity> stated(const Value& workload, const char* annotation) {
    const auto parsed = parse_quantity(annotation_of(workload, annotation));
    // More than a node has: what follows is computed in billionths.
    if (!parsed || parsed.value().negative() || parsed.value() > Quantity::from_units(int64_t{1} << 50)) return {};
    return std::string_view{annotation} == kCpuUsage ? std::min(parsed.value(), Quantity::from_units(1'000'000))
                                                     : parsed.value();
  }

  /// The highest owner that states something; nullptr: none does. A ReplicaSet has what its Deployment stated once.
  const Value* stating(const Value& object) const {
    const Value* at = &object;
    const Value* found = nullptr;
    for (int steps = 0; steps < 3; ++steps) {
      const auto owner = workloads_.find(controller_of(*at)["uid"].str());
      if (owner == workloads_.end()) break;
      at = owner->second;
      if (stated(*at, kCpuUsage) || stated(*at, kMemoryUsage)) found = at;
    }
    return found;
  }

  std::map<std::string, const Value*> workloads_;
  std::map<const Value*, size_t> pods_;
};

Value definition(const char* plural, const char* kind, const char* scope, Value columns) {
  const Value schema = Value::object({{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}});
  const Value version = Value::object({{"name", kVersion},
                                       {"served", true},
                                       {"storage", true},
                                       {"additionalPrinterColumns", std::move(columns)},
                                       {"schema", Value::object({{"openAPIV3Schema", schema}})}});
  const Value names =
      Value::object({{"plural", plural}, {"singular", ""}, {"kind", kind}, {"listKind", std::string{kind} + "List"}});
  return Value::object(
      {{"apiVersion", "apiextensions.k8s.io/v1"},
       {"kind", "CustomResourceDefinition"},
       {"metadata", Value::object({{"name", std::string{plural} + "." + kGroup}})},
       {"spec", Value::object(
                    {{"group", kGroup}, {"scope", scope}, {"names", names}, {"versions", Value::array({version})}})}});
}

Value column(const char* name, const char* path) {
  return Value::object({{"name", name}, {"type", "string"}, {"jsonPath", path}});
}

Kinds with_definition(const Kinds& kinds, const Value& definition) {
  auto extended = kinds.with(definition);
  SHIPLOG_CHECK(extended.has_value(), "the definitions of metrics.k8s.io are valid");
  return std::move(extended).value();
}

}  // namespace

Kinds with_metrics(const Kinds& kinds) {
  const Value window = column("Window", ".window");
  const Kinds nodes = with_definition(
      kinds, definition("nodes", "NodeMetrics", "Cluster",
                        Value::array({column("CPU", ".usage.cpu"), column("Memory", ".usage.memory"), window})));
  return with_definition(nodes, definition("pods", "PodMetrics", "Namespaced", Value::array({window})));
}

Value metrics_api_service() {
  const Value available = Value::object({{"type", "Available"},
                                         {"status", "True"},
                                         {"reason", "Local"},
                                         {"message", "Local APIServices are always available"}});
  return Value::object(
      {{"apiVersion", "apiregistration.k8s.io/v1"},
       {"kind", "APIService"},
       {"metadata", Value::object({{"name", std::string{kVersion} + "." + kGroup}})},
       {"spec",
        Value::object(
            {{"group", kGroup}, {"version", kVersion}, {"groupPriorityMinimum", 100}, {"versionPriority", 100}})},
       {"status", Value::object({{"conditions", Value::array({available})}})}});
}

std::vector<Value> pod_metrics(const std::vector<Value>& pods, const std::vector<Value>& workloads, UtcMillis now) {
  const StatedUsage stated{pods, workloads};
  std::vector<Value> metrics;
  for (const Value& pod : pods) {
    if (!runs(pod)) continue;
    Value containers = Value::array();
    for (const Value& container : pod["spec"]["containers"].items()) {
      const ResourceUsage usage =
          stated.of(pod, usage_of(pod["metadata"]["uid"].str(), container, now.value / kStep.value));
      containers.push_back(Value::object({{"name", container["name"]}, {"usage", to_value(usage)}}));
    }
    metrics.push_back(metrics_object(pod, "PodMetrics", now, "containers", std::move(containers)));
  }
  return metrics;
}

std::vector<Value> node_metrics(const std::vector<Value>& nodes, const std::vector<Value>& pods,
                                const std::vector<Value>& workloads, UtcMillis now) {
  const StatedUsage stated{pods, workloads};
  const int64_t step = now.value / kStep.value;
  std::map<std::string, ResourceUsage, std::less<>> by_node;
  for (const Value& pod : pods) {
    if (!runs(pod)) continue;
    ResourceUsage& sum = by_node[pod["spec"]["nodeName"].str()];
    for (const Value& container : pod["spec"]["containers"].items()) {
      const ResourceUsage usage = stated.of(pod, usage_of(pod["metadata"]["uid"].str(), container, step));
      sum.cpu_nano += usage.cpu_nano;
      sum.memory_ki += usage.memory_ki;
    }
  }
  std::vector<Value> metrics;
  for (const Value& node : nodes) {
    const std::string name = node["metadata"]["name"].str();
    ResourceUsage usage = by_node[name];
    usage.cpu_nano += percent(name + "/" + std::to_string(step), 90, 130) * kNano;
    usage.memory_ki += percent(name, 380, 460) * kMi;
    metrics.push_back(metrics_object(node, "NodeMetrics", now, "usage", to_value(usage)));
  }
  return metrics;
}

}  // namespace shiplog::member
