#pragma once

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "events/state/binding.h"
#include "services/roles/scheduler/decide.h"
#include "services/roles/scheduler/estimate/resource_summary.h"
#include "tests/support/given.h"

// Input and output of the tests of decide(): a fleet and a binding in, an answer as text out. Only they include it.
namespace shiplog::scheduler {

using given::History;
using given::json;

inline const ObjectKey kBinding{type::kResourceBinding, "default", "web-deployment"};

inline ObjectKey cluster_key(const std::string& name) { return {type::kCluster, "", name}; }

/// A member with room for `pods`, that serves Deployments.
inline Value cluster(const std::string& name, int64_t pods = 100, const std::string& region = "") {
  Value value = json(R"({"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "spec": {},
    "status": {"apiEnablements": [{"groupVersion": "apps/v1", "resources": [{"name": "deployments",
                                                                             "kind": "Deployment"}]}]}})");
  if (!region.empty()) value.edit("spec").set("region", region);
  value.edit("status").edit("resourceSummary").edit("allocatable").set("pods", pods);
  return History::named(cluster_key(name), std::move(value));
}

inline constexpr const char* kAggregated =
    R"({"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"})";
inline constexpr const char* kDynamic = R"({"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted",
                                     "weightPreference": {"dynamicWeight": "AvailableReplicas"}})";
inline constexpr const char* kDuplicated = R"({"replicaSchedulingType": "Duplicated"})";
inline constexpr const char* kEqualWeights =
    R"({"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"})";

inline std::string static_weights(const std::vector<std::pair<std::string, int>>& weights) {
  std::string list;
  for (const auto& [name, weight] : weights) {
    list += (list.empty() ? "" : ", ") + std::string{R"({"targetCluster": {"clusterNames": [")"} + name +
            R"("]}, "weight": )" + std::to_string(weight) + "}";
  }
  return R"({"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted",
             "weightPreference": {"staticWeightList": [)" +
         list + "]}}";
}

/// A question to the scheduler: a fleet, a binding, where it is now.
struct Case {
  int64_t replicas = 0;
  std::string scheduling;                                 // replicaScheduling
  std::vector<std::pair<std::string, int64_t>> clusters;  // with room for so many pods more
  std::vector<Target> previous = {};
  std::string uid = "";
  bool fresh = false;
  std::string placement = "{}";
  std::vector<std::string> regions = {};
};

inline Value placement_of(const Case& from) {
  Value placement = json(from.placement);
  if (!from.scheduling.empty()) placement.set("replicaScheduling", json(from.scheduling));
  return placement;
}

inline Value binding_of(const Case& from) {
  Value value = json(R"({"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
    "metadata": {"labels": {"propagationpolicy.karmada.io/permanent-id": "id"}},
    "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "default", "name": "web"}}})");
  Value& spec = value.edit("spec");
  spec.edit("resource").set("uid", from.uid);
  spec.set("placement", placement_of(from));
  if (from.replicas != 0) spec.set("replicas", from.replicas);
  for (const Target& target : from.previous) {
    spec.edit("clusters").push_back(Value::object({{"name", target.cluster}, {"replicas", target.replicas}}));
  }
  if (!from.previous.empty()) {
    value.edit("metadata").edit("annotations").set(kAppliedPlacementAnnotation, to_json(placement_of(from)));
  }
  if (from.fresh) {
    spec.set("rescheduleTriggeredAt", "2026-01-02T12:00:00Z");
    value.edit("status").set("lastScheduledTime", "2026-01-02T11:00:00Z");
  }
  return History::named(kBinding, std::move(value));
}

inline History history_of(const Case& from) {
  History history;
  for (size_t at = 0; at < from.clusters.size(); ++at) {
    const auto& [name, pods] = from.clusters[at];
    history.put(cluster_key(name), cluster(name, pods, at < from.regions.size() ? from.regions[at] : ""));
  }
  history.put(kBinding, binding_of(from));
  return history;
}

/// "m1:2 m2:1".
inline std::string in_words(const std::vector<Target>& targets) {
  std::string words;
  for (const Target& target : targets) {
    words += (words.empty() ? "" : " ") + target.cluster + ":" + std::to_string(target.replicas);
  }
  return words.empty() ? "nothing" : words;
}

inline Event decided(const History& history) {
  const auto decision = decide(history.state(), kBinding, history.now());
  if (!decision || !decision_of(decision)) return RequestDenied{};
  EXPECT_EQ(decision_of(decision)->events.size(), 1U);
  EXPECT_EQ(decision_of(decision)->expects, (std::vector<Expect>{{kBinding, history.state().revision_of(kBinding)}}));
  return decision_of(decision)->events.front();
}

/// "a:3 b:6", or "reason: message", or "stands", or "nothing new".
inline std::string answer(const History& history) {
  const Event event = decided(history);
  if (const auto* placed = std::get_if<PlacementDecided>(&event)) return in_words(placed->targets);
  if (const auto* refused = std::get_if<PlacementRefused>(&event)) return refused->reason + ": " + refused->message;
  if (const auto* refused = std::get_if<QuotaRefused>(&event)) return "QuotaExceeded: " + refused->message;
  return std::holds_alternative<StatusUpdated>(event) ? "stands" : "nothing new";
}
inline std::string answer(const Case& from) { return answer(history_of(from)); }

/// How many more replicas of the binding fit on the cluster.
inline int64_t room_for(const Binding& binding, const Cluster& cluster) {
  const Placement placement;
  return Estimate{Demand{binding, placement}}(cluster);
}

}  // namespace shiplog::scheduler
