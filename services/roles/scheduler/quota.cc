#include "services/roles/scheduler/quota.h"

#include "events/explain/text.h"

namespace shiplog::scheduler {
namespace {

int64_t sum_of(const std::vector<Target>& targets) {
  int64_t sum = 0;
  for (const Target& target : targets) sum += target.replicas;
  return sum;
}

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

std::string amount_text(const std::string& resource, const Quantity& amount) {
  return to_value(ResourceList{{resource, amount}})[resource].str();
}

}  // namespace

std::optional<QuotaRefused> exceeds_quota(const State& state, const Binding& binding,
                                          const std::vector<Target>& targets) {
  const FeatureGates gates = state.gates();
  if (!gates.quota_enforcement) return std::nullopt;
  const bool sets = gates.multiple_pod_templates && !binding.components.empty();
  const int64_t more = sets ? static_cast<int64_t>(targets.size()) - static_cast<int64_t>(binding.targets.size())
                            : sum_of(targets) - sum_of(binding.targets);
  if (binding.key.ns.empty() || more <= 0) return std::nullopt;  // cluster-scoped bindings are never checked
  const ResourceList requested = taken_by_one(binding, sets);
  const ResourceList& used = state.quota_usage(binding.key.ns);
  const auto& quotas = state.quotas();
  for (auto entry = quotas.lower_bound({binding.key.ns, ""});
       entry != quotas.end() && entry->first.ns == binding.key.ns; ++entry) {
    for (const auto& [resource, limit] : entry->second.overall) {
      const auto request = requested.find(resource);
      if (request == requested.end()) continue;
      const auto in_use = used.find(resource);
      const Quantity sum = (in_use == used.end() ? Quantity{} : in_use->second) + request->second * more;
      if (sum <= limit) continue;
      QuotaRefused refused{.binding = binding.key,
                           .quota = {type::kFederatedResourceQuota, entry->first.ns, entry->first.name},
                           .message = {},
                           .observed_generation = binding.generation};
      refused.why.summary = QuotaExceeded{entry->first.ns, entry->first.name, resource, amount_text(resource, sum),
                                          amount_text(resource, limit)};
      refused.message = text_of(refused.why.summary);
      return refused;
    }
  }
  return std::nullopt;
}

}  // namespace shiplog::scheduler
