#include "services/scheduler/estimate/resource_summary.h"

#include <algorithm>
#include <limits>

namespace shiplog::scheduler {
namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int32_t>::max();

Quantity amount(const std::map<std::string, Quantity>& list, const std::string& name) {
  const auto found = list.find(name);
  return found == list.end() ? Quantity{} : found->second;
}

Quantity left(const Cluster& cluster, const std::string& name) {
  return amount(cluster.allocatable, name) - amount(cluster.allocated, name) - amount(cluster.allocating, name);
}

int64_t fitting(const Cluster& cluster, const std::string& name, const Quantity& request) {
  if (!cluster.allocatable.contains(name)) return 0;
  const Quantity free = left(cluster, name);
  if (free.units() <= 0) return 0;
  // CPU is divided in thousandths, all else in whole units, both sides rounded up.
  if (name == "cpu") return free.milli() / request.milli();
  return free.units() / request.units();
}

}  // namespace

int64_t allocatable_replicas(const Binding& binding, const Cluster& cluster) {
  if (binding.replicas == 0) return kUnlimited;
  int64_t fits = left(cluster, "pods").units();
  if (fits <= 0) return 0;
  for (const auto& [name, request] : binding.request) {
    if (request.is_zero() || request.negative()) continue;
    fits = std::min(fits, fitting(cluster, name, request));
  }
  return fits >= kUnlimited ? binding.replicas : fits;  // S-63: no bound found
}

}  // namespace shiplog::scheduler
