#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "services/programs/member/condition.h"
#include "services/programs/member/decide.h"
#include "services/programs/member/decision_changes.h"
#include "services/programs/member/kinds.h"
#include "services/programs/member/ownership.h"
#include "services/programs/member/pod.h"
#include "services/programs/member/resource_quota.h"

namespace shiplog::member {
namespace {

/// The order of deletion when there are too many pods: the least useful first, then the youngest. Source: ActivePods in
/// pkg/controller.
void sort_for_deletion(std::vector<Owned>& pods) {
  const auto rank = [](const Owned& pod) {
    const Value& value = pod.object->value;
    return std::tuple{!value["spec"]["nodeName"].is_empty(), value["status"]["phase"].as_string() == "Running",
                      is_ready(value)};
  };
  std::ranges::stable_sort(pods, [&](const Owned& a, const Owned& b) {
    if (rank(a) != rank(b)) return rank(a) < rank(b);
    return a.object->value["metadata"]["creationTimestamp"].as_string() >
           b.object->value["metadata"]["creationTimestamp"].as_string();
  });
}

bool carries(const Value& pod, const Value& labels) {
  return std::ranges::all_of(labels.members(), [&](const Value::Member& label) {
    return label_of(pod, label.key()) == label.value.as_string();
  });
}

}  // namespace

Result<Decided> decide_replica_set(const State& state, const ObjectKey& key, UtcMillis now) {
  const Object* object = state.find(key);
  if (object == nullptr) return Nothing{};
  const Value& set = object->value;
  std::vector<Owned> pods = controlled_by(state, set, kPods);
  std::erase_if(pods, [](const Owned& pod) { return !is_active(pod.object->value); });

  Changes changes;
  PodQuotas quotas{state, key.ns};
  std::string refused;
  const auto wanted = static_cast<size_t>(std::max<int64_t>(0, set["spec"]["replicas"].as_int(1)));
  if (!deleting(set) && pods.size() < wanted) {
    const size_t missing = std::min(wanted - pods.size(), kMostAtOnce);
    for (size_t i = 0; i < missing; ++i) {
      const std::string suffix = name_suffix(uid_of(set), state.revision(), i);
      Value pod = new_pod(set, generated_name(key.name, suffix), set["spec"]["template"]);
      pod.edit("metadata").set("generateName", key.name + "-");
      ObjectKey pod_at = pod_key(pod);
      if (state.find(pod_at) != nullptr) continue;
      refused = quotas.admit(pod);
      if (!refused.empty()) break;
      changes.create(pod_at, std::move(pod));
    }
    quotas.charge(changes);
  } else if (!deleting(set) && pods.size() > wanted) {
    sort_for_deletion(pods);
    const size_t surplus = std::min(pods.size() - wanted, kMostAtOnce);
    for (size_t i = 0; i < surplus; ++i) changes.remove(pods[i].key, *pods[i].object);
  }
  if (!changes.empty()) {
    changes.expect(key, *object);
    return changes.take();
  }

  int64_t ready = 0;
  int64_t available = 0;
  int64_t labelled = 0;
  const int64_t min_ready = set["spec"]["minReadySeconds"].as_int();
  for (const Owned& pod : pods) {
    ready += is_ready(pod.object->value) ? 1 : 0;
    available += is_available(pod.object->value, min_ready, now) ? 1 : 0;
    labelled += carries(pod.object->value, set["spec"]["template"]["metadata"]["labels"]) ? 1 : 0;
  }
  Value seen = set;
  Value& status = seen.edit("status");
  status.set("replicas", pods.size());
  set_count(status, "fullyLabeledReplicas", labelled);
  set_count(status, "readyReplicas", ready);
  set_count(status, "availableReplicas", available);
  status.set("observedGeneration", set["metadata"]["generation"].as_int());
  if (refused.empty()) {
    remove_condition(status, "ReplicaFailure");
  } else if (condition_of(seen, "ReplicaFailure").is_null()) {  // the names in the message differ each time
    set_condition(status, "ReplicaFailure", {"True", "FailedCreate", refused}, now);
  }
  changes.update_status(key, *object, std::move(seen));
  return changes.take();
}

Millis look_again_pods(const State& state, const ObjectKey& key, UtcMillis now) {
  const Value& owner = state.value_of(key);
  const int64_t min_ready = owner["spec"]["minReadySeconds"].as_int();
  Millis soonest{0};
  if (min_ready <= 0) return soonest;
  for (const Owned& pod : controlled_by(state, owner, kPods)) {
    const Millis wait = until_available(pod.object->value, min_ready, now);
    if (wait.value > 0 && (soonest.value == 0 || wait < soonest)) soonest = wait;
  }
  return soonest;
}

}  // namespace shiplog::member
