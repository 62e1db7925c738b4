#include "services/roles/taint/fleet_evictions.h"

#include <map>
#include <string>
#include <string_view>

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
  FleetTurn(const State& state, UtcMillis now)
      : state_{state},
        now_{now},
        due_{state, now},
        next_{due_.next()},
        lost_{observation_lost(state, now)},
        allowance_{state, now} {}

  FleetEvictions run() && {
    while (!due_.empty()) {
      DueEvictions group = due_.take();
      // A group leaves the queue with its last binding, and when nothing in it can begin any more.
      if (!may_begin(group) || is_full(group)) {
        waiting_.add(group, group.left);
        continue;
      }
      if (!begin(group)) waiting_.add(group, 1);
      due_.give_back(std::move(group));
    }
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
  bool same_turn(const DueEvictions& due) const { return begun_ && due.unhealthy_since && *begun_ == due.first(); }

  /// The same for the whole group.
  bool may_begin(const DueEvictions& due) {
    const std::string cluster{due.cluster};
    const auto [release, first] = released_.try_emplace(due.cluster);
    if (first) release->second = released(state_, cluster);
    if (!release->second) {
      if (lost_ && unreachable(state_.value_of({type::kCluster, "", cluster}))) {
        paused_.try_emplace(cluster, *lost_);
        return false;
      }
      if (const auto limit = allowance_.exhausted(cluster, due.priority)) {
        paused_.try_emplace(cluster, *limit);
        sooner(next_, limit->until);
        return false;
      }
    }
    const auto until = allowance_.paced_until();
    if (!until || same_turn(due)) return true;
    sooner(next_, *until);
    return false;  // whether others are paused is still to be found out
  }

  /// Whether the entry has no room for it.
  bool is_full(const DueEvictions& due) {
    if (due.unhealthy_since && !same_turn(due)) whole_ = whole_ && failovers_ < kMostFailoversInAnEntry;
    return !whole_;
  }

  /// The first of the group. False: it waits.
  bool begin(const DueEvictions& due) {
    const bool another = same_turn(due);
    auto started = start(state_, due);
    if (!started) {  // the step of the binding itself fails with this, too, and reports it
      sooner(next_, now_ + kLookAgain);
      return false;
    }
    whole_ = decision_.try_add(std::move(started).value());
    if (!whole_) return false;
    const std::string cluster{due.cluster};
    allowance_.take(cluster);
    if (!due.unhealthy_since) return true;
    decision_.add(FailoverTimerStopped{due.first(), cluster, "the workload is evicted"});
    if (another) return true;
    begun_ = due.first();
    ++failovers_;
    // It may have recovered since; its timer stops with the next step of the other role.
    const ObjectKey timers = failover_record_key(due.first());
    decision_.expect({due.first(), state_.revision_of(due.first())});
    decision_.expect({timers, state_.revision_of(timers)});
    return true;
  }

  const State& state_;
  const UtcMillis now_;
  DueQueue due_;
  std::optional<UtcMillis> next_;
  const std::optional<EvictionLimit> lost_;
  EvictionAllowance allowance_;
  DecisionBuilder decision_{kMostInAnEntry};
  std::map<std::string, EvictionLimit> paused_;
  std::map<std::string_view, bool> released_;  ///< by cluster
  std::optional<ObjectKey> begun_;             ///< the workload that fails over in this turn
  size_t failovers_ = 0;
  bool whole_ = true;  ///< all that may begin fits into the entry
  EvictionQueue waiting_;
};

}  // namespace

void EvictionQueue::add(const DueEvictions& waiting, size_t count) {
  by_type[waiting.first().type.str()] += count;
  by_kind[{std::string{waiting.cluster}, std::string{waiting.kind}}] += count;
}

FleetEvictions decide_fleet_evictions(const State& state, UtcMillis now) {
  if (state.fold_version() < 7) return {Nothing{}, {}};
  return FleetTurn{state, now}.run();
}

}  // namespace shiplog::taint
