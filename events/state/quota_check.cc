#include "events/state/quota_check.h"

#include <algorithm>

#include "events/explain/text.h"

namespace shiplog {
namespace {

/// Before it, only resources of which more is used were compared with their limits.
constexpr uint32_t kWholeQuotaFoldVersion = 7;
/// What an API server puts before the answer of the webhook that refuses bindings upstream.
constexpr const char* kDenied = "admission webhook \"resourcebinding.karmada.io\" denied the request: ";

std::string amount_text(const std::string& resource, const Quantity& amount) {
  return to_value(ResourceList{{resource, amount}})[resource].str();
}

bool grows(const ResourceList& more, const std::string& resource) {
  const auto found = more.find(resource);
  return found != more.end() && !found->second.is_zero() && !found->second.negative();
}

Quantity amount_of(const ResourceList& list, const std::string& resource) {
  const auto found = list.find(resource);
  return found == list.end() ? Quantity{} : found->second;
}

}  // namespace

std::optional<QuotaExcess> quota_excess(const State& state, std::string_view ns, const ResourceList& more) {
  const bool whole = state.fold_version() >= kWholeQuotaFoldVersion;
  const ResourceList& used = state.quota_usage(ns);
  const auto& quotas = state.quotas();
  for (auto entry = quotas.lower_bound({ns, ""}); entry != quotas.end() && entry->first.ns == ns; ++entry) {
    const ResourceList& overall = entry->second.overall;
    if (std::ranges::none_of(overall, [&](const auto& limit) { return grows(more, limit.first); })) continue;
    for (const auto& [resource, limit] : overall) {
      if (!whole && !grows(more, resource)) continue;
      const Quantity sum = amount_of(used, resource) + amount_of(more, resource);
      if (sum <= limit) continue;
      const Fact why = QuotaExceeded{std::string{ns}, entry->first.name.str(), resource, amount_text(resource, sum),
                                     amount_text(resource, limit)};
      return QuotaExcess{
          {type::kFederatedResourceQuota, ns, entry->first.name}, why, (whole ? kDenied : "") + text_of(why)};
    }
  }
  return std::nullopt;
}

ResourceList usage_difference(const ResourceList& before, const ResourceList& after) {
  ResourceList difference = after;
  for (const auto& [name, amount] : before) difference[name] = difference[name] - amount;
  std::erase_if(difference, [](const auto& item) { return item.second.is_zero(); });
  return difference;
}

std::optional<QuotaExcess> quota_excess_of_change(const State& state, const ObjectKey& binding, const Value& before,
                                                  const Value& after) {
  const FeatureGates gates = state.gates();
  if (!gates.quota_enforcement || binding.type != type::kResourceBinding) return std::nullopt;
  const bool components = gates.multiple_pod_templates;
  return quota_excess(state, binding.ns, usage_difference(usage_of(before, components), usage_of(after, components)));
}

Value overall_used(const Quota& quota, const ResourceList& usage) {
  ResourceList used;
  for (const auto& [name, amount] : usage) {
    if (quota.overall.contains(name) && !amount.is_zero() && !amount.negative()) used.emplace(name, amount);
  }
  return to_value(used);
}

}  // namespace shiplog
