#include <algorithm>

#include "events/state/eviction.h"
#include "events/state/quota_check.h"
#include "events/state/work.h"
#include "services/roles/taint/decisions.h"

namespace shiplog::taint {
namespace {

constexpr Millis kQuotaAgain{60'000};
/// A creationTimestamp has whole seconds: the grace period may have begun almost a second later.
constexpr Millis kWholeSecond{1'000};

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

/// Null: there is none.
const Value& work_of(const State& state, const ObjectKey& key, const Value& binding, const std::string& cluster) {
  const char* id_label = key.type == type::kResourceBinding ? label::kBindingId : label::kClusterBindingId;
  const std::string space = execution_space(cluster);
  for (const ObjectKey& labelled : state.labelled(id_label, label_of(binding, id_label))) {
    if (labelled.type != type::kWork || labelled.ns != space) continue;
    const Value& work = state.value_of(labelled);
    if (!deleting(work)) return work;
  }
  return state.value_of({});
}

/// The remaining targets have what is placed on them now, and are healthy with it.
bool remaining_healthy(const State& state, const ObjectKey& key, const Value& binding) {
  if (state.fold_version() < 4) return all_reported_healthy(binding);
  const char* id_label = key.type == type::kResourceBinding ? label::kBindingId : label::kClusterBindingId;
  const auto id = label_of(binding, id_label);
  const auto work_in = [&](const std::string& cluster) -> const Value& {
    return work_of(state, key, binding, cluster);
  };
  return !id.empty() && eviction_blockers(binding, work_in).empty();
}

/// This eviction can wait. (Upstream removes the copy when the grace period is over, 2.6.5.)
bool waits_for_another_cluster(const State& state, const ObjectKey& key, const Value& binding, const Value& task) {
  if (state.fold_version() < 7) return false;
  const std::string from = task["fromCluster"].str();
  return keeps_last_copy(binding, task, state.value_of({type::kCluster, "", from}), work_of(state, key, binding, from));
}

/// Its NoExecute taints no longer drive the binding off.
bool takes_again(const State& state, const Value& binding, const std::string& cluster, UtcMillis now) {
  const auto tolerations = recorded_tolerations(binding);
  if (!tolerations || !tolerations.value()) return false;
  return !judge(state.value_of({type::kCluster, "", cluster}), *tolerations.value(), now).evicted_by;
}

/// The binding with the cluster of a task among its targets once more. In one entry with the task's end, as without
/// either the Work there would be an orphan.
Value placed_back(const Value& binding, const Value& task) {
  const std::string from = task["fromCluster"].str();
  Value back = binding;
  Value& spec = back.edit("spec");
  Value::Array& tasks = spec.edit("gracefulEvictionTasks").edit_items();
  std::erase_if(tasks, [&](const Value& other) { return other["fromCluster"].as_string() == from; });
  if (tasks.empty()) spec.erase("gracefulEvictionTasks");
  if (spec["clusters"].is_null()) spec.set("clusters", Value::array());
  Value target = Value::object({{"name", from}});
  if (task["replicas"].as_int() > 0) target.set("replicas", task["replicas"].as_int());
  spec.edit("clusters").push_back(std::move(target));
  return back;
}

/// 2.6.3: tasks that others made get the time from which their grace period counts.
std::optional<Event> with_times(const State& state, const ObjectKey& key, const Value& binding, UtcMillis now) {
  if (state.fold_version() < 7) return std::nullopt;
  const auto untimed = [](const Value& task) { return task["creationTimestamp"].is_empty(); };
  if (std::ranges::none_of(binding["spec"]["gracefulEvictionTasks"].items(), untimed)) return std::nullopt;
  Value timed = binding;
  for (Value& task : timed.edit("spec").edit("gracefulEvictionTasks").edit_items()) {
    if (untimed(task)) task.set("creationTimestamp", rfc3339(now));
  }
  return ObjectUpdated{key, std::move(timed)};
}

/// Until when a task may last at most; nullopt: not known yet.
std::optional<UtcMillis> end_of(const Value& task, Millis timeout) {
  const auto since = parse_rfc3339(task["creationTimestamp"].as_string());
  if (!since) return std::nullopt;
  const Value& own = task["gracePeriodSeconds"];
  return since.value() + (own.is_null() ? timeout : Millis{own.as_int() * 1000});
}

/// Why a task is over, or empty (TN-28). `next`: when time alone will end it.
std::string over(const Value& task, Millis timeout, bool rest_is_healthy, bool last_copy, UtcMillis now,
                 std::optional<UtcMillis>& next) {
  if (const Value* hold = task.find("suppressDeletion"); hold != nullptr && hold->is_bool()) {
    return hold->as_bool() ? "" : "suppressDeletion is false";
  }
  const auto until = end_of(task, timeout);
  if (!until) return "";
  if (now > *until && last_copy) return "";  // the scheduler, the cluster or the health there ends it
  if (now > *until) return "grace period is over";
  if (rest_is_healthy) return "the remaining clusters are healthy";
  sooner(next, *until + kWholeSecond);
  return "";
}

}  // namespace

Result<Evictions> decide_evictions(const State& state, const ObjectKey& key, const Value& binding, UtcMillis now) {
  Evictions evictions;
  if (deleting(binding)) return evictions;
  const auto tasks = binding["spec"]["gracefulEvictionTasks"].items();
  const Millis timeout = state.options().graceful_eviction_timeout();
  const bool rest_is_healthy = !tasks.empty() && remaining_healthy(state, key, binding);
  for (const Value& task : tasks) {
    const bool last_copy = waits_for_another_cluster(state, key, binding, task);
    std::string reason = over(task, timeout, rest_is_healthy, last_copy, now, evictions.next);
    // The scheduler cannot choose a cluster that a task leaves, so the last copy would stay as it is for ever.
    const auto until = end_of(task, timeout);
    if (reason.empty() && last_copy && until && now > *until && task["suppressDeletion"].is_null() &&
        takes_again(state, binding, task["fromCluster"].str(), now)) {
      Value back = placed_back(binding, task);
      if (!quota_excess_of_change(state, key, binding, back)) {
        evictions.events = {EvictionFinished{key, task["fromCluster"].str(), "its cluster takes it again"},
                            ObjectUpdated{key, std::move(back)}};
        return evictions;
      }
      sooner(evictions.next, now + kQuotaAgain);  // others use what it used
    }
    if (reason.empty()) continue;
    evictions.events.push_back(EvictionFinished{key, task["fromCluster"].str(), std::move(reason)});
  }
  if (evictions.events.empty()) {
    if (auto timed = with_times(state, key, binding, now)) evictions.events.push_back(std::move(*timed));
  }
  // Whether the rest is healthy is judged on what is placed now: with an eviction ended, look again before the next.
  if (!evictions.events.empty() || !evicts(state)) return evictions;

  std::optional<std::vector<Toleration>> tolerations;
  for (const Value& target : binding["spec"]["clusters"].items()) {
    const std::string name = target["name"].str();
    const Cluster* cluster = state.cluster(name);
    if (cluster == nullptr || !has_no_execute(cluster->taints)) continue;
    if (!tolerations) {
      SHIPLOG_TRY(tolerations, recorded_tolerations(binding));
      if (!tolerations) break;
    }
    const EvictionVerdict verdict = judge(state.value_of({type::kCluster, "", name}), *tolerations, now);
    if (verdict.evicted_by) {
      SHIPLOG_TRY(EvictionStarted event, start_eviction(state, key, binding, name, *verdict.evicted_by));
      // From fold version 7 on decide_fleet_evictions() has it begin when its turn comes: here it shows only whether it
      // can.
      if (state.fold_version() < 7) evictions.events.push_back(std::move(event));
    } else if (verdict.due) {
      sooner(evictions.next, *verdict.due);
    }
  }
  return evictions;
}

}  // namespace shiplog::taint
