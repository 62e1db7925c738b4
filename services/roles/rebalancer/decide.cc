#include "services/roles/rebalancer/decide.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "events/state/work.h"

namespace shiplog::rebalancer {
namespace {

constexpr const char* kSuccessful = "Successful";
constexpr const char* kFailed = "Failed";
constexpr size_t kMostAtOnce = 200;  // requests in one decision; the rest follows
constexpr Millis kSecond{1000};

/// The order of status.observedWorkloads (REB-4).
struct WorkloadReference {
  std::string api_version, kind, ns, name;
  auto operator<=>(const WorkloadReference&) const = default;
};

WorkloadReference workload_from(const Value& value) {
  return {value["apiVersion"].str(), value["kind"].str(), value["namespace"].str(), value["name"].str()};
}

ObjectKey binding_of(const WorkloadReference& workload) {
  return binding_key({"", workload.ns, workload.name}, workload.kind);
}

Value to_value(const WorkloadReference& workload, const std::string& result) {
  Value reference =
      Value::object({{"apiVersion", workload.api_version}, {"kind", workload.kind}, {"name", workload.name}});
  if (!workload.ns.empty()) reference.set("namespace", workload.ns);
  Value observed = Value::object({{"workload", std::move(reference)}});
  if (!result.empty()) observed.set("result", result);
  if (result == kFailed) observed.set("reason", "ReferencedBindingNotFound");
  return observed;
}

/// When the request for one workload is to be made, and with which timestamp; `at` 0: it stands already.
struct RescheduleRequest {
  UtcMillis due;
  UtcMillis at;
};

RescheduleRequest request_for(const State& state, const Value& binding, UtcMillis created, UtcMillis now) {
  const auto requested = parse_rfc3339(binding["spec"]["rescheduleTriggeredAt"].as_string());
  if (requested && requested.value() >= created) return {now, {}};
  if (state.fold_version() >= 7) return {now, created};  // the fold marks one that the scheduler would overlook
  const auto placed = parse_rfc3339(binding["status"]["lastScheduledTime"].as_string());
  if (!placed || placed.value() < created) return {now, created};
  // That placement does not include the request, and would hide it: request as of the first second after it.
  const UtcMillis later = placed.value() + kSecond;
  return {later, later};
}

UtcMillis created_at(const Value& object) {
  const auto time = parse_rfc3339(object["metadata"]["creationTimestamp"].as_string());
  return time ? time.value() : UtcMillis{};
}

/// When a rebalancer that is done goes; nullopt: never.
std::optional<UtcMillis> end_of(const Value& object) {
  const Value& ttl = object["spec"]["ttlSecondsAfterFinished"];
  const auto finished = parse_rfc3339(object["status"]["finishTime"].as_string());
  if (ttl.is_null() || !finished) return std::nullopt;
  return finished.value() + Millis{1000 * std::max<int64_t>(ttl.as_int(), 0)};
}

bool seen_whole(const Value& object) {
  return object["status"]["observedGeneration"].as_int() == object["metadata"]["generation"].as_int() &&
         !object["status"]["finishTime"].is_null();
}

using Results = std::map<WorkloadReference, std::string>;

/// The results that the status has; empty: none yet.
Results recorded_results(const Value& object) {
  Results results;
  for (const Value& each : object["status"]["observedWorkloads"].items()) {
    results[workload_from(each["workload"])] = each["result"].str();
  }
  return results;
}

/// The object with the results in its status.
Value with_results(const Value& object, const Results& results, bool settled, UtcMillis now) {
  Value wanted = object;
  Value& status = wanted.edit("status");
  Value observed = Value::array();
  for (const auto& [workload, result] : results) observed.push_back(to_value(workload, result));
  status.set("observedWorkloads", std::move(observed));
  if (settled) {
    status.set("observedGeneration", object["metadata"]["generation"]);
    status.set("finishTime", rfc3339(now));
  } else {
    status.erase("finishTime");
  }
  return wanted;
}

/// When the next request for one of the workloads is due; nullopt: none is.
std::optional<UtcMillis> next_request(const State& state, const Value& object, UtcMillis now) {
  std::optional<UtcMillis> next;
  for (const Value& each : object["spec"]["workloads"].items()) {
    const Value& binding = state.value_of(binding_of(workload_from(each)));
    if (binding.is_null()) continue;
    const UtcMillis due = request_for(state, binding, created_at(object), now).due;
    if (!next || due < *next) next = due;
  }
  return next;
}

}  // namespace

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now) {
  const Object* object = state.find(key);
  if (object == nullptr || deleting(object->value)) return Nothing{};
  DecisionBuilder decision;
  decision.expect({key, object->revision});
  if (seen_whole(object->value)) {
    const auto end = end_of(object->value);
    if (!end) return Nothing{};
    if (*end > now) return LookAgain{*end};
    decision.add(DeletionRequested{key});
    return std::move(decision).build();
  }

  Results results;  // of what is settled: it is not requested twice (REB-3)
  const Results before = recorded_results(object->value);
  for (const auto& [workload, result] : before) {
    if (result == kSuccessful) results[workload] = result;  // also of one that has left the spec (REB-5)
  }
  const UtcMillis created = created_at(object->value);
  const std::string requested_by = "WorkloadRebalancer " + key.name;
  bool settled = true;
  for (const Value& each : object->value["spec"]["workloads"].items()) {
    const WorkloadReference workload = workload_from(each);
    if (results.contains(workload)) continue;
    if (const auto known = before.find(workload); known != before.end() && !known->second.empty()) {
      results[workload] = known->second;
      continue;
    }
    const ObjectKey binding = binding_of(workload);
    const Value& found = state.value_of(binding);
    std::string& result = results[workload];
    if (found.is_null()) {
      result = kFailed;
      continue;
    }
    const RescheduleRequest request = request_for(state, found, created, now);
    if (request.due > now || decision.size() == kMostAtOnce) {
      settled = false;
      continue;
    }
    result = kSuccessful;
    if (request.at != UtcMillis{}) decision.add(ReschedulingTriggered{binding, requested_by, request.at});
  }

  Value wanted = with_results(object->value, results, settled, now);
  if (wanted != object->value) decision.add(StatusUpdated{key, std::move(wanted)});
  if (!decision.empty()) return std::move(decision).build_and_look_again(now);
  const auto next = next_request(state, object->value, now);
  return next ? Decided{LookAgain{*next}} : Nothing{};
}

}  // namespace shiplog::rebalancer
