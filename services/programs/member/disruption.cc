#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "events/state/policy.h"
#include "services/programs/member/bounds.h"
#include "services/programs/member/condition.h"
#include "services/programs/member/decision_changes.h"
#include "services/programs/member/kinds.h"
#include "services/programs/member/ownership.h"
#include "services/programs/member/pod.h"

namespace shiplog::member {
namespace {

/// An evicted pod that still exists after so long was not deleted after all.
constexpr Millis kEvictionTimeout{120'000};

using Pods = std::vector<std::pair<std::string, const Value*>>;

/// Without a selector it is none.
Pods pods_of(const State& state, const ObjectKey& key, const Value& budget) {
  Pods pods;
  const Value& given = budget["spec"]["selector"];
  if (given.is_null()) return pods;
  const LabelSelector selector = label_selector_from(given);
  for (const auto& [name, pod] : state.objects(kPods, key.ns)) {
    if (selector.matches(pod.value["metadata"]["labels"])) pods.emplace_back(name.name, &pod.value);
  }
  return pods;
}

/// The replicas of the workload that a pod belongs to: of the Deployment, where a ReplicaSet is one's. Null: it belongs
/// to none that has a scale.
const Value& scaled_owner(const State& state, const Value& pod) {
  static const Value kNone;
  const std::string ns = pod["metadata"]["namespace"].str();
  const Value& owner = controller_of(pod);
  const std::string_view kind = owner["kind"].as_string();
  if (kind == "StatefulSet") return state.value_of({kStatefulSets, ns, owner["name"].str()});
  if (kind != "ReplicaSet") return kNone;
  const Value& set = state.value_of({kReplicaSets, ns, owner["name"].str()});
  const Value& above = controller_of(set);
  if (above["kind"].as_string() != "Deployment") return set;
  return state.value_of({kDeployments, ns, above["name"].str()});
}

struct Expected {
  int64_t pods = 0;
  int64_t healthy = 0;  ///< so many have to stay
};

/// The sum of the scales of all workloads that the pods belong to. Error: one belongs to something that has none.
Result<int64_t> expected_scale(const State& state, const Pods& pods) {
  std::map<std::string_view, int64_t> scales;  // by uid of the workload
  for (const auto& [name, pod] : pods) {
    if (controller_of(*pod).is_null()) continue;  // pods without a controller do not count
    const Value& owner = scaled_owner(state, *pod);
    if (owner.is_null()) {
      return Error{ErrorCode::kInvalid,
                   controller_of(*pod)["kind"].str() + " does not implement the scale subresource (pod " + name + ")"};
    }
    scales[uid_of(owner)] = owner["spec"]["replicas"].as_int(1);
  }
  int64_t sum = 0;
  for (const auto& [uid, replicas] : scales) sum += replicas;
  return sum;
}

Result<Expected> expected_of(const State& state, const Value& budget, const Pods& pods) {
  const Value& most_unavailable = budget["spec"]["maxUnavailable"];
  const Value& least_available = budget["spec"]["minAvailable"];
  if (!most_unavailable.is_null()) {
    SHIPLOG_TRY(const int64_t scale, expected_scale(state, pods));
    return Expected{scale, std::max<int64_t>(0, scale - scaled(most_unavailable, scale, true, 0))};
  }
  if (least_available.is_int()) return Expected{static_cast<int64_t>(pods.size()), least_available.as_int()};
  if (least_available.is_null()) return Expected{};
  SHIPLOG_TRY(const int64_t scale, expected_scale(state, pods));
  return Expected{scale, scaled(least_available, scale, true, 0)};
}

/// Those that were evicted and are not yet deleted.
Value still_disrupted(const Value& before, const Pods& pods, UtcMillis now) {
  Value left = Value::object();
  for (const auto& member : before.members()) {
    const auto since = parse_rfc3339(member.value.as_string());
    const bool exists =
        std::ranges::any_of(pods, [&](const auto& pod) { return pod.first == member.key() && !deleting(*pod.second); });
    if (exists && since && now - since.value() < kEvictionTimeout) left.set(member.key(), member.value);
  }
  return left;
}

}  // namespace

Result<Decided> decide_disruption_budget(const State& state, const ObjectKey& key, UtcMillis now) {
  const Object* object = state.find(key);
  if (object == nullptr) return Nothing{};
  const Value& budget = object->value;
  const Pods pods = pods_of(state, key, budget);
  const auto expected = expected_of(state, budget, pods);
  Value seen = budget;
  Value& status = seen.edit("status");
  Value disrupted = still_disrupted(budget["status"]["disruptedPods"], pods, now);
  int64_t allowed = 0;
  if (expected) {
    const auto healthy = std::ranges::count_if(pods, [&](const auto& pod) {
      return !deleting(*pod.second) && !disrupted.contains(pod.first) && is_ready(*pod.second);
    });
    if (expected.value().pods > 0) allowed = std::max<int64_t>(0, healthy - expected.value().healthy);
    status.set("currentHealthy", healthy);
    status.set("desiredHealthy", expected.value().healthy);
    status.set("expectedPods", expected.value().pods);
  }
  status.set("disruptionsAllowed", allowed);
  if (disrupted.size() > 0) {
    status.set("disruptedPods", std::move(disrupted));
  } else {
    status.erase("disruptedPods");
  }
  status.set("observedGeneration", budget["metadata"]["generation"].as_int());
  const char* reason = !expected ? "SyncFailed" : allowed > 0 ? "SufficientPods" : "InsufficientPods";
  set_condition(status, "DisruptionAllowed",
                {allowed > 0 ? "True" : "False", reason, expected ? "" : expected.error().message}, now);
  Value& condition = edit_condition(status, "DisruptionAllowed");
  condition.set("observedGeneration", budget["metadata"]["generation"].as_int());
  if (condition["message"].is_null()) condition.set("message", "");
  Changes changes;
  changes.update_status(key, *object, std::move(seen));
  return changes.take();
}

Millis look_again_disruption_budget(const State& state, const ObjectKey& key, UtcMillis now) {
  Millis soonest{0};
  for (const auto& member : state.value_of(key)["status"]["disruptedPods"].members()) {
    const auto since = parse_rfc3339(member.value.as_string());
    if (!since) continue;
    const Millis left{std::max<int64_t>(1, (since.value() + kEvictionTimeout - now).value)};
    if (soonest.value == 0 || left < soonest) soonest = left;
  }
  return soonest;
}

void wake_disruption_budgets(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
  const SharedText& type = change.object.type;
  if (type != kPods && type != kDeployments && type != kReplicaSets && type != kStatefulSets) return;
  // A workload matters for its scale alone.
  if (type != kPods && change.before["spec"]["replicas"] == change.after["spec"]["replicas"]) return;
  for (const auto& [name, budget] : state.objects(kDisruptionBudgets, change.object.ns)) {
    wake.push_back({kDisruptionBudgets, name.ns, name.name});
  }
}

}  // namespace shiplog::member
