#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "services/programs/member/condition.h"
#include "services/programs/member/decide.h"
#include "services/programs/member/decision_changes.h"
#include "services/programs/member/kinds.h"
#include "services/programs/member/node_fit.h"
#include "services/programs/member/ownership.h"
#include "services/programs/member/pod.h"
#include "services/programs/member/resource_quota.h"

namespace shiplog::member {
namespace {

constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";

/// Daemon pods tolerate these taints. Source: pkg/controller/daemon/util.
Value with_tolerations(Value spec) {
  const auto tolerate = [&](const char* key, const char* effect) {
    spec.edit("tolerations").push_back(Value::object({{"key", key}, {"operator", "Exists"}, {"effect", effect}}));
  };
  tolerate("node.kubernetes.io/not-ready", "NoExecute");
  tolerate("node.kubernetes.io/unreachable", "NoExecute");
  for (const char* key : {"disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"}) {
    tolerate((std::string{"node.kubernetes.io/"} + key).c_str(), "NoSchedule");
  }
  return spec;
}

/// The scheduler places the pod on this node only, if it has the capacity.
Value bound_to(Value spec, const std::string& node) {
  const Value field = Value::object({{"key", "metadata.name"}, {"operator", "In"}, {"values", Value::array({node})}});
  Value& required = spec.edit("affinity").edit("nodeAffinity").edit(kRequired);
  if (required["nodeSelectorTerms"].size() == 0) required.edit("nodeSelectorTerms").push_back(Value::object());
  for (Value& term : required.edit("nodeSelectorTerms").edit_items()) {
    term.set("matchFields", Value::array({field}));
  }
  return spec;
}

std::string node_of(const Value& pod) {
  if (!pod["spec"]["nodeName"].is_empty()) return pod["spec"]["nodeName"].str();
  return pod["spec"]["affinity"]["nodeAffinity"][kRequired]["nodeSelectorTerms"][0]["matchFields"][0]["values"][0]
      .str();
}

struct DaemonPods {
  std::map<std::string, std::vector<Owned>> by_node;
  std::set<std::string> wanted;  // nodes
};

/// One pod per wanted node, none elsewhere; finished ones are replaced.
void even_out(const State& state, const ObjectKey& key, const Value& set, const Value& spec, const std::string& hash,
              DaemonPods& pods, Changes& changes) {
  for (auto& [node, there] : pods.by_node) {
    // The oldest is kept, so that a duplicate pod does not replace a working one.
    std::ranges::stable_sort(
        there, {}, [](const Owned& pod) { return pod.object->value["metadata"]["creationTimestamp"].as_string(); });
    const bool keep = pods.wanted.contains(node);
    for (size_t i = 0; i < there.size(); ++i) {
      const Value& pod = there[i].object->value;
      if (deleting(pod) || changes.size() >= kMostAtOnce) continue;
      if (!keep || i > 0 || has_finished(pod)) changes.remove(there[i].key, *there[i].object);
    }
  }
  size_t index = 0;
  PodQuotas quotas{state, key.ns};
  for (const std::string& node : pods.wanted) {
    if (pods.by_node.contains(node) || changes.size() >= kMostAtOnce) continue;
    const std::string name = generated_name(key.name, name_suffix(uid_of(set), state.revision(), index++));
    Value pod_template = set["spec"]["template"];
    pod_template.edit("metadata").edit("labels").set(kRevisionHash, hash);
    pod_template.set("spec", bound_to(spec, node));
    Value pod = new_pod(set, name, pod_template);
    pod.edit("metadata").set("generateName", key.name + "-");
    if (!quotas.admit(pod).empty()) break;
    changes.create({kPods, key.ns, name}, std::move(pod));
  }
  quotas.charge(changes);
}

/// Deletes pods of an older template, at most maxUnavailable at a time; pods that are not available go first.
void roll(const Value& set, const std::string& hash, const DaemonPods& pods, UtcMillis now, Changes& changes) {
  const Value& strategy = set["spec"]["updateStrategy"];
  if (strategy["type"].as_string() == "OnDelete") return;
  const auto wanted = static_cast<int64_t>(pods.wanted.size());
  int64_t may_miss = scaled(strategy["rollingUpdate"]["maxUnavailable"], wanted, true, 1);
  may_miss = std::max<int64_t>(may_miss, 1);  // maxSurge is not simulated: a pod must be deleted first
  std::vector<const Owned*> working;
  for (const auto& [node, there] : pods.by_node) {
    const Owned& pod = there.front();
    const bool old = label_of(pod.object->value, kRevisionHash) != hash;
    if (is_available(pod.object->value, set["spec"]["minReadySeconds"].as_int(), now)) {
      if (old) working.push_back(&pod);
    } else {
      --may_miss;
      if (old && !deleting(pod.object->value)) changes.remove(pod.key, *pod.object);
    }
  }
  for (const Owned* pod : working) {
    if (may_miss-- <= 0) return;
    changes.remove(pod->key, *pod->object);
  }
}

Value report(const Value& set, const std::string& hash, const DaemonPods& pods, UtcMillis now) {
  int64_t current = 0;
  int64_t misplaced = 0;
  int64_t ready = 0;
  int64_t available = 0;
  int64_t updated = 0;
  for (const auto& [node, there] : pods.by_node) {
    const Value& pod = there.front().object->value;
    if (!pods.wanted.contains(node)) {
      ++misplaced;
      continue;
    }
    ++current;
    ready += is_ready(pod) ? 1 : 0;
    available += is_available(pod, set["spec"]["minReadySeconds"].as_int(), now) ? 1 : 0;
    updated += label_of(pod, kRevisionHash) == hash ? 1 : 0;
  }
  const auto wanted = static_cast<int64_t>(pods.wanted.size());
  Value seen = set;
  Value& status = seen.edit("status");
  status.set("currentNumberScheduled", current);
  status.set("desiredNumberScheduled", wanted);
  status.set("numberMisscheduled", misplaced);
  status.set("numberReady", ready);
  set_count(status, "numberAvailable", available);
  set_count(status, "numberUnavailable", wanted - available);
  set_count(status, "updatedNumberScheduled", updated);
  status.set("observedGeneration", set["metadata"]["generation"].as_int());
  return seen;
}

}  // namespace

Result<Decided> decide_daemon_set(const State& state, const ObjectKey& key, UtcMillis now) {
  const Object* object = state.find(key);
  if (object == nullptr) return Nothing{};
  const Value& set = object->value;
  const std::string hash = template_hash(set["spec"]["template"]);
  const Value spec = with_tolerations(set["spec"]["template"]["spec"]);
  DaemonPods pods;
  for (const auto& [name, node] : state.objects(kNodes)) {
    if (!deleting(node.value) && !misfit(spec, node.value)) pods.wanted.insert(name.name.str());
  }
  for (const Owned& pod : controlled_by(state, set, kPods)) pods.by_node[node_of(pod.object->value)].push_back(pod);

  Changes changes;
  if (!deleting(set)) {
    even_out(state, key, set, spec, hash, pods, changes);
    if (changes.empty()) roll(set, hash, pods, now, changes);
  }
  if (!changes.empty()) {
    changes.expect(key, *object);
    return changes.take();
  }
  changes.update_status(key, *object, report(set, hash, pods, now));
  return changes.take();
}

}  // namespace shiplog::member
