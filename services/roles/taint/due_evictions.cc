#include "services/roles/taint/due_evictions.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "events/state/binding.h"
#include "events/state/failover_record.h"
#include "events/state/state_preservation.h"
#include "services/roles/failover_evictions.h"
#include "services/roles/taint/decisions.h"

namespace shiplog::taint {
namespace {

/// The verdicts on the placements of one cluster. Thousands of bindings have the same few placements: each is parsed
/// and judged once.
class Verdicts {
 public:
  Verdicts(const Value& cluster, UtcMillis now) : cluster_{cluster}, now_{now} {}

  /// nullptr: the placement cannot be read: then the step of the binding fails.
  const EvictionVerdict* of(const Value& binding) {
    const auto [verdict, added] = by_placement_.try_emplace(annotation_of(binding, kAppliedPlacementAnnotation));
    if (added) {
      const auto tolerations = recorded_tolerations(binding);
      if (tolerations && tolerations.value()) verdict->second = judge(cluster_, *tolerations.value(), now_);
    }
    return verdict->second ? &*verdict->second : nullptr;
  }

 private:
  const Value& cluster_;
  const UtcMillis now_;
  std::map<std::string_view, std::optional<EvictionVerdict>> by_placement_;
};

DueEviction due_from(const ObjectKey& key, const Value& binding, std::string cluster) {
  DueEviction due;
  due.priority = binding["spec"]["schedulePriority"]["priority"].as_int();
  due.key = &key;
  due.binding = &binding;
  due.cluster = std::move(cluster);
  return due;
}

void add_for_taints(const State& state, UtcMillis now, DueEvictions& found) {
  for (const auto& [name, cluster] : state.clusters()) {
    if (!has_no_execute(cluster.taints)) continue;
    Verdicts verdicts{state.value_of({type::kCluster, "", name}), now};
    for (const ObjectKey& key : state.view<TargetIndex>().on(name)) {
      const Value& binding = state.value_of(key);
      const EvictionVerdict* verdict = verdicts.of(binding);
      if (verdict == nullptr || deleting(binding)) continue;
      if (verdict->evicted_by) {
        found.due.push_back(due_from(key, binding, name));
        found.due.back().taint = verdict->evicted_by;
      } else if (verdict->due) {
        sooner(found.next, *verdict->due);
      }
    }
  }
}

/// The key in the state that lives as long as it does; nullptr: the binding is not placed there.
const ObjectKey* placed(const State& state, const ObjectKey& key, std::string_view cluster) {
  const auto& bindings = state.view<TargetIndex>().on(cluster);
  const auto there = bindings.find(key);
  return there == bindings.end() ? nullptr : &*there;
}

void add_for_application_failover(const State& state, UtcMillis now, DueEvictions& found) {
  for (const auto& [name, record] : state.objects(kFailoverRecordType)) {
    const auto timers = record.value["timers"].members();
    if (timers.empty()) continue;
    const ObjectKey key = binding_of_failover_record({kFailoverRecordType, name.ns, name.name});
    const Value& binding = state.value_of(key);
    if (binding.is_null() || deleting(binding)) continue;
    for (const auto& timer : timers) {
      const UtcMillis since{timer.value.as_int()};
      if (const UtcMillis due = application_failover::due_at(binding, since); now < due) {
        sooner(found.next, due);
        continue;
      }
      std::string cluster{timer.key()};
      const ObjectKey* there = placed(state, key, cluster);
      // The role application-failover has not stopped the timer yet.
      if (there == nullptr || !application_failover::calm_because(state, binding, cluster).empty() ||
          !application_failover::unwatched_because(state, key, binding, now).empty()) {
        continue;
      }
      found.due.push_back(due_from(*there, binding, std::move(cluster)));
      found.due.back().unhealthy_since = since;
    }
  }
}

}  // namespace

DueEvictions due_evictions(const State& state, UtcMillis now) {
  DueEvictions found;
  if (evicts(state)) add_for_taints(state, now, found);
  if (application_failover::evictions_take_turns(state)) add_for_application_failover(state, now, found);
  const auto in_turn = [](const DueEviction& a, const DueEviction& b) {
    return std::tie(b.priority, a.key->ns, a.key->name, a.key->type, a.cluster) <
           std::tie(a.priority, b.key->ns, b.key->name, b.key->type, b.cluster);
  };
  std::ranges::stable_sort(found.due, in_turn);
  // Of two reasons the taint, which was added first.
  const auto again = std::ranges::unique(
      found.due, [](const DueEviction& a, const DueEviction& b) { return a.key == b.key && a.cluster == b.cluster; });
  found.due.erase(again.begin(), again.end());
  return found;
}

Result<EvictionStarted> start(const State& state, const DueEviction& due) {
  if (due.taint) return start_eviction(state, *due.key, *due.binding, due.cluster, *due.taint);
  EvictionStarted event = application_failover::eviction_of(*due.key, *due.binding, due.cluster, *due.unhealthy_since);
  std::optional<Error> unpreserved;
  if (!preserve_state(state, *due.binding, "application", event, unpreserved)) return *unpreserved;
  return event;
}

}  // namespace shiplog::taint
