#include "services/scheduler/estimate/resource_summary.h"

#include <algorithm>
#include <limits>

namespace shiplog::scheduler {
namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int32_t>::max();

}  // namespace

Estimate::Estimate(const Binding& binding) : replicas_{binding.replicas} {
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
  for (const Request& request : requests_) {
    const auto found = cluster.room.find(request.resource);
    if (found == cluster.room.end() || found->second.units <= 0) return 0;
    fits = std::min(fits, (request.in_milli ? found->second.milli : found->second.units) / request.amount);
  }
  return fits >= kUnlimited ? replicas_ : fits;  // S-63: no bound found
}

}  // namespace shiplog::scheduler
