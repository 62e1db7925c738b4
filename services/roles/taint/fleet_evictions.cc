#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "events/state/eviction.h"
#include "events/state/eviction_record.h"
#include "events/state/work.h"
#include "services/roles/taint/decide.h"
#include "services/roles/taint/decisions.h"

namespace shiplog::taint {
namespace {

/// One entry: an eviction changes a binding, and what follows from it can begin while the rest is decided.
constexpr size_t kMostInAnEntry = 500;
/// 2.5.2: as long as the taints stay.
constexpr Millis kLookAgain{10'000};

/// Bindings of one priority on one cluster that its NoExecute taints drive off. What it points to is part of the state.
struct DueEvictions {
  std::string_view cluster;
  int64_t priority = 0;
  Taint taint;
  const std::set<ObjectKey>* bindings = nullptr;
  std::set<ObjectKey>::const_iterator next = {};

  /// The highest priority first, then by name.
  bool operator<(const DueEvictions& other) const {
    return std::tie(other.priority, next->ns, next->name, cluster) <
           std::tie(priority, other.next->ns, other.next->name, other.cluster);
  }
};

/// What is to be evicted now. `next`: when a toleration ends.
std::set<DueEvictions> due_evictions(const State& state, UtcMillis now, std::optional<UtcMillis>& next) {
  std::set<DueEvictions> due;
  for (const auto& [name, cluster] : state.clusters()) {
    if (!has_no_execute(cluster.taints)) continue;
    const Value& object = state.value_of({type::kCluster, "", name});
    for (const auto& [alike, group] : state.view<TargetIndex>().on(name)) {
      if (alike.deleting || !group.tolerations) continue;  // a placement that cannot be read: the binding's step fails
      const EvictionVerdict verdict = judge(object, *group.tolerations, now);
      if (verdict.evicted_by) {
        due.insert({name, alike.priority, *verdict.evicted_by, &group.bindings, group.bindings.begin()});
      } else if (verdict.due) {
        sooner(next, *verdict.due);
      }
    }
  }
  return due;
}

/// Whether the cluster itself is not reached: it answers nothing, which need not be its own fault.
bool unreachable(const Cluster& cluster) {
  const Cluster::Condition* ready = cluster.condition("Ready");
  return ready != nullptr && (ready->status == "Unknown" || ready->reason == "ClusterNotReachable");
}

/// When most clusters are unreachable the cause is rather here than there (as Kubernetes in full disruption).
std::optional<EvictionLimit> observation_lost(const State& state, UtcMillis now) {
  size_t lost = 0;
  for (const auto& [name, cluster] : state.clusters()) lost += unreachable(cluster) ? 1U : 0U;
  if (lost * 2 <= state.clusters().size()) return std::nullopt;
  // Without the numbers, which change while clusters are lost and found again.
  return EvictionLimit{"ObservationLost",
                       "most clusters of the fleet are unreachable: the cause may be the network of the control plane",
                       now};
}

bool released(const State& state, const std::string& cluster) {
  return annotation_of(state.value_of({type::kCluster, "", cluster}), kEvictionsReleasedAnnotation) == "true";
}

/// Condition EvictionsPaused of the clusters, where it is to be another.
void report_pauses(const State& state, const std::map<std::string, EvictionLimit>& paused, DecisionBuilder& decision) {
  for (const auto& [name, cluster] : state.clusters()) {
    const ObjectKey key{type::kCluster, "", name};
    const Cluster::Condition* present = cluster.condition(kEvictionsPausedCondition);
    const bool noted = present != nullptr && present->status == "True";
    const auto limit = paused.find(name);
    if (limit == paused.end()) {
      if (!noted) continue;
      decision.add(EvictionsResumed{key, released(state, name) ? "Released" : "BudgetAvailable",
                                    "no eviction from the cluster waits any more"});
    } else if (!noted || present->reason != limit->second.reason || present->message != limit->second.message) {
      decision.add(EvictionsPaused{key, limit->second.reason, limit->second.message});
    }
  }
}

}  // namespace

Decided decide_fleet_evictions(const State& state, UtcMillis now) {
  if (state.fold_version() < 7) return Nothing{};
  std::optional<UtcMillis> next;
  std::set<DueEvictions> due = evicts(state) ? due_evictions(state, now, next) : std::set<DueEvictions>{};
  const auto lost = observation_lost(state, now);
  EvictionAllowance allowance{state, now};
  const ObjectKey record = eviction_record_key();
  DecisionBuilder decision{kMostInAnEntry};
  std::map<std::string, EvictionLimit> paused;
  std::map<std::string_view, bool> is_released;
  bool whole = true;
  while (!due.empty()) {
    // A group leaves the queue with its last binding, and when nothing in it can begin any more.
    auto group = due.extract(due.begin());
    DueEvictions& candidate = group.value();
    const std::string cluster{candidate.cluster};
    const auto [release, first] = is_released.try_emplace(candidate.cluster);
    if (first) release->second = released(state, cluster);
    if (!release->second) {
      if (lost && unreachable(*state.cluster(cluster))) {
        paused.try_emplace(cluster, *lost);
        continue;
      }
      if (const auto limit = allowance.exhausted(cluster, candidate.priority)) {
        paused.try_emplace(cluster, *limit);
        sooner(next, limit->until);
        continue;
      }
    }
    if (const auto until = allowance.paced_until()) {
      sooner(next, *until);
      continue;  // whether others are paused is still to be found out
    }
    if (!whole) continue;
    const ObjectKey& key = *candidate.next;
    auto started = start_eviction(state, key, state.value_of(key), cluster, candidate.taint);
    if (!started) {  // the step of the binding itself fails with this, too, and reports it
      sooner(next, now + kLookAgain);
    } else {
      whole = decision.try_add(std::move(started).value());
      if (whole) allowance.take(cluster);
    }
    if (++candidate.next != candidate.bindings->end()) due.insert(std::move(group));
  }
  // Another decision from the same record would spend the same budget again.
  if (!decision.empty()) decision.expect({record, state.revision_of(record)});
  report_pauses(state, paused, decision);
  if (decision.empty()) return next ? Decided{LookAgain{*next}} : Decided{Nothing{}};
  if (!whole) return std::move(decision).build_and_look_again(now);
  return next ? std::move(decision).build_and_look_again(*next) : std::move(decision).build();
}

}  // namespace shiplog::taint
