#include "services/api/insight/failovers.h"

#include <algorithm>
#include <map>
#include <set>

#include "events/base/json.h"
#include "events/state/object.h"
#include "projections/audit/audit_query.h"
#include "projections/history/history_query.h"
#include "services/api/insight/render.h"

namespace shiplog::api {
namespace {

/// What one answer reads at most.
constexpr size_t kMostBindingVersions = 5000;
constexpr size_t kMostEvictions = 1000;

/// Replicas by cluster; a workload without replicas counts as one in each of its clusters.
std::map<std::string, int64_t> units_of(const Value& spec) {
  std::map<std::string, int64_t> units;
  for (const Value& target : spec["clusters"].items()) {
    units[target["name"].str()] = std::max<int64_t>(1, target["replicas"].as_int());
  }
  return units;
}

/// Two tasks of one cluster differ in the time at which they began.
std::string identity_of(const Value& task) { return task["fromCluster"].str() + " " + task["creationTimestamp"].str(); }

Value begun(const Value& task, const PlacementVersion& version, int64_t units) {
  Value failover = Value::object({{"from", task["fromCluster"]},
                                  {"reason", task["reason"]},
                                  {"producer", task["producer"]},
                                  {"started", rfc3339_millis(version.time)},
                                  {"revision", version.revision.value},
                                  {"replicas", units},
                                  {"to", Value::array()},
                                  {"unplaced", units}});
  for (const char* field : {"message", "purgeMode"}) {
    if (!task[field].is_empty()) failover.set(field, task[field]);
  }
  if (task["preservedLabelState"].size() > 0) failover.set("preservedLabels", task["preservedLabelState"]);
  return failover;
}

/// `units` more in `cluster`, shared among the failovers under way. What none of them misses is a change of another
/// kind.
void place(std::vector<Value>& all, const std::map<std::string, size_t>& open, const std::string& cluster,
           int64_t units, UtcMillis time) {
  std::set<size_t> by_age;
  for (const auto& [task, index] : open) by_age.insert(index);
  for (const size_t index : by_age) {
    Value& failover = all[index];
    const int64_t taken = std::min(units, failover["unplaced"].as_int());
    if (taken == 0 || failover["from"].as_string() == cluster) continue;
    failover.edit("to").push_back(
        Value::object({{"cluster", cluster}, {"replicas", taken}, {"at", rfc3339_millis(time)}}));
    failover.set("unplaced", failover["unplaced"].as_int() - taken);
    if (failover["unplaced"].as_int() == 0) failover.set("placed", rfc3339_millis(time));
    units -= taken;
  }
}

void end(Value& failover, const PlacementVersion& version) {
  failover.set("ended", rfc3339_millis(version.time));
  if (version.spec.is_null()) {
    failover.set("endedBecause", "the binding was removed");
  } else if (!version.ended.empty()) {
    failover.set("endedBecause", version.ended);
  }
  if (const auto started = parse_rfc3339(failover["started"].as_string())) {
    failover.set("durationMillis", version.time.value - started.value().value);
  }
}

Result<std::vector<PlacementVersion>> versions_of(const View& view, const ObjectKey& binding) {
  SHIPLOG_TRY(auto rows, HistoryQuery{view}.versions(binding, true, kMostBindingVersions));
  std::ranges::reverse(rows);
  std::vector<PlacementVersion> versions;
  versions.reserve(rows.size());
  for (const VersionRow& row : rows) {
    PlacementVersion version{row.revision, row.entry.time, {}, ""};
    if (row.operation != VersionOperation::kRemoved) {
      SHIPLOG_TRY(const Value object, parse_stored_json(row.json));
      version.spec = object["spec"];
    }
    for (const AuditEvent& event : row.entry.events) {
      if (event.kind == "EvictionFinished" && event.subject == binding) version.ended = event.summary;
    }
    versions.push_back(std::move(version));
  }
  return versions;
}

/// The bindings of the newest evictions.
Result<std::set<ObjectKey>> evicted_bindings(const View& view, const std::string& ns) {
  AuditFilter filter;
  filter.event_kind = "EvictionStarted";
  if (!ns.empty()) filter.ns = ns;
  filter.limit = kMostEvictions;
  SHIPLOG_TRY(const auto rows, AuditQuery{view}.find(filter));
  std::set<ObjectKey> bindings;
  for (const AuditRow& row : rows) {
    for (const AuditEvent& event : row.events) {
      if (!row.refusal && event.kind == "EvictionStarted") bindings.insert(event.subject);
    }
  }
  return bindings;
}

}  // namespace

Value failovers_in(const std::vector<PlacementVersion>& versions) {
  std::vector<Value> all;
  std::map<std::string, size_t> open;  // by the task's identity
  std::map<std::string, int64_t> before;
  for (const PlacementVersion& version : versions) {
    const auto now = units_of(version.spec);
    std::map<std::string, size_t> still_open;
    for (const Value& task : version.spec["gracefulEvictionTasks"].items()) {
      const std::string identity = identity_of(task);
      if (const auto known = open.find(identity); known != open.end()) {
        still_open.insert(*known);
        continue;
      }
      const auto left = before.find(task["fromCluster"].str());
      const int64_t noted = std::max<int64_t>(1, task["replicas"].as_int());
      all.push_back(begun(task, version, left == before.end() ? noted : left->second));
      still_open.emplace(identity, all.size() - 1);
    }
    for (const auto& [cluster, units] : now) {
      const auto had = before.find(cluster);
      const int64_t more = units - (had == before.end() ? 0 : had->second);
      if (more > 0) place(all, still_open, cluster, more, version.time);
    }
    for (const auto& [identity, index] : open) {
      if (!still_open.contains(identity)) end(all[index], version);
    }
    open = std::move(still_open);
    before = now;
  }
  return Value::array(std::move(all));
}

Result<Value> failovers_of(const View& view, const std::optional<ObjectKey>& binding, const std::string& ns,
                           size_t limit) {
  std::set<ObjectKey> bindings;
  if (binding) {
    bindings.insert(*binding);
  } else {
    SHIPLOG_TRY(bindings, evicted_bindings(view, ns));
  }
  Value::Array items;
  for (const ObjectKey& key : bindings) {
    SHIPLOG_TRY(const auto versions, versions_of(view, key));
    Value object;
    for (const PlacementVersion& version : versions) {
      if (!version.spec["resource"].is_null()) object = version.spec["resource"];
    }
    const Value found = failovers_in(versions);  // outlives the loop over its items
    for (Value failover : found.items()) {
      failover.set("binding", to_value(key));
      Value moved = Value::object();
      for (const char* field : {"apiVersion", "kind", "namespace", "name"}) {
        if (!object[field].is_empty()) moved.set(field, object[field]);
      }
      failover.set("object", std::move(moved));
      items.push_back(std::move(failover));
    }
  }
  std::ranges::stable_sort(
      items, [](const Value& a, const Value& b) { return a["revision"].as_int() > b["revision"].as_int(); });
  if (items.size() > limit) items.resize(limit);
  return Value::array(std::move(items));
}

}  // namespace shiplog::api
