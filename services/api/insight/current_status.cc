#include "services/api/insight/current_status.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "events/base/json.h"
#include "events/base/time.h"
#include "events/base/utf8.h"
#include "events/state/binding.h"
#include "events/state/cluster.h"
#include "events/state/placement.h"
#include "events/state/state_preservation.h"
#include "events/state/work.h"

namespace shiplog::api {
namespace {

using Words = std::vector<std::string>;

constexpr size_t kLongestMessage = 500;
constexpr size_t kMostStatusConditions = 8;

std::string since(const Value& time) { return time.is_empty() ? "" : " since " + time.str(); }

/// "Reason: message", or what there is of it.
std::string cause(const Value& object) {
  std::string text = object["reason"].str();
  const std::string message = printable(object["message"].str(), kLongestMessage);
  if (!text.empty() && !message.empty()) text += ": ";
  return text + message;
}

std::string in_parentheses(const std::string& text) { return text.empty() ? "" : " (" + text + ")"; }

void about_cluster(const MemberNow& member, Words& words) {
  if (member.cluster_object.is_null()) {
    words.push_back("cluster " + member.cluster + " is not in the fleet");
    return;
  }
  if (deleting(member.cluster_object)) {
    words.push_back("cluster " + member.cluster + " is leaving the fleet" +
                    since(member.cluster_object["metadata"]["deletionTimestamp"]));
  }
  const Value& ready = condition_of(member.cluster_object, "Ready");
  const auto status = ready["status"].as_string();
  if (status == "True") return;
  const bool unreachable = ready["reason"].as_string() == "ClusterNotReachable" || status == "Unknown";
  words.push_back("cluster " + member.cluster + (unreachable ? " is unreachable" : " is not ready") +
                  since(ready["lastTransitionTime"]) + in_parentheses(cause(ready)) +
                  ": what it reported last is shown, and nothing is applied there");
}

Taint taint_of(const Value& value) { return {value["key"].str(), value["value"].str(), value["effect"].str()}; }

/// Of clusterTolerations of a placement, the first that matches; null: none does.
Value toleration_of(const Value& placement, const Taint& taint) {
  for (const Value& toleration : placement["clusterTolerations"].items()) {
    const auto tolerations = tolerations_from(Value::array({toleration}));
    if (std::ranges::any_of(tolerations, [&](const Toleration& one) { return one.tolerates(taint); })) {
      return toleration;
    }
  }
  return {};
}

/// What keeps an eviction away, or sets its time: the first toleration that matches, of the placement that the
/// scheduler used (TN-18, TN-19).
void about_taints(const MemberNow& member, Words& words) {
  const auto placement = parse_json(annotation_of(member.source, kAppliedPlacementAnnotation));
  if (!placement) return;
  for (const Value& value : member.cluster_object["spec"]["taints"].items()) {
    const Taint taint = taint_of(value);
    if (taint.effect != "NoExecute") continue;
    const Value by = toleration_of(placement.value(), taint);
    const std::string described = "taint " + to_string(taint) + since(value["timeAdded"]);
    if (by.is_null()) {
      words.push_back("the placement does not tolerate " + described);
      continue;
    }
    std::string text = described + " is tolerated because of " + printable(to_json(by), kLongestMessage) +
                       " in clusterTolerations of the placement: ";
    const auto added = parse_rfc3339(value["timeAdded"].as_string());
    if (by["tolerationSeconds"].is_null()) {
      text += "it never evicts";
    } else if (added) {
      text += "it evicts at " +
              rfc3339(added.value() + Millis{std::max<int64_t>(0, by["tolerationSeconds"].as_int()) * 1000});
    } else {
      text += "it never evicts, as it has no timeAdded";
    }
    words.push_back(std::move(text));
  }
}

bool lists(const Value& names, const std::string& name) {
  return std::ranges::any_of(names.items(), [&](const Value& listed) { return listed.as_string() == name; });
}

void about_suspension(const MemberNow& member, Words& words) {
  const Value& suspension = member.source["spec"]["suspension"];
  std::string where;
  if (suspension["dispatching"].as_bool()) {
    where = "for all clusters (spec.suspension.dispatching of the binding, from its policy)";
  } else if (lists(suspension["dispatchingOnClusters"]["clusterNames"], member.cluster)) {
    where = "for this cluster (spec.suspension.dispatchingOnClusters of the binding, from its policy)";
  } else if (member.work["spec"]["suspendDispatching"].as_bool()) {
    where = "in the Work (spec.suspendDispatching)";
  }
  if (where.empty()) return;
  const Value& dispatching = condition_of(member.work, "Dispatching");
  const bool noted = dispatching["status"].as_string() == "False";
  words.push_back("dispatching is suspended " + where + (noted ? since(dispatching["lastTransitionTime"]) : ""));
}

void about_generation(const MemberNow& member, Words& words) {
  const int64_t wanted = member.work["metadata"]["generation"].as_int();
  const Value& condition = condition_of(member.work, "Applied");
  const int64_t observed = condition["observedGeneration"].as_int();
  const std::string wanted_text = "generation " + std::to_string(wanted) + " of the Work";
  const std::string rendered = member.rendered_at.empty() ? "" : ", rendered at " + member.rendered_at + ",";
  if (condition.is_null()) {
    words.push_back(wanted_text + rendered + " has not been applied yet; nothing has been applied there before");
  } else if (condition["status"].as_string() == "True") {
    if (observed == wanted) {
      words.push_back(wanted_text + " is applied");
    } else {
      words.push_back(wanted_text + rendered + " has not been applied yet; the member has generation " +
                      std::to_string(observed));
    }
  } else {
    words.push_back("applying generation " + std::to_string(observed) + " of the Work fails" +
                    since(condition["lastTransitionTime"]) + ": " +
                    printable(condition["message"].str(), kLongestMessage));
    if (observed != wanted) words.push_back(wanted_text + rendered + " has not been applied yet");
  }
}

/// These report trouble when they are True; most conditions do when they are not.
bool troubles(const Value& condition) {
  constexpr std::array<std::string_view, 6> kBadWhenTrue = {"ReplicaFailure", "Failed",   "FailureTarget",
                                                            "Stalled",        "Degraded", "DisruptionTarget"};
  const bool bad_when_true = std::ranges::find(kBadWhenTrue, condition["type"].as_string()) != kBadWhenTrue.end();
  return (condition["status"].as_string() == "True") == bad_when_true && condition["status"].is_string();
}

void about_conditions(const std::string& subject, const Value& status, Words& words) {
  size_t reported = 0;
  for (const Value& condition : status["conditions"].items()) {
    // PodReadyToStartContainers and the like only repeat it; a Job's Complete is absent until it is True.
    if (!troubles(condition) || reported == kMostStatusConditions) continue;
    ++reported;
    words.push_back(subject + " reports " + condition["type"].str() + "=" + condition["status"].str() +
                    since(condition["lastTransitionTime"]) + in_parentheses(cause(condition)));
  }
}

/// Containers that wait or have ended badly: images that cannot be pulled, crashes.
void about_containers(const std::string& subject, const Value& status, Words& words) {
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const Value& container : status[list].items()) {
      const Value& waiting = container["state"]["waiting"];
      const Value& ended = container["state"]["terminated"];
      if (!waiting["reason"].is_empty()) {
        words.push_back(subject + ": container " + container["name"].str() + " waits" + in_parentheses(cause(waiting)));
      } else if (ended.is_object() && ended["exitCode"].as_int() != 0) {
        words.push_back(subject + ": container " + container["name"].str() + " ended with exit code " +
                        std::to_string(ended["exitCode"].as_int()) + in_parentheses(cause(ended)));
      }
    }
  }
}

void about_replicas(const std::string& subject, const Value& status, const Value& manifest, Words& words) {
  // A DaemonSet counts nodes.
  const bool nodes = status.contains("desiredNumberScheduled");
  const Value& wanted = nodes ? status["desiredNumberScheduled"] : manifest["spec"]["replicas"];
  const Value& ready = nodes ? status["numberReady"] : status["readyReplicas"];
  const bool counted = nodes || status.contains("replicas") || status.contains("readyReplicas") ||
                       status.contains("unavailableReplicas");
  if (!wanted.is_int() || !counted || ready.as_int() >= wanted.as_int()) return;
  words.push_back(subject + " has " + std::to_string(ready.as_int()) + " of " + std::to_string(wanted.as_int()) +
                  " replicas ready");
}

void about_objects(const MemberNow& member, Words& words) {
  const Value& manifests = member.work["spec"]["workload"]["manifests"];
  for (const Value& entry : member.work["status"]["manifestStatuses"].items()) {
    const Value& identifier = entry["identifier"];
    const std::string subject = identifier["kind"].str() + " " + identifier["name"].str();
    const std::string health = entry["health"].str();
    const Value& status = entry["status"];
    about_replicas(subject, status, manifests[static_cast<size_t>(identifier["ordinal"].as_int())], words);
    about_containers(subject, status, words);
    if (health == "Healthy" || health.empty()) continue;
    words.push_back(subject + " is " + health);
    about_conditions(subject, status, words);
  }
  const bool taken = condition_of(member.work, "Applied")["status"].as_string() == "True";
  const Value* statuses = member.work["status"].find("manifestStatuses");
  if (taken && statuses == nullptr) words.emplace_back("the member has not reported on it yet");
  if (taken && statuses != nullptr && statuses->size() < manifests.size()) {
    words.emplace_back("an object of the Work is missing in the member");
  }
}

/// Other conditions of the Work that report a failure, whichever component sets them.
void about_work(const MemberNow& member, Words& words) {
  for (const Value& condition : member.work["status"]["conditions"].items()) {
    const auto type = condition["type"].as_string();
    if (type == "Applied" || type == "Dispatching" || !troubles(condition)) continue;
    words.push_back("the Work reports " + condition["type"].str() + "=" + condition["status"].str() +
                    since(condition["lastTransitionTime"]) + in_parentheses(cause(condition)));
  }
}

}  // namespace

Words member_now(const MemberNow& member) {
  Words words;
  about_cluster(member, words);
  if (!member.render_failed.empty()) {
    words.push_back("the present version could not be rendered: " + printable(member.render_failed, kLongestMessage) +
                    (member.work.is_null() ? "" : "; the member keeps what it has"));
  }
  if (member.work.is_null()) {
    if (member.render_failed.empty()) {
      words.push_back(member.rendered_at.empty()
                          ? "no Work has been rendered for it yet"
                          : "its Work, rendered at " + member.rendered_at + ", has been deleted");
    }
    return words;
  }
  if (deleting(member.work)) {
    words.push_back("its Work is being deleted" + since(member.work["metadata"]["deletionTimestamp"]) +
                    ": the object is taken from the member");
    return words;
  }
  about_taints(member, words);
  about_suspension(member, words);
  about_generation(member, words);
  about_work(member, words);
  about_objects(member, words);
  return words;
}

bool stays_for_all_taints(const Value& binding, const Value& cluster) {
  const auto placement = parse_json(annotation_of(binding, kAppliedPlacementAnnotation));
  if (!placement) return false;
  return std::ranges::all_of(cluster["spec"]["taints"].items(), [&](const Value& value) {
    const Taint taint = taint_of(value);
    if (taint.effect != "NoExecute") return true;
    const Value by = toleration_of(placement.value(), taint);
    return !by.is_null() && by["tolerationSeconds"].is_null();
  });
}

Words failovers_now(const Value& binding, const Value& record, bool preserves) {
  Words words;
  const Value& application = binding["spec"]["failover"]["application"];
  for (const auto& timer : record["timers"].members()) {
    const std::string cluster{timer.key()};
    const UtcMillis since{timer.value.as_int()};
    const int64_t seconds = application["decisionConditions"]["tolerationSeconds"].as_int(300);
    std::string text = "in " + cluster + " the workload is Unhealthy since " + rfc3339(since) +
                       "; it is moved away after " + rfc3339(since + Millis{std::max<int64_t>(seconds, 0) * 1000}) +
                       ", unless it recovers (spec.failover.application, purgeMode " + application["purgeMode"].str() +
                       ")";
    const auto labels = preserved_labels(preserves, binding, cluster, application);
    if (!labels) text += "; as it is now it could not be moved: " + labels.error().message;
    words.push_back(std::move(text));
  }
  return words;
}

Value evictions_now(const Value& binding, const WorkOfCluster& work_of, Millis timeout) {
  Value list = Value::array();
  const auto tasks = binding["spec"]["gracefulEvictionTasks"].items();
  if (tasks.empty()) return list;
  Value waits_for = Value::array();
  for (const EvictionBlocker& blocker : eviction_blockers(binding, work_of)) {
    waits_for.push_back((blocker.cluster.empty() ? "" : blocker.cluster + ": ") + blocker.reason);
  }
  for (const Value& task : tasks) {
    Value eviction = Value::object({{"cluster", task["fromCluster"]}, {"since", task["creationTimestamp"]}});
    for (const char* field : {"reason", "message", "producer", "purgeMode"}) {
      if (!task[field].is_empty()) eviction.set(field, task[field]);
    }
    if (const Value* hold = task.find("suppressDeletion"); hold != nullptr && hold->is_bool() && hold->as_bool()) {
      eviction.set("waitsFor", Value::array({"spec.gracefulEvictionTasks[].suppressDeletion to become false"}));
      list.push_back(std::move(eviction));
      continue;
    }
    const auto begun = parse_rfc3339(task["creationTimestamp"].as_string());
    const Value& own = task["gracePeriodSeconds"];
    const Millis grace = own.is_null() ? timeout : Millis{own.as_int() * 1000};
    if (begun) eviction.set("until", rfc3339(begun.value() + grace));
    eviction.set("waitsFor", waits_for);
    list.push_back(std::move(eviction));
  }
  return list;
}

}  // namespace shiplog::api
