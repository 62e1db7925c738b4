#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "events/state/binding.h"
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

/// A binding that NoExecute taints drive off a cluster. What it points to is part of the state.
struct DueEviction {
  int64_t priority = 0;
  const char* type = nullptr;
  const State::Name* name = nullptr;
  const Value* binding = nullptr;
  std::string_view cluster;
  Taint taint;

  ObjectKey key() const { return {type, name->ns, name->name}; }
  bool operator<(const DueEviction& other) const {
    return std::tie(other.priority, *name, cluster) < std::tie(priority, *other.name, other.cluster);
  }
};

/// The verdicts on placements and clusters. Thousands of bindings have the same few placements: each is parsed and
/// judged once.
class Verdicts {
 public:
  Verdicts(const State& state, UtcMillis now) : state_{state}, now_{now} {
    for (const auto& [name, cluster] : state.clusters()) {
      if (has_no_execute(cluster.taints)) tainted_.emplace(name, OfCluster{});
    }
  }
  bool any_tainted() const { return !tainted_.empty(); }
  /// nullptr: the cluster has no such taint, or the placement cannot be read: then the step of the binding fails.
  const EvictionVerdict* of(const Value& binding, std::string_view cluster) {
    const auto found = tainted_.find(cluster);
    if (found == tainted_.end()) return nullptr;
    const auto [verdict, added] = found->second.try_emplace(annotation_of(binding, kAppliedPlacementAnnotation));
    if (added) {
      const auto tolerations = recorded_tolerations(binding);
      if (tolerations && tolerations.value()) {
        verdict->second = judge(state_.value_of({type::kCluster, "", found->first}), *tolerations.value(), now_);
      }
    }
    return verdict->second ? &*verdict->second : nullptr;
  }

 private:
  using OfCluster = std::map<std::string_view, std::optional<EvictionVerdict>>;  // by recorded placement
  const State& state_;
  const UtcMillis now_;
  std::map<std::string, OfCluster, std::less<>> tainted_;
};

/// What is to be evicted now, that of the highest scheduling priority first. `next`: when a toleration ends.
std::vector<DueEviction> due_evictions(const State& state, UtcMillis now, std::optional<UtcMillis>& next) {
  std::vector<DueEviction> due;
  Verdicts verdicts{state, now};
  if (!verdicts.any_tainted()) return due;
  for (const char* type : {type::kResourceBinding, type::kClusterResourceBinding}) {
    for (const auto& [name, object] : state.objects(type)) {
      const Value& spec = object.value["spec"];
      for (const Value& target : spec["clusters"].items()) {
        const auto cluster = target["name"].as_string();
        const EvictionVerdict* verdict = verdicts.of(object.value, cluster);
        if (verdict == nullptr || deleting(object.value)) continue;
        if (verdict->evicted_by) {
          const int64_t priority = spec["schedulePriority"]["priority"].as_int();
          due.push_back({priority, type, &name, &object.value, cluster, *verdict->evicted_by});
        } else if (verdict->due) {
          sooner(next, *verdict->due);
        }
      }
    }
  }
  std::ranges::stable_sort(due, [](const DueEviction& a, const DueEviction& b) { return a < b; });
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
  const std::vector<DueEviction> due = evicts(state) ? due_evictions(state, now, next) : std::vector<DueEviction>{};
  const auto lost = observation_lost(state, now);
  EvictionAllowance allowance{state, now};
  const ObjectKey record = eviction_record_key();
  DecisionBuilder decision{kMostInAnEntry};
  std::map<std::string, EvictionLimit> paused;
  std::map<std::string_view, bool> is_released;
  bool whole = true;
  for (const DueEviction& candidate : due) {
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
    auto started = start_eviction(state, candidate.key(), *candidate.binding, cluster, candidate.taint);
    if (!started) {  // the step of the binding itself fails with this, too, and reports it
      sooner(next, now + kLookAgain);
      continue;
    }
    whole = decision.try_add(std::move(started).value());
    if (whole) allowance.take(cluster);
  }
  // Another decision from the same record would spend the same budget again.
  if (!decision.empty()) decision.expect({record, state.revision_of(record)});
  report_pauses(state, paused, decision);
  if (decision.empty()) return next ? Decided{LookAgain{*next}} : Decided{Nothing{}};
  if (!whole) return std::move(decision).build_and_look_again(now);
  return next ? std::move(decision).build_and_look_again(*next) : std::move(decision).build();
}

}  // namespace shiplog::taint
