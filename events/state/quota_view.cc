#include "events/state/quota_view.h"

#include "events/base/check.h"

namespace shiplog {
namespace {

const ResourceList kNoUsage;

void add(ResourceList& sum, const ResourceList& amounts, int sign) {
  for (const auto& [name, amount] : amounts) {
    Quantity& total = sum[name];
    total = sign > 0 ? total + amount : total - amount;
    if (total.is_zero()) sum.erase(name);
  }
}

}  // namespace

void QuotaView::update(const ObjectKey& key, const Value& before, const Value& after, const ObjectStore& objects) {
  if (key.type == type::kResourceBinding) {
    const auto usage = usage_.find(key.ns);
    if (usage == usage_.end() || before["spec"] == after["spec"]) return;
    add(usage->second, usage_of(before, components_), -1);
    add(usage->second, usage_of(after, components_), +1);
    return;
  }
  if (key.type == kFeatureGatesType) {
    const bool components = feature_gates_from(after).multiple_pod_templates;
    if (components == components_) return;
    components_ = components;
    for (auto& [ns, usage] : usage_) usage = sum(objects, ns);
    return;
  }
  const ObjectStore::Name name{key.ns, key.name};
  if (!after.is_null()) {
    quotas_[name] = quota_from(after);
    const auto [usage, added] = usage_.try_emplace(key.ns.str());
    if (added) usage->second = sum(objects, key.ns);
    return;
  }
  quotas_.erase(name);
  const auto next = quotas_.lower_bound({key.ns, ""});
  if (next == quotas_.end() || next->first.ns != key.ns) usage_.erase(key.ns.str());
}

ResourceList QuotaView::sum(const ObjectStore& objects, std::string_view ns) const {
  ResourceList total;
  for (const auto& [name, binding] : objects.objects(type::kResourceBinding, ns)) {
    add(total, usage_of(binding.value, components_), +1);
  }
  return total;
}

const ResourceList& QuotaView::usage(std::string_view ns) const {
  const auto found = usage_.find(ns);
  if (found != usage_.end()) return found->second;
  const auto quota = quotas_.lower_bound({std::string{ns}, ""});
  SHIPLOG_CHECK(quota == quotas_.end() || quota->first.ns != ns, "usage is counted in each namespace with a quota");
  return kNoUsage;
}

}  // namespace shiplog
