#include <algorithm>

#include "events/base/json.h"
#include "events/state/binding.h"
#include "events/state/eviction_record.h"
#include "events/state/state_preservation.h"
#include "services/roles/taint/decisions.h"

namespace shiplog::taint {
namespace {

/// 2.5.6: that of the policy, where it has a section about clusters; else that of the fleet.
std::string purge_mode_of(const State& state, const Value& binding) {
  const Value& section = binding["spec"]["failover"]["cluster"];
  if (section.is_null()) return state.options().purge_mode();
  const std::string own = section["purgeMode"].str();
  return own.empty() ? "Gracefully" : own;
}

}  // namespace

bool evicts(const State& state) {
  return state.fold_version() < 7 || (state.gates().failover && state.options().evicts_for_no_execute());
}

bool has_no_execute(const std::vector<Taint>& taints) {
  return std::ranges::any_of(taints, [](const Taint& taint) { return taint.effect == "NoExecute"; });
}

EvictionVerdict judge(const Value& cluster, const std::vector<Toleration>& tolerations, UtcMillis now) {
  EvictionVerdict verdict;
  std::optional<Taint> limited;
  for (const Value& value : cluster["spec"]["taints"].items()) {
    const Taint taint{value["key"].str(), value["value"].str(), value["effect"].str()};
    if (taint.effect != "NoExecute") continue;
    const auto by =
        std::ranges::find_if(tolerations, [&](const Toleration& toleration) { return toleration.tolerates(taint); });
    if (by == tolerations.end()) {
      verdict.evicted_by = taint;
      return verdict;
    }
    const auto added = parse_rfc3339(value["timeAdded"].as_string());
    if (!by->seconds || !added) continue;  // tolerated for ever; or the start is unknown
    const UtcMillis until = added.value() + Millis{std::max<int64_t>(0, *by->seconds) * 1000};
    if (!verdict.due || until < *verdict.due) {
      verdict.due = until;
      limited = taint;
    }
  }
  if (verdict.due && *verdict.due <= now) verdict.evicted_by = limited;
  return verdict;
}

Result<std::optional<std::vector<Toleration>>> recorded_tolerations(const Value& binding) {
  const auto text = annotation_of(binding, kAppliedPlacementAnnotation);
  if (text.empty()) return std::optional<std::vector<Toleration>>{};
  SHIPLOG_TRY(const Value placement, parse_json(text));
  return std::optional{tolerations_from(placement["clusterTolerations"])};
}

Result<EvictionStarted> start_eviction(const State& state, const ObjectKey& key, const Value& binding,
                                       const std::string& cluster, const Taint& taint) {
  EvictionStarted event;
  event.binding = key;
  event.cluster = cluster;
  event.reason = "TaintUntolerated";
  event.message = "cluster " + cluster + " has taint {" + to_string(taint) + "}";
  event.producer = kTaintManager;
  if (state.fold_version() >= 7) event.purge_mode = purge_mode_of(state, binding);
  std::optional<Error> unpreserved;
  if (!preserve_state(state, binding, "cluster", event, unpreserved)) return *unpreserved;  // 3.4.3
  return event;
}

}  // namespace shiplog::taint
