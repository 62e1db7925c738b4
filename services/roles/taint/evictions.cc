#include <algorithm>

#include "events/base/json.h"
#include "events/state/binding.h"
#include "events/state/eviction.h"
#include "events/state/placement.h"
#include "events/state/state_preservation.h"
#include "events/state/work.h"
#include "services/roles/taint/decisions.h"

namespace shiplog::taint {
namespace {

void sooner(std::optional<UtcMillis>& next, UtcMillis at) {
  if (!next || at < *next) next = at;
}

/// Whether a cluster's NoExecute taints drive a binding off, and if not now, when (TN-19).
struct EvictionVerdict {
  std::optional<Taint> evicted_by;
  std::optional<UtcMillis> due;
};

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

/// Before fold version 4: the last health that was reported counts, whichever placement it is of.
bool all_reported_healthy(const Value& binding) {
  if (binding["status"]["schedulerObservedGeneration"] != binding["metadata"]["generation"]) return false;
  const auto items = binding["status"]["aggregatedStatus"].items();
  return std::ranges::all_of(binding["spec"]["clusters"].items(), [&](const Value& target) {
    const auto item =
        std::ranges::find_if(items, [&](const Value& entry) { return entry["clusterName"] == target["name"]; });
    return item != items.end() && (*item)["health"].as_string() == "Healthy";
  });
}

/// The remaining targets have what is placed on them now, and are healthy with it.
bool remaining_healthy(const State& state, const ObjectKey& key, const Value& binding) {
  if (state.fold_version() < 4) return all_reported_healthy(binding);
  const char* id_label = key.type == type::kResourceBinding ? label::kBindingId : label::kClusterBindingId;
  const auto id = label_of(binding, id_label);
  const auto work_of = [&](const std::string& cluster) -> const Value& {
    const std::string space = execution_space(cluster);
    for (const ObjectKey& labelled : state.labelled(id_label, id)) {
      if (labelled.type != type::kWork || labelled.ns != space) continue;
      const Value& work = state.value_of(labelled);
      if (!deleting(work)) return work;
    }
    return state.value_of({});
  };
  return !id.empty() && eviction_blockers(binding, work_of).empty();
}

/// Why a task is over, or empty (TN-28). `next`: when time alone will end it.
std::string over(const Value& task, Millis timeout, bool rest_is_healthy, UtcMillis now,
                 std::optional<UtcMillis>& next) {
  if (const Value* hold = task.find("suppressDeletion"); hold != nullptr && hold->is_bool()) {
    return hold->as_bool() ? "" : "suppressDeletion is false";
  }
  const auto since = parse_rfc3339(task["creationTimestamp"].as_string());
  if (!since) return "";
  const Value& own = task["gracePeriodSeconds"];
  const Millis grace = own.is_null() ? timeout : Millis{own.as_int() * 1000};
  const UtcMillis until = since.value() + grace;
  if (now > until) return "grace period is over";
  if (rest_is_healthy) return "the remaining clusters are healthy";
  sooner(next, until + Millis{1});
  return "";
}

/// TN-16. Before fold version 7 NoExecute taints always evicted.
bool evicts(const State& state) {
  return state.fold_version() < 7 || (state.gates().failover && state.options().evicts_for_no_execute());
}

}  // namespace

Result<Evictions> decide_evictions(const State& state, const ObjectKey& key, const Value& binding, UtcMillis now) {
  Evictions evictions;
  if (deleting(binding)) return evictions;
  const auto tasks = binding["spec"]["gracefulEvictionTasks"].items();
  const Millis timeout = state.options().graceful_eviction_timeout();
  const bool rest_is_healthy = !tasks.empty() && remaining_healthy(state, key, binding);
  for (const Value& task : tasks) {
    std::string reason = over(task, timeout, rest_is_healthy, now, evictions.next);
    if (reason.empty()) continue;
    evictions.events.push_back(EvictionFinished{key, task["fromCluster"].str(), std::move(reason)});
  }
  // Whether the rest is healthy is judged on what is placed now: with an eviction ended, look again before the next.
  if (!evictions.events.empty() || !evicts(state)) return evictions;

  // TN-18: what counts is the placement that the scheduler used, not a later one of a policy.
  const auto applied_placement = annotation_of(binding, kAppliedPlacementAnnotation);
  std::optional<std::vector<Toleration>> tolerations;
  std::optional<Error> unpreserved;
  for (const Value& target : binding["spec"]["clusters"].items()) {
    const Value& cluster = state.value_of({type::kCluster, "", target["name"].str()});
    const bool tainted = std::ranges::any_of(
        cluster["spec"]["taints"].items(), [](const Value& item) { return item["effect"].as_string() == "NoExecute"; });
    if (!tainted || applied_placement.empty()) continue;
    if (!tolerations) {
      SHIPLOG_TRY(const Value placement, parse_json(applied_placement));
      tolerations = tolerations_from(placement["clusterTolerations"]);
    }
    const EvictionVerdict verdict = judge(cluster, *tolerations, now);
    if (verdict.evicted_by) {
      EvictionStarted event;
      event.binding = key;
      event.cluster = target["name"].str();
      event.reason = "TaintUntolerated";
      event.message = "cluster " + event.cluster + " has taint {" + to_string(*verdict.evicted_by) + "}";
      event.producer = "TaintManager";
      if (state.fold_version() >= 7) event.purge_mode = state.options().purge_mode();
      if (!preserve_state(state, binding, "cluster", event, unpreserved)) continue;  // 3.4.3
      evictions.events.push_back(std::move(event));
    } else if (verdict.due) {
      sooner(evictions.next, *verdict.due);
    }
  }
  if (evictions.events.empty() && unpreserved) return *unpreserved;
  return evictions;
}

}  // namespace shiplog::taint
