#include "services/programs/member/kubelet.h"

#include <algorithm>
#include <string>

#include "events/base/hash.h"
#include "services/programs/member/condition.h"
#include "services/programs/member/decision_changes.h"
#include "services/programs/member/kinds.h"
#include "services/programs/member/ownership.h"
#include "services/programs/member/pod.h"

namespace shiplog::member {
namespace {

//  placed ──ready delay──▶ running ──completion delay, a Job's pod──▶ completed
//     │                       └── an image under fail/ or fake/ stays waiting
enum class PodStage { kCreating, kRunning, kCompleted };

PodStage stage_of(const Value& pod, UtcMillis now, const PodTimes& times) {
  const UtcMillis ready = started_at(pod) + times.ready;
  // A pod that has run keeps running, even if the delay was increased in the meantime.
  const bool ran = pod["status"]["phase"].as_string() == "Running";
  if (now < ready && !ran) return PodStage::kCreating;
  const bool ends = controller_of(pod)["kind"].as_string() == "Job";
  return ends && now >= ready + times.completion ? PodStage::kCompleted : PodStage::kRunning;
}

/// Under fake/ are images that Karmada's own end-to-end tests expect to be missing.
bool fails(const Value& container) {
  const std::string_view image = container["image"].as_string();
  return image.starts_with("fail/") || image.starts_with("fake/");
}

std::string hex(std::string_view text) {
  return to_string(siphash128(text)) + to_string(siphash128(std::string{text} + "/2"));
}

/// One of 8 million addresses, which are not routed.
std::string pod_ip(std::string_view uid) {
  const uint64_t bits = siphash128(uid).lo;
  return "10." + std::to_string(128 + bits % 128) + "." + std::to_string((bits >> 8U) % 256) + "." +
         std::to_string(1 + (bits >> 16U) % 254);
}

const Value& status_of(const Value& pod, const char* list, std::string_view container) {
  static const Value kNone;
  for (const Value& status : pod["status"][list].items()) {
    if (status["name"].as_string() == container) return status;
  }
  return kNone;
}

Value waiting(std::string_view reason, const std::string& message) {
  Value why = Value::object({{"reason", reason}});
  if (!message.empty()) why.set("message", message);
  return Value::object({{"waiting", why}});
}

Value container_status(const Value& pod, const char* list, const Value& container, const Value& state, bool ready) {
  const std::string name = container["name"].str();
  const std::string image = container["image"].str();
  const bool up = !state.contains("waiting");
  return Value::object(
      {{"name", name},
       {"image", image},
       {"imageID", up ? "sha256:" + hex(image) : ""},
       {"containerID", up ? "containerd://" + hex(std::string{uid_of(pod)} + "/" + list + "/" + name) : ""},
       {"ready", ready},
       {"started", state.contains("running")},
       {"restartCount", status_of(pod, list, name)["restartCount"].as_int()},
       {"state", state}});
}

/// The statuses of one list of containers, and the names of those that are not ready.
Value container_statuses(const Value& pod, const char* spec_list, const char* list, PodStage stage, bool may_start,
                         UtcMillis now, std::string& unready) {
  const bool init = std::string_view{list} == "initContainerStatuses";
  Value statuses = Value::array();
  for (const Value& container : pod["spec"][spec_list].items()) {
    const std::string name = container["name"].str();
    const Value& before = status_of(pod, list, name)["state"];
    std::string since = before["running"]["startedAt"].str();
    if (since.empty()) since = rfc3339(now);
    Value state;
    bool ready = false;
    if (!may_start || stage == PodStage::kCreating) {
      state = waiting(may_start && !init ? "ContainerCreating" : "PodInitializing", "");
    } else if (fails(container)) {
      state = waiting("ImagePullBackOff", "Back-off pulling image \"" + container["image"].str() + "\"");
    } else if (init || stage == PodStage::kCompleted) {
      state = before.contains("terminated")
                  ? before
                  : Value::object({{"terminated", Value::object({{"exitCode", 0},
                                                                 {"reason", "Completed"},
                                                                 {"startedAt", since},
                                                                 {"finishedAt", rfc3339(now)}})}});
      ready = init;
    } else {
      state = Value::object({{"running", Value::object({{"startedAt", since}})}});
      ready = true;
    }
    if (!ready) unready += (unready.empty() ? "" : " ") + name;
    statuses.push_back(container_status(pod, list, container, state, ready));
  }
  return statuses;
}

bool any_fails(const Value& containers) { return std::ranges::any_of(containers.items(), fails); }

Value with_status(const Value& pod, PodStage stage, UtcMillis now) {
  Value seen = pod;
  Value& status = seen.edit("status");
  const bool initialized = stage != PodStage::kCreating && !any_fails(pod["spec"]["initContainers"]);
  std::string uninitialized;
  std::string unready;
  const Value init =
      container_statuses(pod, "initContainers", "initContainerStatuses", stage, true, now, uninitialized);
  const bool has_init = init.size() > 0;
  if (has_init) status.set("initContainerStatuses", init);
  status.set("containerStatuses",
             container_statuses(pod, "containers", "containerStatuses", stage, !has_init || initialized, now, unready));
  const bool up = initialized && !any_fails(pod["spec"]["containers"]);
  status.set("phase", !up ? "Pending" : stage == PodStage::kCompleted ? "Succeeded" : "Running");
  if (stage != PodStage::kCreating) {
    const std::string address = pod_ip(uid_of(pod));
    status.set("podIP", address);
    status.set("podIPs", Value::array({Value::object({{"ip", address}})}));
  }
  if (status["startTime"].is_empty()) status.set("startTime", rfc3339(now));

  set_condition(status, "PodScheduled", {"True", "", ""}, now);
  if (!has_init || initialized) {
    set_condition(status, "Initialized", {"True", "", ""}, now);
  } else {
    set_condition(status, "Initialized",
                  {"False", "ContainersNotInitialized", "containers with incomplete status: [" + uninitialized + "]"},
                  now);
  }
  for (const char* type : {"Ready", "ContainersReady"}) {
    if (unready.empty()) {
      set_condition(status, type, {"True", "", ""}, now);
    } else if (up && stage == PodStage::kCompleted) {
      set_condition(status, type, {"False", "PodCompleted", ""}, now);
    } else {
      set_condition(status, type, {"False", "ContainersNotReady", "containers with unready status: [" + unready + "]"},
                    now);
    }
  }
  return seen;
}

}  // namespace

Result<Decided> decide_pod(const State& state, const ObjectKey& key, UtcMillis now, const PodTimes& times) {
  const Object* object = state.find(key);
  if (object == nullptr) return Nothing{};
  const std::string node = object->value["spec"]["nodeName"].str();
  if (node.empty()) return Nothing{};
  Changes changes;
  // Simulated containers stop at once: the rest of the grace period is waived.
  if (deleting(object->value) && object->value["metadata"]["deletionGracePeriodSeconds"].as_int() > 0) {
    changes.remove(key, *object);
    return changes.take();
  }
  if (!is_active(object->value)) return Nothing{};
  if (state.find({kNodes, "", node}) == nullptr) {
    changes.remove(key, *object);
  } else {
    changes.update_status(key, *object, with_status(object->value, stage_of(object->value, now, times), now));
  }
  return changes.take();
}

Millis look_again_pod(const State& state, const ObjectKey& key, UtcMillis now, const PodTimes& times) {
  const Value& pod = state.value_of(key);
  if (pod.is_null() || !is_active(pod) || pod["spec"]["nodeName"].is_empty()) return Millis{0};
  const UtcMillis ready = started_at(pod) + times.ready;
  switch (stage_of(pod, now, times)) {
    case PodStage::kCreating:
      return ready - now;
    case PodStage::kRunning:
      if (controller_of(pod)["kind"].as_string() != "Job" || pod["status"]["phase"].as_string() != "Running") break;
      return ready + times.completion - now;
    case PodStage::kCompleted:
      break;
  }
  return Millis{0};
}

}  // namespace shiplog::member
