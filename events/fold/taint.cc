#include <algorithm>

#include "events/fold/apply.h"
#include "events/fold/record.h"
#include "events/state/eviction.h"
#include "events/state/eviction_record.h"
#include "events/state/failover_record.h"

namespace shiplog {
namespace {

bool same_taint(const Value& object, const Taint& taint) {
  return object["key"].as_string() == taint.key && object["effect"].as_string() == taint.effect;
}

/// What paces evictions and counts for their budget (events/state/eviction_record.h).
Applied count_eviction(Staged& staged, const std::string& cluster) {
  const ObjectKey key = eviction_record_key();
  const Value* before = staged.find(key);
  Value record = before != nullptr ? *before
                                   : Value::object({{"apiVersion", "control.shiplog.io/v1"},
                                                    {"kind", "EvictionRecord"},
                                                    {"metadata", Value::object({{"name", key.name}})}});
  return put_record(staged, key, with_eviction(std::move(record), staged.state().options(), cluster, staged.time()));
}

/// The steps of a hand-over belong to the eviction: with it they are over, unless the old copy has not stopped yet.
Applied forget_handover(Staged& staged, const EvictionFinished& event) {
  const ObjectKey key = failover_record_key(event.binding);
  const Value* record = staged.find(key);
  if (record == nullptr || (*record)["handovers"][event.cluster].is_null()) return std::nullopt;
  if ((*record)["handovers"][event.cluster]["step"].as_string() == "Stop") return std::nullopt;
  Value without = *record;
  without.edit("handovers").erase(event.cluster);
  return staged.update(key, std::move(without));
}

}  // namespace

Applied apply(Staged& staged, const TaintAdded& event) {
  return edit(staged, event.cluster, [&](Value& cluster) {
    Value::Array& taints = cluster.edit("spec").edit("taints").edit_items();
    std::erase_if(taints, [&](const Value& present) { return same_taint(present, event.taint); });
    Value taint = Value::object({{"effect", event.taint.effect}, {"key", event.taint.key}});
    if (!event.taint.value.empty()) taint.set("value", event.taint.value);
    taint.set("timeAdded", rfc3339(staged.time()));
    taints.push_back(std::move(taint));
  });
}

Applied apply(Staged& staged, const TaintRemoved& event) {
  return edit(staged, event.cluster, [&](Value& cluster) {
    Value& spec = cluster.edit("spec");
    Value::Array& taints = spec.edit("taints").edit_items();
    std::erase_if(taints, [&](const Value& present) { return same_taint(present, event.taint); });
    if (taints.empty()) spec.erase("taints");
  });
}

Applied apply(Staged& staged, const EvictionStarted& event) {
  const Value* before = staged.find(event.binding);
  if (before == nullptr) return refusal_about(event.binding, ErrorCode::kNotFound, "not found");
  const auto targets = (*before)["spec"]["clusters"].items();
  const auto target =
      std::ranges::find_if(targets, [&](const Value& entry) { return entry["name"].as_string() == event.cluster; });
  if (target == targets.end()) {
    return refusal_about(event.binding, ErrorCode::kConflict, "is not placed on " + event.cluster);
  }
  const Value leaving = *target;
  if (staged.state().fold_version() >= 7 && counts_for_budget(staged.state().options(), event.producer)) {
    if (auto refused = count_eviction(staged, event.cluster)) return refused;
  }
  return edit(staged, event.binding, [&](Value& binding) {
    Value& spec = binding.edit("spec");
    std::erase_if(spec.edit("clusters").edit_items(),
                  [&](const Value& entry) { return entry["name"].as_string() == event.cluster; });
    Value& tasks = spec.edit("gracefulEvictionTasks");
    // From fold version 7 on a cluster has one task at most; the one it has stays as it is (2.6.2).
    const bool has_task = std::ranges::any_of(
        tasks.items(), [&](const Value& present) { return present["fromCluster"].as_string() == event.cluster; });
    if (has_task && staged.state().fold_version() >= 7) return;
    Value task = Value::object({{"fromCluster", event.cluster},
                                {"reason", event.reason},
                                {"message", event.message},
                                {"producer", event.producer},
                                {"creationTimestamp", rfc3339(staged.time())}});
    if (leaving.contains("replicas")) task.set("replicas", leaving["replicas"]);
    if (!event.purge_mode.empty()) task.set("purgeMode", event.purge_mode);
    if (event.grace_seconds > 0) task.set("gracePeriodSeconds", event.grace_seconds);
    if (event.suppress_deletion) task.set("suppressDeletion", true);
    if (event.preserved_labels.size() > 0) task.set("preservedLabelState", event.preserved_labels);
    if (!event.clusters_before.empty()) {
      Value& before_failover = task.edit("clustersBeforeFailover");
      for (const std::string& cluster : event.clusters_before) before_failover.push_back(cluster);
    }
    tasks.push_back(std::move(task));
  });
}

Applied apply(Staged& staged, const EvictionsPaused& event) {
  return edit(staged, event.cluster, [&](Value& cluster) {
    set_condition(cluster, kEvictionsPausedCondition, "True", event.reason, event.message, staged.time());
  });
}

Applied apply(Staged& staged, const EvictionsResumed& event) {
  return edit(staged, event.cluster, [&](Value& cluster) {
    set_condition(cluster, kEvictionsPausedCondition, "False", event.reason, event.message, staged.time());
  });
}

Applied apply(Staged& staged, const EvictionFinished& event) {
  if (staged.state().fold_version() >= 7) {
    if (auto refused = forget_handover(staged, event)) return refused;
  }
  return edit(staged, event.binding, [&](Value& binding) {
    Value& spec = binding.edit("spec");
    Value::Array& tasks = spec.edit("gracefulEvictionTasks").edit_items();
    std::erase_if(tasks, [&](const Value& entry) { return entry["fromCluster"].as_string() == event.cluster; });
    if (tasks.empty()) spec.erase("gracefulEvictionTasks");
  });
}

}  // namespace shiplog
