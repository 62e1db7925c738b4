#include "services/roles/scheduler/quota.h"

#include "events/state/quota_check.h"
#include "services/roles/scheduler/assign/assign.h"

namespace shiplog::scheduler {
namespace {

/// What one more replica takes; of components, where they count, one more set of them.
ResourceList taken_by_one(const Binding& binding, bool sets) {
  if (!sets) return binding.request;
  ResourceList sum;
  for (const Component& component : binding.components) {
    if (component.replicas <= 0) continue;
    for (const auto& [name, request] : component.request) sum[name] = sum[name] + request * component.replicas;
  }
  return sum;
}

}  // namespace

std::optional<QuotaRefused> exceeds_quota(const State& state, const Binding& binding,
                                          const std::vector<Target>& targets) {
  const FeatureGates gates = state.gates();
  if (!gates.quota_enforcement) return std::nullopt;
  const bool sets = gates.multiple_pod_templates && !binding.components.empty();
  const int64_t more = sets ? static_cast<int64_t>(targets.size()) - static_cast<int64_t>(binding.targets.size())
                            : total_replicas(targets) - total_replicas(binding.targets);
  if (binding.key.ns.empty() || more <= 0) return std::nullopt;  // cluster-scoped bindings are never checked
  ResourceList usage;
  for (const auto& [name, request] : taken_by_one(binding, sets)) usage[name] = request * more;
  auto excess = quota_excess(state, binding.key.ns, usage);
  if (!excess) return std::nullopt;
  QuotaRefused refused{.binding = binding.key,
                       .quota = std::move(excess->quota),
                       .message = std::move(excess->message),
                       .observed_generation = binding.generation};
  refused.why.summary = std::move(excess->why);
  return refused;
}

}  // namespace shiplog::scheduler
