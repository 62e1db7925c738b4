#include "services/roles/collector/decide.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "events/base/utf8.h"
#include "events/state/answers.h"
#include "events/state/bound_template.h"
#include "events/state/condition.h"
#include "events/state/work.h"
#include "services/interpreter/interpreter.h"
#include "services/roles/collector/manifest_status.h"

namespace shiplog::collector {
namespace {

constexpr size_t kMostCauses = 3;
constexpr size_t kLongestCause = 300;
constexpr size_t kMembersOfItem = 6;

/// The line of each cluster in aggregatedStatus, sorted by cluster.
using ItemsByCluster = std::vector<std::pair<std::string, Value>>;

/// Why the present generation of a Work has not been sent to its member; empty: nothing holds it back.
std::string held_back_by(const State& state, const std::string& name, const Value& work) {
  const Value& dispatching = condition_of(work, "Dispatching");
  if (dispatching["status"].as_string() == "False") return dispatching["message"].str();
  const Cluster* cluster = state.cluster(name);
  if (cluster != nullptr && !cluster->ready()) return "cluster(" + name + ") not ready";
  return "";
}

/// T-7: one cluster's line.
Result<Value> item_of(const State& state, const ObjectKey& key, const std::string& cluster, const Value& work,
                      const Value& resource) {
  const Value& manifests = work["spec"]["workload"]["manifests"];
  const auto manifest = std::ranges::find_if(manifests.items(), [&](const Value& candidate) {
    return candidate["apiVersion"].as_string() == resource["apiVersion"].as_string() &&
           candidate["kind"].as_string() == resource["kind"].as_string() &&
           candidate["metadata"]["namespace"].as_string() == resource["namespace"].as_string() &&
           candidate["metadata"]["name"].as_string() == resource["name"].as_string();
  });
  if (manifest == manifests.items().end()) {
    const std::string ns = resource["namespace"].str();
    return Error{ErrorCode::kInvalid, to_string(key) + " holds no manifest of " + resource["kind"].str() + " " +
                                          (ns.empty() ? "" : ns + "/") + resource["name"].str()};
  }
  Value::Object item;  // of equal members the last counts
  item.reserve(kMembersOfItem);
  const auto add = [&](const char* member, Value value) {
    item.push_back({Value::interned(member), std::move(value)});
  };
  add("clusterName", cluster);
  add("health", "Unknown");
  const Value& condition = condition_of(work, "Applied");
  const std::string held_back = applied(work) ? "" : held_back_by(state, cluster, work);
  if (!held_back.empty()) add("appliedMessage", held_back);
  if (condition["status"].as_string() != "True") {
    if (held_back.empty() && !condition["message"].is_empty()) add("appliedMessage", condition["message"]);
    return Value::object(std::move(item));
  }
  add("applied", true);
  for (const Value& status : work["status"]["manifestStatuses"].items()) {
    if (!is_about(status, *manifest)) continue;
    if (!status["status"].is_null()) add("status", status["status"]);
    if (!status["health"].is_empty()) add("health", status["health"]);
  }
  return Value::object(std::move(item));
}

/// "; member1: cause; member2: cause" of the members that have not applied it; empty: none reports a cause.
std::string causes(const ItemsByCluster& by_cluster) {
  std::string text;
  size_t found = 0;
  for (const auto& [cluster, item] : by_cluster) {
    const std::string cause = item["appliedMessage"].str();
    if (item["applied"].as_bool() || cause.empty()) continue;
    if (++found <= kMostCauses) text += "; " + cluster + ": " + printable(cause, kLongestCause);
  }
  if (found > kMostCauses) text += "; and " + std::to_string(found - kMostCauses) + " more clusters";
  return text;
}

/// The lines of aggregatedStatus, from the Works of a binding.
struct ClusterItems {
  ItemsByCluster by_cluster;
  bool has_status = false;  ///< of at least one
};

Result<ClusterItems> items_of_works(const State& state, const ObjectKey& binding, std::string_view label,
                                    std::string_view id, const Value& resource) {
  ClusterItems items;
  for (const ObjectKey& key : state.labelled(label, id)) {
    if (key.type != type::kWork) continue;
    const Value& work = state.value_of(key);
    if (deleting(work) || !rendered_for(work, binding)) continue;
    items.has_status = items.has_status || !work["status"].is_empty();
    std::string cluster = cluster_of_space(key.ns);
    SHIPLOG_TRY(Value item, item_of(state, key, cluster, work, resource));
    // Works are sorted by namespace, and so by cluster. Of several in one cluster the last counts.
    if (!items.by_cluster.empty() && items.by_cluster.back().first == cluster) {
      items.by_cluster.back().second = std::move(item);
    } else {
      items.by_cluster.emplace_back(std::move(cluster), std::move(item));
    }
  }
  return items;
}

StatusAggregated aggregated(const ObjectKey& key, const Value& spec, const ItemsByCluster& by_cluster) {
  StatusAggregated event;
  event.binding = key;
  Value::Array lines;
  lines.reserve(by_cluster.size());
  // T-9: everywhere it should be, nowhere else, and taken by all.
  const auto wanted = wanted_clusters(spec);
  event.fully_applied = !wanted.empty() && by_cluster.size() == wanted.size();
  for (auto want = wanted.begin(); const auto& [cluster, item] : by_cluster) {
    lines.push_back(item);
    event.fully_applied = event.fully_applied && item["applied"].as_bool() && cluster == *want;
    if (event.fully_applied) ++want;
  }
  event.aggregated_status = Value::array(std::move(lines));
  event.reason = event.fully_applied ? "FullyAppliedSuccess" : "FullyAppliedFailed";
  event.message = event.fully_applied
                      ? "All works have been successfully applied"
                      : "Failed to apply all works, see status.aggregatedStatus for details" + causes(by_cluster);
  return event;
}

bool same(const Value& a, const Value& b) { return a == b || (a.is_empty() && b.is_empty()); }

}  // namespace

std::vector<std::string_view> wanted_clusters(const Value& spec) {
  std::vector<std::string_view> wanted;
  for (const Value& target : spec["clusters"].items()) wanted.push_back(target["name"].as_string());
  for (const Value& required : spec["requiredBy"].items()) {
    for (const Value& target : required["clusters"].items()) wanted.push_back(target["name"].as_string());
  }
  for (const Value& task : spec["gracefulEvictionTasks"].items()) {
    if (task["purgeMode"].as_string() != "Directly") wanted.push_back(task["fromCluster"].as_string());
  }
  std::ranges::sort(wanted);
  const auto again = std::ranges::unique(wanted);
  wanted.erase(again.begin(), again.end());
  return wanted;
}

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now) {
  const Object* object = state.find(key);
  if (object == nullptr || !is_binding(key.type)) {
    return Nothing{};
  }
  const char* label = key.type == type::kResourceBinding ? label::kBindingId : label::kClusterBindingId;
  const std::string_view id = label_of(object->value, label);
  if (deleting(object->value) || id.empty()) return Nothing{};

  SHIPLOG_TRY(const ClusterItems items, items_of_works(state, key, label, id, object->value["spec"]["resource"]));
  // T-6: a Work without a status yet is no reason to report, only one that had a status before. Whether the scheduler
  // placed the binding or another one requires it (B-32) makes no difference.
  if (!items.has_status && object->value["status"]["aggregatedStatus"].is_empty()) return Nothing{};
  StatusAggregated event = aggregated(key, object->value["spec"], items.by_cluster);

  std::optional<interpreter::Uninterpreted> missing;
  // What the binding may not refer to gets no status from it.
  const auto bound = bound_template(state, key, object->value["spec"]["resource"]);
  if (bound && bound.value()) {
    const ObjectKey& template_key = *bound.value();
    const Value& template_object = state.value_of(template_key);
    interpreter::Interpreted<std::optional<Value>> aggregated = std::optional<Value>{};
    if (!template_object.is_null()) {
      aggregated = interpreter::aggregate_status(state, template_object, event.aggregated_status, now);
    }
    // A result that is not known yet is no failure: that it is not is no part of the state.
    if (!aggregated &&
        std::ranges::any_of(aggregated.error().questions, [](const auto& question) { return question->script; })) {
      return interpreter::decided(aggregated.error());
    }
    // The binding's own status does not wait for a script that fails.
    if (!aggregated) missing = aggregated.error();
    const auto status = aggregated ? aggregated.value() : std::nullopt;
    if (status && !same(*status, template_object["status"])) {
      event.template_object = template_key;
      event.template_status = *status;
    }
  }

  const Value& condition = condition_of(object->value, "FullyApplied");
  if (event.template_object.empty() && same(event.aggregated_status, object->value["status"]["aggregatedStatus"]) &&
      condition["status"].as_string() == (event.fully_applied ? "True" : "False")) {
    if (missing) return interpreter::decided(*missing);
    return Nothing{};
  }
  // The template's status is computed from its spec and its status: it must not have moved on meanwhile.
  Decision decision;
  // What the interpreter was to answer is still asked for.
  if (missing) decision.look_again = now;
  if (!event.template_object.empty()) {
    decision.expects.push_back({event.template_object, state.revision_of(event.template_object)});
  }
  decision.events.push_back(std::move(event));
  return decision;
}

}  // namespace shiplog::collector
