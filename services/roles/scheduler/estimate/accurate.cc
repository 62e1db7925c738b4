#include "services/roles/scheduler/estimate/accurate.h"

#include <algorithm>
#include <set>
#include <string>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "services/adapters/estimators/operations.h"
#include "services/roles/scheduler/estimate/unsettled_placements.h"
#include "services/roles/scheduler/filter/filter.h"
#include "services/roles/scheduler/place.h"

namespace shiplog::scheduler {
namespace {

/// Before it, estimators were not told what is assumed.
constexpr uint32_t kAssumedFoldVersion = 7;

bool sends_assumed(const State& state, const Demand& demand) {
  return demand.context.unsettled != nullptr && state.fold_version() >= kAssumedFoldVersion;
}

/// The newest placement of another binding that is not settled, with how many there are of that time: an answer from
/// before it assumes too little.
Value newest_assumed(const State& state, const Demand& demand) {
  UtcMillis newest;
  int64_t count = 0;
  for (const auto& [name, cluster] : state.clusters()) {
    const UnsettledIndex::Placed& placed = demand.context.unsettled->on(name);
    for (auto entry = placed.rbegin(); entry != placed.rend() && entry->first >= newest; ++entry) {
      const auto others =
          static_cast<int64_t>(entry->second.size()) - (entry->second.contains(demand.binding.key) ? 1 : 0);
      if (others == 0) continue;
      count = (entry->first == newest ? count : 0) + others;
      newest = entry->first;
      break;
    }
  }
  return Value::array({newest.value, count});
}

/// What distinguishes one cycle of a binding from the next. Not its whole status: members report all the time, and an
/// answer must not be old before it is there.
std::string basis_of(const State& state, const Demand& demand, const Value& object) {
  const Value& spec = object["spec"];
  const Value& status = object["status"];
  Value basis = Value::array({spec["replicaRequirements"], spec["components"], object["metadata"]["generation"],
                              spec["rescheduleTriggeredAt"], status["lastScheduledTime"]});
  if (sends_assumed(state, demand)) basis.push_back(newest_assumed(state, demand));
  return to_string(siphash128(to_json(basis)));
}

/// What has been placed on the cluster and is not settled there (M-8, M-9), as the estimators' protocol has it:
/// [{namespace, components: [{name, replicas, replicaRequirements}]}].
Value assumed_on(const State& state, const Demand& demand, const std::string& cluster, UtcMillis now) {
  Value workloads = Value::array();
  const UnsettledIndex::Placed& placed = demand.context.unsettled->on(cluster);
  for (auto entry = placed.lower_bound(now + Millis{-kPromiseGoodFor.value}); entry != placed.end(); ++entry) {
    for (const auto& [key, footprint] : entry->second) {
      const Value& spec = state.value_of(key)["spec"];
      Value components = spec["components"];
      if (components.size() == 0) {
        components = Value::array({Value::object({{"name", key.name},
                                                  {"replicas", footprint->front().replicas},
                                                  {"replicaRequirements", spec["replicaRequirements"]}})});
      }
      workloads.push_back(Value::object({{"namespace", key.ns}, {"components", std::move(components)}}));
    }
  }
  return workloads;
}

const char* operation_for(const Demand& demand) {
  return demand.goes_as_a_set() ? estimators::kMaxAvailableComponentSets : estimators::kMaxAvailableReplicas;
}

/// Those that pass the filters under any of the terms.
std::set<std::string> possible(const State& state, Demand demand) {
  std::set<std::string> names;
  FleetTable fleet{state.clusters()};
  const auto add = [&] {
    Explanation unread;
    const auto candidates = filter(fleet, demand, unread);
    if (!candidates) return;
    for (const Candidate& candidate : candidates.value()) names.insert(candidate.cluster->name);
  };
  if (demand.placement.terms.empty()) add();
  for (const AffinityTerm& term : demand.placement.terms) {
    demand.term = &term;
    add();
  }
  return names;
}

}  // namespace

std::optional<Question> estimates_needed(const State& state, const Demand& demand, const Value& object, UtcMillis now) {
  const Binding& binding = demand.binding;
  if (binding.replicas <= 0 && binding.components.empty()) return std::nullopt;  // S-62
  if (!needs_capacity(demand)) return std::nullopt;
  const auto clusters = possible(state, demand);
  const auto known = estimates_for(state, demand, object, now);
  if (clusters.empty() ||
      (known && std::ranges::all_of(clusters, [&](const std::string& cluster) { return known->contains(cluster); }))) {
    return std::nullopt;
  }
  Question question;
  question.object = binding.key;
  question.operation = operation_for(demand);
  question.source = "estimators";
  question.basis = basis_of(state, demand, object);
  question.qualifier = kNoQualifier;
  Value names = Value::array();
  Value assumed = Value::object();
  for (const std::string& cluster : clusters) {
    names.push_back(cluster);
    if (!sends_assumed(state, demand)) continue;
    Value workloads = assumed_on(state, demand, cluster, now);
    if (workloads.size() > 0) assumed.set(cluster, std::move(workloads));
  }
  const Value& spec = object["spec"];
  const Value& resource = spec["resource"];
  question.request =
      Value::object({{"clusters", std::move(names)},
                     {"object", "kind=" + resource["kind"].str() + ", name=" + resource["namespace"].str() + "/" +
                                    resource["name"].str()}});
  if (!assumed.is_empty()) question.request.set("assumedWorkloads", std::move(assumed));
  if (demand.goes_as_a_set()) {
    question.request.set("components", spec["components"]);
    question.request.set("namespace", resource["namespace"]);
  } else {
    question.request.set("replicaRequirements", spec["replicaRequirements"]);
  }
  return question;
}

std::optional<Value> estimates_for(const State& state, const Demand& demand, const Value& object, UtcMillis now) {
  if (state.objects(kAnswersType).empty()) return std::nullopt;
  auto recorded =
      recorded_answer(state, demand.binding.key, operation_for(demand), basis_of(state, demand, object), kNoQualifier);
  if (!recorded || !recorded->failure.empty() || now - recorded->at > kEstimateGoodFor) return std::nullopt;
  return std::move(recorded->answer);
}

Accurate::Accurate(const Demand& demand, const std::vector<Candidate>& candidates, Explanation& why) {
  if (demand.estimates == nullptr) return;
  for (const Candidate& candidate : candidates) {
    const std::string& name = candidate.cluster->name;
    const Value& estimate = (*demand.estimates)[name];
    if (estimate["replicas"].is_int()) continue;
    why.steps.emplace_back(EstimatesIgnored{name, estimate["failure"].is_string(), estimate["failure"].str()});
    return;
  }
  estimates_ = demand.estimates;
  EstimatesUsed used;
  for (const Candidate& candidate : candidates) {
    used.clusters.push_back(candidate.line);
    used.replicas.push_back((*estimates_)[candidate.cluster->name]["replicas"].as_int());
  }
  if (!candidates.empty()) why.steps.emplace_back(std::move(used));
}

std::optional<int64_t> Accurate::bound(std::string_view cluster) const {
  if (estimates_ == nullptr) return std::nullopt;
  const int64_t replicas = (*estimates_)[cluster]["replicas"].as_int();
  if (replicas == -1) return std::nullopt;  // S-63: it does not know
  return std::max<int64_t>(0, replicas);
}

}  // namespace shiplog::scheduler
