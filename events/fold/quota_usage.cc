#include <map>

#include "events/fold/staged.h"
#include "events/state/quota_check.h"

namespace shiplog {
namespace {

constexpr uint32_t kUsageInStatusFoldVersion = 7;

bool has_quota(const State& state, std::string_view ns) {
  const auto first = state.quotas().lower_bound({ns, ""});
  return first != state.quotas().end() && first->first.ns == ns;
}

/// commit() is going to remove it.
bool is_last_version(const Value& binding) {
  return deleting(binding) && binding["metadata"]["finalizers"].size() == 0;
}

}  // namespace

Applied Staged::settle_quotas() {
  const FeatureGates gates = state_.gates();
  if (!gates.quota_enforcement || state_.quotas().empty()) return std::nullopt;
  std::map<std::string, ResourceList> more_by_namespace;
  for (const Touched& staged : touched_) {
    if (staged.key.type != type::kResourceBinding || !has_quota(state_, staged.key.ns)) continue;
    const Value before = staged.before == nullptr ? Value{} : staged.before->value;
    ResourceList& more = more_by_namespace[staged.key.ns.str()];
    const Value after = is_last_version(staged.value) ? Value{} : staged.value;
    add_resources(more, usage_difference(usage_of(before, gates.multiple_pod_templates),
                                         usage_of(after, gates.multiple_pod_templates)));
  }
  for (const auto& [ns, more] : more_by_namespace) {
    if (more.empty()) continue;
    if (auto excess = quota_excess(state_, ns, more)) {
      return Refusal{ErrorCode::kForbidden, std::move(excess->message), std::move(excess->quota)};
    }
    if (state_.fold_version() < kUsageInStatusFoldVersion) continue;
    // a reader of the new placement also sees what it uses. The role brings up to date what else changes the
    // status.
    ResourceList used = state_.quota_usage(ns);
    add_resources(used, more);
    const auto& quotas = state_.quotas();
    for (auto entry = quotas.lower_bound({ns, ""}); entry != quotas.end() && entry->first.ns == ns; ++entry) {
      const ObjectKey key{type::kFederatedResourceQuota, ns, entry->first.name};
      const Value* quota = find(key);
      if (quota == nullptr) continue;  // removed by this entry
      Value now_used = overall_used(entry->second, used);
      if ((*quota)["status"]["overallUsed"] == now_used) continue;
      Value changed = *quota;
      changed.edit("status").set("overallUsed", std::move(now_used));
      if (Applied refused = update_status(key, std::move(changed))) return refused;
    }
  }
  return std::nullopt;
}

}  // namespace shiplog
