#include "services/roles/federated_hpa/pod_sums.h"

#include <algorithm>
#include <string_view>

#include "events/base/quantity.h"
#include "events/base/utf8.h"
#include "events/state/condition.h"

namespace shiplog::federated_hpa {
namespace {

/// What a container uses while it starts says little: --horizontal-pod-autoscaler-cpu-initialization-period.
constexpr Millis kStarting{5 * 60 * 1000};
/// A pod that became unready so soon after its start was never ready:
/// --horizontal-pod-autoscaler-initial-readiness-delay.
constexpr Millis kFirstReadiness{30'000};
/// Names of pods have no more bytes; a member may send any text.
constexpr size_t kLongestName = 253;

int64_t milli_of(const Value& quantity) {
  const auto parsed = parse_quantity(quantity.as_string());
  return parsed ? std::clamp<int64_t>(parsed.value().milli(), 0, kMostMilli) : 0;
}

void add(int64_t& sum, int64_t more) { sum = more > kMostMilli - sum ? kMostMilli : sum + more; }

std::optional<UtcMillis> time_of(const Value& value) {
  const auto parsed = parse_rfc3339(value.as_string());
  return parsed ? std::optional{parsed.value()} : std::nullopt;
}

bool by_percentage(const Value& source) { return source["target"]["averageUtilization"].is_int(); }

/// What the containers of a pod, or one of them, request; -1: one has no request.
int64_t requested(const Value& pod, const std::string& resource, std::string_view container) {
  int64_t sum = 0;
  bool found = false;
  const auto take = [&](const Value& each) {
    if (!container.empty() && each["name"].as_string() != container) return true;
    found = true;
    const Value& request = each["resources"]["requests"][resource];
    if (request.is_null()) return false;
    add(sum, milli_of(request));
    return true;
  };
  for (const Value& each : pod["spec"]["containers"].items()) {
    if (!take(each)) return -1;
  }
  for (const Value& each : pod["spec"]["initContainers"].items()) {
    if (each["restartPolicy"].as_string() == "Always" && !take(each)) return -1;
  }
  return found ? sum : -1;
}

bool starting(const MeasuredPod& pod, const PodUsage& measured, UtcMillis now) {
  if (pod.ready.empty() || !pod.started) return true;
  if (now < *pod.started + kStarting) return pod.ready == "False" || measured.at < pod.ready_since + measured.window;
  return pod.ready == "False" && pod.ready_since < *pod.started + kFirstReadiness;
}

}  // namespace

const Value& source_of(const Value& metric) {
  static const Value none;
  const std::string_view type = metric["type"].as_string();
  if (type == "Resource") return metric["resource"];
  if (type == "ContainerResource") return metric["containerResource"];
  if (type == "Pods") return metric["pods"];
  if (type == "Object") return metric["object"];
  return none;
}

MeasuredPod measured_pod(const Value& pod, const Value& metrics) {
  const Value& status = pod["status"];
  const Value& ready = condition_of(pod, "Ready");
  MeasuredPod measured;
  measured.name = pod["metadata"]["name"].str();
  measured.ignored = pod["metadata"].contains("deletionTimestamp") || status["phase"].as_string() == "Failed";
  measured.pending = status["phase"].as_string() == "Pending";
  measured.running = status["phase"].as_string() == "Running";
  measured.ready = ready["status"].str();
  measured.ready_since = time_of(ready["lastTransitionTime"]).value_or(UtcMillis{});
  measured.started = time_of(status["startTime"]);
  for (const Value& metric : metrics.items()) {
    const Value& source = source_of(metric);
    measured.requests.push_back(
        by_percentage(source) ? requested(pod, source["name"].str(), source["container"].as_string()) : 0);
  }
  return measured;
}

UsageByPod resource_usage(const Value& list, const std::string& resource, const std::string& container) {
  UsageByPod usage;
  for (const Value& item : list["items"].items()) {
    const auto window = parse_duration(item["window"].as_string());
    PodUsage sum{0, time_of(item["timestamp"]).value_or(UtcMillis{}), window ? window.value() : Millis{0}};
    bool complete = false;
    for (const Value& each : item["containers"].items()) {
      if (!container.empty() && each["name"].as_string() != container) continue;
      const Value& amount = each["usage"][resource];
      complete = !amount.is_null();
      if (!complete) break;
      add(sum.usage, milli_of(amount));
    }
    if (complete) usage.emplace(item["metadata"]["name"].str(), sum);
  }
  return usage;
}

UsageByPod custom_usage(const Value& list) {
  UsageByPod usage;
  for (const Value& item : list["items"].items()) {
    usage.emplace(item["describedObject"]["name"].str(),
                  PodUsage{milli_of(item["value"]), time_of(item["timestamp"]).value_or(UtcMillis{}), Millis{0}});
  }
  return usage;
}

MetricSums sums_of(const std::vector<MeasuredPod>& pods, size_t metric, const Value& source, const UsageByPod& usage,
                   UtcMillis now) {
  MetricSums sums;
  const bool percentage = by_percentage(source);
  for (const MeasuredPod& pod : pods) {
    if (pod.ignored) continue;
    const int64_t request = metric < pod.requests.size() ? pod.requests[metric] : 0;
    if (percentage && request < 0) {
      MetricSums failed;
      failed.failure =
          "missing request for " + source["name"].str() + " in a container of Pod " + printable(pod.name, kLongestName);
      return failed;
    }
    const auto measured = usage.find(pod.name);
    const bool is_cpu = source["name"].as_string() == "cpu";
    if (pod.pending || (is_cpu && measured != usage.end() && starting(pod, measured->second, now))) {
      ++sums.unready;
      add(sums.unready_requested, request);
    } else if (measured == usage.end()) {
      ++sums.missing;
      add(sums.missing_requested, request);
    } else {
      ++sums.ready;
      add(sums.usage, measured->second.usage);
      add(sums.requested, request);
    }
  }
  return sums;
}

size_t containers_in(const Value& list) {
  size_t all = 0;
  for (const Value& item : list["items"].items()) {
    all += item["containers"].size() + item["spec"]["containers"].size() + item["spec"]["initContainers"].size();
  }
  return all;
}

int64_t count_ready(const std::vector<MeasuredPod>& pods) {
  return std::ranges::count_if(pods, [](const MeasuredPod& pod) { return pod.running && pod.ready == "True"; });
}

}  // namespace shiplog::federated_hpa
