#include "services/roles/scheduler/estimate/accurate.h"

#include <algorithm>
#include <set>
#include <string>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "services/adapters/estimators/operations.h"
#include "services/roles/scheduler/filter/filter.h"
#include "services/roles/scheduler/place.h"

namespace shiplog::scheduler {
namespace {

/// What distinguishes one cycle of a binding from the next. Not its whole status: members report all the time, and an
/// answer must not be old before it is there.
std::string basis_of(const Value& object) {
  const Value& spec = object["spec"];
  const Value& status = object["status"];
  return to_string(siphash128(
      to_json(Value::array({spec["replicaRequirements"], spec["components"], object["metadata"]["generation"],
                            spec["rescheduleTriggeredAt"], status["lastScheduledTime"]}))));
}

const char* operation_for(const Demand& demand) {
  return demand.goes_as_a_set() ? estimators::kMaxAvailableComponentSets : estimators::kMaxAvailableReplicas;
}

/// Those that pass the filters under any of the terms.
std::set<std::string> possible(const State& state, Demand demand) {
  std::set<std::string> names;
  const auto add = [&] {
    Explanation unread;
    const auto candidates = filter(state.clusters(), demand, unread);
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
  question.basis = basis_of(object);
  question.qualifier = kNoQualifier;
  Value names = Value::array();
  for (const std::string& cluster : clusters) names.push_back(cluster);
  const Value& spec = object["spec"];
  const Value& resource = spec["resource"];
  question.request =
      Value::object({{"clusters", std::move(names)},
                     {"object", "kind=" + resource["kind"].str() + ", name=" + resource["namespace"].str() + "/" +
                                    resource["name"].str()}});
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
  auto recorded = recorded_answer(state, demand.binding.key, operation_for(demand), basis_of(object), kNoQualifier);
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
