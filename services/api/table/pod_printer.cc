#include <algorithm>

#include "events/state/condition.h"
#include "events/state/object.h"
#include "services/api/table/cells.h"

// TBL-8: the order in which one reason overrides another is kubectl's users' habit, so it is kept exactly.

namespace shiplog::api {
namespace {

struct Restarts {
  int64_t count = 0;
  UtcMillis last;
  void add(const Value& status) {
    count += status["restartCount"].as_int();
    const auto time = parse_rfc3339(status["lastState"]["terminated"]["finishedAt"].as_string());
    if (time && time.value() > last) last = time.value();
  }
  std::string text(UtcMillis now) const {
    std::string shown = std::to_string(count);
    if (count > 0 && last.value > 0) shown += " (" + human_duration(now - last) + " ago)";
    return shown;
  }
};

/// "Error", else "Signal:9" or "ExitCode:1".
std::string termination_reason(const Value& terminated) {
  if (!terminated["reason"].is_empty()) return terminated["reason"].str();
  const int64_t signal = terminated["signal"].as_int();
  return signal != 0 ? "Signal:" + std::to_string(signal)
                     : "ExitCode:" + std::to_string(terminated["exitCode"].as_int());
}

bool has_condition(const Value& pod, std::string_view type, std::string_view status, std::string_view reason = "") {
  const Value& condition = condition_of(pod, type);
  return condition["status"].as_string() == status && (reason.empty() || condition["reason"].as_string() == reason);
}

bool is_sidecar(const Value& pod, const Value& status) {
  const auto containers = pod["spec"]["initContainers"].items();
  return std::any_of(containers.begin(), containers.end(), [&](const Value& container) {
    return container["name"] == status["name"] && container["restartPolicy"].as_string() == "Always";
  });
}

/// True while init containers run or wait; `reason` is then set to their progress.
bool initializing(const Value& pod, std::string& reason, Restarts& restarts) {
  const Value& statuses = pod["status"]["initContainerStatuses"];
  for (size_t i = 0; i < statuses.size(); ++i) {
    const Value& status = statuses[i];
    const Value& state = status["state"];
    restarts.add(status);
    const Value& terminated = state["terminated"];
    if (!terminated.is_null() && terminated["exitCode"].as_int() == 0) continue;
    if (is_sidecar(pod, status) && status["started"].as_bool()) continue;
    const std::string_view waiting = state["waiting"]["reason"].as_string();
    if (!terminated.is_null()) {
      reason = "Init:" + termination_reason(terminated);
    } else if (!waiting.empty() && waiting != "PodInitializing") {
      reason = "Init:" + std::string{waiting};
    } else {
      reason = "Init:" + std::to_string(i) + "/" + std::to_string(pod["spec"]["initContainers"].size());
    }
    return true;
  }
  return false;
}

void read_containers(const Value& pod, std::string& reason, Restarts& restarts, int64_t& ready) {
  const Value& statuses = pod["status"]["containerStatuses"];
  bool running = false;
  for (size_t i = statuses.size(); i-- > 0;) {
    const Value& status = statuses[i];
    const Value& state = status["state"];
    restarts.add(status);
    if (!state["waiting"]["reason"].is_empty()) {
      reason = state["waiting"]["reason"].str();
    } else if (!state["terminated"].is_null()) {
      reason = termination_reason(state["terminated"]);
    } else if (status["ready"].as_bool() && !state["running"].is_null()) {
      running = true;
      ++ready;
    }
  }
  if (reason == "Completed" && running) reason = has_condition(pod, "Ready", "True") ? "Running" : "NotReady";
}

}  // namespace

void print_pod(const Value& pod, UtcMillis now, TableRow& row) {
  const Value& spec = pod["spec"];
  const Value& status = pod["status"];
  const std::string phase = status["phase"].str();
  std::string reason = status["reason"].is_empty() ? phase : status["reason"].str();
  if (has_condition(pod, "PodScheduled", "False", "SchedulingGated")) reason = "SchedulingGated";
  if (phase == "Succeeded" || phase == "Failed") {
    row.conditions.push_back(
        Value::object({{"type", "Completed"},
                       {"status", "True"},
                       {"reason", phase},
                       {"message", phase == "Succeeded" ? "The pod has completed successfully." : "The pod failed."}}));
  }
  Restarts restarts;
  int64_t ready = 0;
  const bool starting = initializing(pod, reason, restarts);
  if (!starting || has_condition(pod, "Initialized", "True")) {
    restarts = {};
    read_containers(pod, reason, restarts, ready);
  }
  if (deleting(pod)) {
    if (status["reason"].as_string() == "NodeLost") {
      reason = "Unknown";
    } else if (phase != "Succeeded" && phase != "Failed") {
      reason = "Terminating";
    }
  }
  std::string ip = status["podIP"].str();
  if (status["podIPs"].size() > 0) ip = status["podIPs"][0]["ip"].str();
  std::string gates = "<none>";
  if (const Value& list = spec["readinessGates"]; list.size() > 0) {
    const auto open = std::count_if(list.items().begin(), list.items().end(), [&](const Value& gate) {
      return has_condition(pod, gate["conditionType"].as_string(), "True");
    });
    gates = std::to_string(open) + "/" + std::to_string(list.size());
  }
  row.cells =
      Value::array({pod["metadata"]["name"], std::to_string(ready) + "/" + std::to_string(spec["containers"].size()),
                    reason, restarts.text(now), age_of(pod, now), or_none(ip), or_none(spec["nodeName"].as_string()),
                    or_none(status["nominatedNodeName"].as_string()), gates});
}

}  // namespace shiplog::api
