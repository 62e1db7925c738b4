#include "services/roles/taint/due_evictions.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "events/state/binding.h"
#include "events/state/failover_record.h"
#include "events/state/state_preservation.h"
#include "services/roles/failover_evictions.h"
#include "services/roles/taint/decisions.h"

namespace shiplog::taint {

bool DueQueue::InTurn::operator()(const DueEvictions& a, const DueEvictions& b) const {
  return std::tie(b.priority, a.first().ns, a.first().name, a.first().type, a.cluster) <
         std::tie(a.priority, b.first().ns, b.first().name, b.first().type, b.cluster);
}

DueQueue::DueQueue(const State& state, UtcMillis now) {
  if (evicts(state)) add_for_taints(state, now);
  if (application_failover::evictions_take_turns(state)) add_for_application_failover(state, now);
}

void DueQueue::give_back(DueEvictions taken) {
  ++taken.next;
  if (--taken.left > 0) due_.insert(std::move(taken));
}

void DueQueue::add_for_taints(const State& state, UtcMillis now) {
  for (const auto& [name, cluster] : state.clusters()) {
    if (!has_no_execute(cluster.taints)) continue;
    const Value& object = state.value_of({type::kCluster, "", name});
    for (const auto& [alike, group] : state.view<TargetIndex>().on(name)) {
      if (alike.deleting || !group.tolerations) continue;  // a placement that cannot be read: the binding's step fails
      const EvictionVerdict verdict = judge(object, *group.tolerations, now);
      if (verdict.evicted_by) {
        due_.insert({alike.priority,
                     name,
                     alike.kind,
                     verdict.evicted_by,
                     {},
                     &group.bindings,
                     group.bindings.begin(),
                     group.bindings.size()});
      } else if (verdict.due) {
        sooner(next_, *verdict.due);
      }
    }
  }
}

/// Of two reasons the taint.
bool DueQueue::has_taint_eviction(const ObjectKey& binding, std::string_view cluster) const {
  return std::ranges::any_of(due_, [&](const DueEvictions& group) {
    return group.taint && group.cluster == cluster && group.bindings->contains(binding);
  });
}

void DueQueue::add_for_application_failover(const State& state, UtcMillis now) {
  for (const auto& [name, record] : state.objects(kFailoverRecordType)) {
    const auto timers = record.value["timers"].members();
    if (timers.empty()) continue;
    const ObjectKey key = binding_of_failover_record({kFailoverRecordType, name.ns, name.name});
    const Value& binding = state.value_of(key);
    if (binding.is_null() || deleting(binding)) continue;
    for (const auto& timer : timers) {
      const UtcMillis since{timer.value.as_int()};
      if (const UtcMillis due = application_failover::due_at(binding, since); now < due) {
        sooner(next_, due);
        continue;
      }
      const std::string_view cluster = timer.key();
      // The role application-failover has not stopped the timer yet.
      if (!application_failover::calm_because(state, binding, cluster).empty() ||
          !application_failover::unwatched_because(state, key, binding, now).empty() ||
          has_taint_eviction(key, cluster)) {
        continue;
      }
      const std::set<ObjectKey>& only = singles_.emplace_back(std::set<ObjectKey>{key});
      due_.insert({binding["spec"]["schedulePriority"]["priority"].as_int(),
                   cluster,
                   binding["spec"]["resource"]["kind"].as_string(),
                   {},
                   since,
                   &only,
                   only.begin(),
                   1});
    }
  }
}

Result<EvictionStarted> start(const State& state, const DueEvictions& due) {
  const ObjectKey& key = due.first();
  const Value& binding = state.value_of(key);
  const std::string cluster{due.cluster};
  if (due.taint) return start_eviction(state, key, binding, cluster, *due.taint);
  EvictionStarted event = application_failover::eviction_of(key, binding, cluster, *due.unhealthy_since);
  std::optional<Error> unpreserved;
  if (!preserve_state(state, binding, "application", event, unpreserved)) return *unpreserved;
  return event;
}

}  // namespace shiplog::taint
