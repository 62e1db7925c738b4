#include "services/roles/application_failover/decide.h"

#include "events/state/failover_record.h"
#include "events/state/state_preservation.h"
#include "services/roles/failover_evictions.h"

namespace shiplog::application_failover {

bool concerns(const State& state, const ObjectKey& key, const Value& binding) {
  return binding["spec"]["failover"]["application"].is_object() || failover_record_of(state, key)["timers"].size() > 0;
}

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now) {
  const Object* object = state.find(key);
  if (object == nullptr || !is_binding(key.type) || deleting(object->value)) return Nothing{};
  const Value& binding = object->value;
  if (!concerns(state, key, binding)) return Nothing{};

  const ObjectKey record_key = failover_record_key(key);
  const Value& timers = state.value_of(record_key)["timers"];
  const std::string unwatched = unwatched_because(state, key, binding, now);
  std::optional<UtcMillis> next;
  std::optional<Error> failed;
  // All that is due goes into one entry (3.2.8): a binding never loses its clusters one after the other.
  DecisionBuilder decision;
  for (const auto& timer : timers.members()) {
    const std::string cluster{timer.key()};
    std::string calm = unwatched.empty() ? calm_because(state, binding, cluster) : unwatched;
    if (!calm.empty()) {
      decision.add(FailoverTimerStopped{key, cluster, std::move(calm)});
      continue;
    }
    const UtcMillis since{timer.value.as_int()};
    if (const UtcMillis due = due_at(binding, since); now < due) {
      if (!next || due < *next) next = due;
      continue;
    }
    EvictionStarted eviction = eviction_of(key, binding, cluster, since);
    if (!preserve_state(state, binding, "application", eviction, failed)) continue;
    // With a budget it begins when its turn comes: here it shows only whether it can.
    if (evictions_take_turns(state)) continue;
    decision.add(FailoverTimerStopped{key, cluster, "the workload is evicted"});
    decision.add(std::move(eviction));
  }
  if (unwatched.empty()) {
    for (const Value& target : binding["spec"]["clusters"].items()) {
      const std::string cluster = target["name"].str();
      if (timers.contains(cluster) || !calm_because(state, binding, cluster).empty()) continue;
      decision.add(FailoverTimerStarted{key, cluster, "the workload is Unhealthy"});
    }
  }
  if (!decision.empty()) {
    decision.expect({key, object->revision});
    decision.expect({record_key, state.revision_of(record_key)});
    return std::move(decision).build_and_look_again(now);
  }
  if (failed) return *failed;
  return next ? Decided{LookAgain{*next}} : Nothing{};
}

}  // namespace shiplog::application_failover
