#include "services/programs/agent/copies.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "events/base/api_version.h"
#include "events/base/time.h"
#include "events/dispatch.h"
#include "events/state/condition.h"
#include "events/state/drift.h"
#include "events/state/work.h"
#include "services/roles/collector/pods.h"

namespace shiplog::agent {
namespace {

constexpr std::array<std::string_view, 5> kWorkConditions = {"Applied", "Dispatching", kStatusCollectedCondition,
                                                             collector::kPodsReadyCondition, kRevertsLimited};
constexpr std::array<std::string_view, 3> kClusterConditions = {"Ready", "CompleteAPIEnablements", "WithinLimits"};
constexpr std::array<const char*, 4> kClusterFields = {"kubernetesVersion", "apiEnablements", "nodeSummary",
                                                       "resourceSummary"};

int64_t generation(const Value& object) { return object["metadata"]["generation"].as_int(); }

bool same_spec(const Value& a, const Value& b) { return a["spec"] == b["spec"]; }

/// Without what is of no use here and would only take memory.
Value slim(Value remote) {
  if (remote["metadata"].contains("managedFields")) remote.edit("metadata").erase("managedFields");
  return remote;
}

Value with_status_of(Value object, const Value& copy) {
  if (const Value* status = copy.find("status")) {
    object.set("status", *status);
  } else {
    object.erase("status");
  }
  return object;
}

/// The copy as the remote one, but for what each side counts by itself.
bool in_line(const Value& copy, const Value& remote) {
  if (!same_spec(copy, remote)) return false;
  Value mine = copy["metadata"];
  Value theirs = remote["metadata"];
  for (const char* counted : {"resourceVersion", "managedFields", "generation"}) {
    mine.erase(counted);
    theirs.erase(counted);
  }
  return mine == theirs;
}

template <size_t N>
Value merged_conditions(const Value& copy, const Value& remote, const std::array<std::string_view, N>& ours) {
  const auto is_ours = [&](const Value& condition) {
    return std::ranges::find(ours, condition["type"].as_string()) != ours.end();
  };
  Value merged = Value::array();
  // In the order that the control plane has them, so that nothing is written for the order alone.
  for (const Value& theirs : remote["status"]["conditions"].items()) {
    if (!is_ours(theirs)) {
      merged.push_back(theirs);
    } else if (const Value& mine = condition_of(copy, theirs["type"].as_string()); !mine.is_null()) {
      merged.push_back(mine);
    }
  }
  for (const Value& mine : copy["status"]["conditions"].items()) {
    if (is_ours(mine) && condition_of(remote, mine["type"].as_string()).is_null()) merged.push_back(mine);
  }
  return merged;
}

/// Of a condition that the control plane has changed since (Ready is Unknown while the agent is silent), the copy has
/// the time of an earlier change.
Value with_later_times(Value conditions, const Value& remote, UtcMillis now) {
  constexpr const char* kChanged = "lastTransitionTime";
  for (Value& condition : conditions.edit_items()) {
    const Value& theirs = condition_of(remote, condition["type"].as_string());
    const auto mine_at = parse_rfc3339(condition[kChanged].as_string());
    const auto theirs_at = parse_rfc3339(theirs[kChanged].as_string());
    if (!mine_at || !theirs_at || theirs_at.value() <= mine_at.value()) continue;
    const bool changes = theirs["status"] != condition["status"];
    condition.set(kChanged, changes ? Value{rfc3339(now)} : theirs[kChanged]);
  }
  return conditions;
}

Entries replaced(const ObjectKey& key, Value made) {
  return {{ObjectRemoved{key}}, {ObjectCreated{key, std::move(made)}}};
}

}  // namespace

Entries take_in_work(const ObjectKey& key, const Value* copy, const Value& remote) {
  Value wanted = slim(remote);
  if (copy == nullptr) return {{ObjectCreated{key, std::move(wanted)}}};
  const bool same_object = (*copy)["metadata"]["uid"] == remote["metadata"]["uid"];
  if (!same_object) return replaced(key, std::move(wanted));
  wanted = with_status_of(std::move(wanted), *copy);
  const bool deletion_begins = deleting(remote) && !deleting(*copy);
  const int64_t counted = generation(*copy) + (deletion_begins || !same_spec(*copy, remote) ? 1 : 0);
  if (counted != generation(remote)) return replaced(key, std::move(wanted));
  if (in_line(*copy, remote)) return {};
  return {{ObjectUpdated{key, std::move(wanted)}}};
}

Entries take_in_cluster(const ObjectKey& key, const Value* copy, const Value& remote) {
  Value wanted = slim(remote);
  wanted.edit("spec").set("syncMode", "Push");
  if (copy == nullptr) return {{ObjectCreated{key, std::move(wanted)}}};
  wanted = with_status_of(std::move(wanted), *copy);
  if ((*copy)["metadata"]["uid"] != remote["metadata"]["uid"]) return replaced(key, std::move(wanted));
  if (in_line(*copy, wanted)) return {};
  return {{ObjectUpdated{key, std::move(wanted)}}};
}

std::optional<Value> work_status_patch(const Value& copy, const Value& remote) {
  const Value conditions = merged_conditions(copy, remote, kWorkConditions);
  const Value& statuses = copy["status"]["manifestStatuses"];
  Value status = Value::object();
  const Value& theirs = remote["status"]["conditions"];
  if (conditions.size() + theirs.size() > 0 && conditions != theirs) status.set("conditions", conditions);
  if (statuses != remote["status"]["manifestStatuses"]) status.set("manifestStatuses", statuses);
  if (status.members().empty()) return std::nullopt;
  return Value::object({{"metadata", Value::object({{"resourceVersion", remote["metadata"]["resourceVersion"]}})},
                        {"status", std::move(status)}});
}

std::optional<Value> released_work(const Value& remote) {
  if (!deleting(remote) || !has_finalizer(remote, finalizer::kWork)) return std::nullopt;
  Value released = remote;
  std::erase_if(released.edit("metadata").edit("finalizers").edit_items(),
                [](const Value& entry) { return entry.as_string() == finalizer::kWork; });
  return released;
}

std::optional<Value> cluster_with_status(const Value& copy, const Value& remote, UtcMillis now) {
  Value wanted = remote;
  Value& status = wanted.edit("status");
  for (const char* field : kClusterFields) {
    if (const Value* mine = copy["status"].find(field)) {
      status.set(field, *mine);
    } else if (status.contains(field)) {
      status.erase(field);
    }
  }
  Value conditions = with_later_times(merged_conditions(copy, remote, kClusterConditions), remote, now);
  if (conditions.size() > 0 || remote["status"]["conditions"].size() > 0) {
    status.set("conditions", std::move(conditions));
  }
  if (wanted["status"] == remote["status"] || (status.members().empty() && remote["status"].is_empty())) {
    return std::nullopt;
  }
  return wanted;
}

std::optional<Value> definition_for(const Value& cluster, const Value& manifest) {
  const std::string api_version = manifest["apiVersion"].str();
  const auto [group, version] = split_api_version(api_version);
  for (const Value& enabled : cluster["status"]["apiEnablements"].items()) {
    if (enabled["groupVersion"].as_string() != api_version) continue;
    for (const Value& resource : enabled["resources"].items()) {
      if (resource["kind"] != manifest["kind"] || resource["name"].is_empty()) continue;
      const bool namespaced = !manifest["metadata"]["namespace"].is_empty();
      return slim_definition(Value::object(
          {{"metadata", Value::object({{"name", resource["name"].str() + "." + std::string{group}}})},
           {"spec", Value::object({{"group", std::string{group}},
                                   {"names", Value::object({{"plural", resource["name"]}, {"kind", manifest["kind"]}})},
                                   {"scope", namespaced ? "Namespaced" : "Cluster"},
                                   {"versions",
                                    Value::array({Value::object(
                                        {{"name", std::string{version}}, {"served", true}, {"storage", true}})})}})}}));
    }
  }
  return std::nullopt;
}

Value slim_definition(const Value& manifest) {
  Value slim = Value::object();
  slim.edit("metadata").set("name", manifest["metadata"]["name"]);
  Value& spec = slim.edit("spec");
  for (const char* field : {"group", "scope"}) spec.set(field, manifest["spec"][field]);
  spec.set("names", Value::object({{"plural", manifest["spec"]["names"]["plural"]},
                                   {"kind", manifest["spec"]["names"]["kind"]}}));
  Value versions = Value::array();
  for (const Value& version : manifest["spec"]["versions"].items()) {
    versions.push_back(
        Value::object({{"name", version["name"]}, {"served", version["served"]}, {"storage", version["storage"]}}));
  }
  spec.set("versions", std::move(versions));
  return slim;
}

}  // namespace shiplog::agent
