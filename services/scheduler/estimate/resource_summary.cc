#include "services/scheduler/estimate/resource_summary.h"

#include <algorithm>
#include <limits>

namespace shiplog::scheduler {
namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int32_t>::max();

}  // namespace

Estimate::Estimate(const Binding& binding) : replicas_{binding.replicas}, required_{binding.requires_room} {
  for (const auto& [name, request] : binding.request) {
    if (request.is_zero() || request.negative()) continue;
    // CPU is divided in thousandths, all else in whole units, both sides rounded up.
    const bool in_milli = name == "cpu";
    requests_.push_back({name, in_milli ? request.milli() : request.units(), in_milli});
  }
}

int64_t Estimate::operator()(const Cluster& cluster) const {
  if (replicas_ == 0) return kUnlimited;
  static const std::string kPods = "pods";
  const auto pods = cluster.room.find(kPods);
  if (pods == cluster.room.end() || pods->second.units <= 0) return 0;
  int64_t fits = pods->second.units;
  if (required_) fits = std::min(fits, cluster.grades.empty() ? by_sums(cluster) : by_grades(cluster));
  return fits >= kUnlimited ? replicas_ : fits;  // S-63: no bound found
}

int64_t Estimate::by_sums(const Cluster& cluster) const {
  int64_t fits = kUnlimited;
  for (const Request& request : requests_) {
    const auto found = cluster.room.find(request.resource);
    if (found == cluster.room.end() || found->second.units <= 0) return 0;
    fits = std::min(fits, (request.in_milli ? found->second.milli : found->second.units) / request.amount);
  }
  return fits;
}

/// Each node is taken to have the least of its grade and no pods yet. Replicas are alike, so placing them one by one,
/// first fit, fills each node up.
int64_t Estimate::by_grades(const Cluster& cluster) const {
  constexpr int64_t kPodsOfANode = 110;
  int64_t fits = 0;
  for (const Cluster::Grade& grade : cluster.grades) {
    int64_t on_one = kPodsOfANode;
    for (const Request& request : requests_) {
      const auto found = grade.least.find(request.resource);
      if (found == grade.least.end()) return 0;  // not modelled: nothing is known to be there
      on_one = std::min(on_one, (request.in_milli ? found->second.milli : found->second.units) / request.amount);
    }
    fits = std::min(kUnlimited, fits + std::min(grade.nodes, kUnlimited) * on_one);
  }
  return fits;
}

}  // namespace shiplog::scheduler
