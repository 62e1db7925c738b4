#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "events/base/value.h"

namespace shiplog {

/// The PriorityClasses that every cluster has. Source: pkg/apis/scheduling/v1/helpers.go of Kubernetes.
struct SystemPriorityClass {
  std::string_view name;
  int64_t value;
  std::string_view description;
};

inline constexpr SystemPriorityClass kSystemPriorityClasses[] = {
    {"system-node-critical", 2'000'001'000,
     "Used for system critical pods that must not be moved from their current node."},
    {"system-cluster-critical", 2'000'000'000,
     "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary."},
};

/// nullptr: there is none of this name.
inline const SystemPriorityClass* system_priority_class(std::string_view name) {
  const auto* found = std::ranges::find(kSystemPriorityClasses, name, &SystemPriorityClass::name);
  return found == std::end(kSystemPriorityClasses) ? nullptr : found;
}

/// As an API server makes it.
inline Value new_priority_class(const SystemPriorityClass& made) {
  return Value::object({{"apiVersion", "scheduling.k8s.io/v1"},
                        {"kind", "PriorityClass"},
                        {"metadata", Value::object({{"name", made.name}, {"generation", 1}})},
                        {"value", made.value},
                        {"description", made.description},
                        {"preemptionPolicy", "PreemptLowerPriority"}});
}

}  // namespace shiplog
