#include "services/roles/collector/pods.h"

#include <algorithm>
#include <array>

#include "events/base/percent_encoding.h"
#include "events/base/utf8.h"
#include "events/state/condition.h"
#include "events/state/work.h"
#include "services/roles/collector/manifest_status.h"

namespace shiplog::collector {
namespace {

/// A rollout takes some seconds: pods are not listed before.
constexpr Millis kRolloutPatience{3'000};
constexpr Millis kPodsLookEvery{15'000};
constexpr Millis kLeastBetween{5'000};
constexpr int kMostPods = 50;
constexpr size_t kLongestMessage = 400;

ObjectKey work_of(const ObjectKey& key, std::string_view prefix) {
  return {type::kWork, key.ns.substr(prefix.size()), key.name};
}

/// The first manifest of a workload whose object is Unhealthy; null: none.
const Value& unhealthy_workload(const Value& work) {
  static const Value kNone;
  for (const Value& manifest : work["spec"]["workload"]["manifests"].items()) {
    for (const Value& entry : work["status"]["manifestStatuses"].items()) {
      if (entry["health"].as_string() == "Unhealthy" && is_about(entry, manifest) && !pods_path(manifest).empty()) {
        return manifest;
      }
    }
  }
  return kNone;
}

PodProblem problem_of_pod(const Value& pod) {
  const Value& status = pod["status"];
  const std::string name = "pod " + pod["metadata"]["name"].str();
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const Value& container : status[list].items()) {
      const Value& waiting = container["state"]["waiting"];
      const std::string reason = waiting["reason"].str();
      if (reason.empty() || reason == "ContainerCreating" || reason == "PodInitializing") continue;
      const std::string message = printable(waiting["message"].str(), kLongestMessage);
      return {reason, name + ", container " + container["name"].str() + (message.empty() ? "" : ": " + message)};
    }
  }
  const Value& scheduled = condition_of(pod, "PodScheduled");
  if (scheduled["status"].as_string() == "False") {
    return {scheduled["reason"].str(), name + ": " + printable(scheduled["message"].str(), kLongestMessage)};
  }
  if (status["phase"].as_string() == "Failed") {
    const std::string reason = status["reason"].str();
    return {reason.empty() ? "PodFailed" : reason, name + ": " + printable(status["message"].str(), kLongestMessage)};
  }
  return {};
}

/// The Work with what is known of its pods. The same Work when it records that already.
Value with_problem(const Value& work, const PodProblem& problem, UtcMillis now) {
  const Value& before = condition_of(work, kPodsReadyCondition);
  if (problem.reason.empty() && before.is_null()) return work;
  // Messages count attempts and seconds: they are not reported again and again.
  if (before["reason"].as_string() == problem.reason) return work;
  const std::string since = before.is_null() ? rfc3339(now) : before["lastTransitionTime"].str();
  Value updated = work;
  Value& status = updated.edit("status");
  remove_condition(status, kPodsReadyCondition);
  if (!problem.reason.empty()) {
    status.edit("conditions")
        .push_back(Value::object({{"type", kPodsReadyCondition},
                                  {"status", "False"},
                                  {"reason", problem.reason},
                                  {"message", problem.message},
                                  {"lastTransitionTime", since}}));
  }
  return updated;
}

void report(const TaskPtr& task, const ObjectKey& key, const PodProblem& problem, Millis look_again) {
  const Object* work = task->state().find(key);
  if (work == nullptr || deleting(work->value)) return task->done();
  Value updated = with_problem(work->value, problem, task->now());
  if (updated == work->value) return task->done(look_again);
  Decision seen{{StatusUpdated{key, std::move(updated)}}, {{key, work->revision}}};
  task->append_observation(std::move(seen), [task, look_again](const Result<Revision>& appended) {
    appended ? task->done(look_again) : task->retry(appended.error());
  });
}

}  // namespace

std::string pods_path(const Value& manifest) {
  constexpr std::array<std::string_view, 4> kSelecting = {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"};
  const auto kind = manifest["kind"].as_string();
  const auto version = manifest["apiVersion"].as_string();
  std::string selector;
  if (version == "apps/v1" && std::ranges::find(kSelecting, kind) != kSelecting.end()) {
    const Value& labels = manifest["spec"]["selector"]["matchLabels"];
    for (const Value::Member& label : labels.members()) {
      selector += (selector.empty() ? "" : ",") + std::string{label.key()} + "=" + label.value.str();
    }
  } else if (version == "batch/v1" && kind == "Job") {
    selector = "job-name=" + manifest["metadata"]["name"].str();
  }
  if (selector.empty()) return "";
  return "/api/v1/namespaces/" + manifest["metadata"]["namespace"].str() + "/pods?limit=" + std::to_string(kMostPods) +
         "&labelSelector=" + percent_encoded(selector, "-._");
}

PodProblem problem_of(const Value& pods) {
  PodProblem first;
  size_t troubled = 0;
  for (const Value& pod : pods.items()) {
    if (deleting(pod)) continue;
    PodProblem problem = problem_of_pod(pod);
    if (problem.reason.empty()) continue;
    if (troubled++ == 0) first = std::move(problem);
  }
  if (troubled > 1) first.message += "; and " + std::to_string(troubled - 1) + " more pods";
  return first;
}

void PodProblems::want(const ObjectKey& work, const Value& value, std::vector<ObjectKey>& wake) {
  if (unhealthy_workload(value).is_null() && condition_of(value, kPodsReadyCondition).is_null()) return;
  wake.push_back({type::kWork, std::string{kPrefix} + work.ns, work.name});
}

std::optional<int> PodProblems::slot_of_key(const ObjectKey& key) {
  if (!is_pods(key)) return std::nullopt;
  return slot_of(cluster_of_space(work_of(key, kPrefix).ns));
}

void PodProblems::forget_slot(int slot) {
  std::erase_if(seen_, [&](const auto& seen) { return slot_of(cluster_of_space(seen.first.ns)) == slot; });
}

void PodProblems::reconcile(const TaskPtr& task) {
  const ObjectKey key = work_of(task->key(), kPrefix);
  const Value& work = task->state().value_of(key);
  const Value& manifest = unhealthy_workload(work);
  if (manifest.is_null()) {
    seen_.erase(key);
    return report(task, key, {}, Millis{0});
  }
  const std::string cluster = cluster_of_space(key.ns);
  const Cluster* known = task->state().cluster(cluster);
  if (known == nullptr || known->sync_mode == "Pull" || !known->ready()) return task->done(kPodsLookEvery);
  Seen& seen = seen_.try_emplace(key, Seen{task->now(), {}}).first->second;
  const Millis left = std::max(seen.since + kRolloutPatience, seen.listed + kLeastBetween) - task->now();
  if (left.value > 0) return task->done(std::min(left, kLeastBetween));
  seen.listed = task->now();
  MemberRequest request;
  request.path = pods_path(manifest);
  request.trace = task->trace();
  members_.request(cluster, std::move(request), [task, key](const Result<MemberResponse>& response) {
    // Who may not list pods has workloads all the same.
    if (!response || response.value().status != 200) return task->done(kPodsLookEvery);
    report(task, key, problem_of(response.value().body["items"]), kPodsLookEvery);
  });
}

}  // namespace shiplog::collector
