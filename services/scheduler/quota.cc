#include "services/scheduler/quota.h"

namespace shiplog::scheduler {
namespace {

int64_t sum_of(const std::vector<Target>& targets) {
  int64_t sum = 0;
  for (const Target& target : targets) sum += target.replicas;
  return sum;
}

std::string text_of(const std::string& resource, const Quantity& amount) {
  return to_value(ResourceList{{resource, amount}})[resource].str();
}

}  // namespace

std::optional<QuotaRefused> exceeds_quota(const State& state, const Binding& binding,
                                          const std::vector<Target>& targets) {
  const int64_t more = sum_of(targets) - sum_of(binding.targets);
  if (binding.key.ns.empty() || more <= 0) return std::nullopt;  // cluster-scoped bindings are never checked
  const ResourceList& used = state.quota_usage(binding.key.ns);
  const auto& quotas = state.quotas();
  for (auto at = quotas.lower_bound({binding.key.ns, ""}); at != quotas.end() && at->first.ns == binding.key.ns; ++at) {
    for (const auto& [resource, limit] : at->second.overall) {
      const auto request = binding.request.find(resource);
      if (request == binding.request.end()) continue;
      const auto in_use = used.find(resource);
      const Quantity sum = (in_use == used.end() ? Quantity{} : in_use->second) + request->second * more;
      if (sum <= limit) continue;
      return QuotaRefused{binding.key,
                          {type::kFederatedResourceQuota, at->first.ns, at->first.name},
                          "FederatedResourceQuota(" + at->first.ns + "/" + at->first.name + ") exceeded for resource " +
                              resource + ": requested sum " + text_of(resource, sum) + ", limit " +
                              text_of(resource, limit) + ".",
                          binding.generation};
    }
  }
  return std::nullopt;
}

}  // namespace shiplog::scheduler
