#include "services/roles/taint/fleet_evictions.h"

#include <map>
#include <string>

#include "events/state/eviction.h"
#include "events/state/eviction_record.h"
#include "events/state/failover_record.h"
#include "services/roles/taint/decide.h"
#include "services/roles/taint/decisions.h"
#include "services/roles/taint/due_evictions.h"

namespace shiplog::taint {
namespace {

/// One entry: an eviction changes a binding, and what follows from it can begin while the rest is decided.
constexpr size_t kMostInAnEntry = 500;
/// Of application failover: these expect that nothing of their workload has changed, and one that has refuses all.
constexpr size_t kMostFailoversInAnEntry = 20;
/// 2.5.2: as long as the taints stay.
constexpr Millis kLookAgain{10'000};

/// When most clusters are unreachable the cause is rather here than there (as Kubernetes in full disruption).
std::optional<EvictionLimit> observation_lost(const State& state, UtcMillis now) {
  size_t lost = 0;
  for (const auto& [name, object] : state.objects(type::kCluster)) lost += unreachable(object.value) ? 1U : 0U;
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

/// Goes through the evictions that are due, in turn.
class FleetTurn {
 public:
  FleetTurn(const State& state, UtcMillis now, std::optional<UtcMillis> next)
      : state_{state}, now_{now}, next_{next}, lost_{observation_lost(state, now)}, allowance_{state, now} {}

  void consider(const DueEviction& due) {
    if (!may_begin(due) || !begin(due)) waiting_.add(due);
  }

  FleetEvictions finish() && {
    // Another decision from the same record would spend the same budget again.
    const ObjectKey record = eviction_record_key();
    if (!decision_.empty()) decision_.expect({record, state_.revision_of(record)});
    report_pauses(state_, paused_, decision_);
    FleetEvictions made{Nothing{}, std::move(waiting_)};
    if (decision_.empty()) {
      if (next_) made.decided = LookAgain{*next_};
    } else if (!whole_) {
      made.decided = std::move(decision_).build_and_look_again(now_);
    } else {
      made.decided = next_ ? std::move(decision_).build_and_look_again(*next_) : std::move(decision_).build();
    }
    return made;
  }

 private:
  /// A workload does not lose the clusters in which it fails one after the other (3.2.8).
  bool same_turn(const DueEviction& due) const {
    return begun_ != nullptr && due.unhealthy_since && *begun_ == *due.key;
  }

  bool may_begin(const DueEviction& due) {
    const auto [release, first] = released_.try_emplace(due.cluster);
    if (first) release->second = released(state_, due.cluster);
    if (!release->second) {
      if (lost_ && unreachable(state_.value_of({type::kCluster, "", due.cluster}))) {
        paused_.try_emplace(due.cluster, *lost_);
        return false;
      }
      if (const auto limit = allowance_.exhausted(due.cluster, due.priority)) {
        paused_.try_emplace(due.cluster, *limit);
        sooner(next_, limit->until);
        return false;
      }
    }
    const auto until = allowance_.paced_until();
    if (!until || same_turn(due)) return true;
    sooner(next_, *until);
    return false;
  }

  bool begin(const DueEviction& due) {
    const bool another = same_turn(due);
    whole_ = whole_ && (another || failovers_ < kMostFailoversInAnEntry);
    if (!whole_) return false;
    auto started = start(state_, due);
    if (!started) {  // the step of the binding itself fails with this, too, and reports it
      sooner(next_, now_ + kLookAgain);
      return false;
    }
    whole_ = decision_.try_add(std::move(started).value());
    if (!whole_) return false;
    allowance_.take(due.cluster);
    if (!due.unhealthy_since) return true;
    decision_.add(FailoverTimerStopped{*due.key, due.cluster, "the workload is evicted"});
    if (another) return true;
    begun_ = due.key;
    ++failovers_;
    // It may have recovered since; its timer stops with the next step of the other role.
    const ObjectKey timers = failover_record_key(*due.key);
    decision_.expect({*due.key, state_.revision_of(*due.key)});
    decision_.expect({timers, state_.revision_of(timers)});
    return true;
  }

  const State& state_;
  const UtcMillis now_;
  std::optional<UtcMillis> next_;
  const std::optional<EvictionLimit> lost_;
  EvictionAllowance allowance_;
  DecisionBuilder decision_{kMostInAnEntry};
  std::map<std::string, EvictionLimit> paused_;
  std::map<std::string, bool> released_;  ///< by cluster
  const ObjectKey* begun_ = nullptr;      ///< the workload that fails over in this turn
  size_t failovers_ = 0;
  bool whole_ = true;  ///< all that may begin fits into the entry
  EvictionQueue waiting_;
};

}  // namespace

void EvictionQueue::add(const DueEviction& waiting) {
  ++by_type[waiting.key->type];
  ++by_kind[{waiting.cluster, (*waiting.binding)["spec"]["resource"]["kind"].str()}];
}

FleetEvictions decide_fleet_evictions(const State& state, UtcMillis now) {
  if (state.fold_version() < 7) return {Nothing{}, {}};
  const auto [due, next] = due_evictions(state, now);
  FleetTurn turn{state, now, next};
  for (const DueEviction& candidate : due) turn.consider(candidate);
  return std::move(turn).finish();
}

}  // namespace shiplog::taint
