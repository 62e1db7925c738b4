#include "services/roles/scheduler/decide.h"

#include <algorithm>
#include <limits>
#include <string>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/explain/text.h"
#include "services/roles/scheduler/estimate/accurate.h"
#include "services/roles/scheduler/place.h"
#include "services/roles/scheduler/quota.h"
#include "services/roles/scheduler/surroundings.h"
#include "services/roles/scheduler/trigger.h"

namespace shiplog::scheduler {
namespace {

using Decided = Result<std::optional<Decision>>;

/// Of everything a placement depends on: the binding, all clusters, the namespace's quotas, the others of its groups,
/// what estimators have said.
std::string digest_of(const State& state, const Object& binding, const std::string& ns, const Surroundings& around,
                      const std::optional<Value>& estimates) {
  constexpr size_t kHashBytes = 16;
  std::string read;
  read.reserve((state.clusters().size() + 2) * kHashBytes);
  const auto add = [&](const Object& object) {
    char bytes[kHashBytes];
    for (unsigned at = 0; at < 8; ++at) {
      bytes[at] = static_cast<char>(object.hash.lo >> (8 * at) & 0xffU);
      bytes[at + 8] = static_cast<char>(object.hash.hi >> (8 * at) & 0xffU);
    }
    read.append(bytes, sizeof bytes);
  };
  add(binding);
  for (const auto& [name, cluster] : state.objects(type::kCluster)) add(cluster);
  if (!ns.empty()) {
    for (const auto& [name, quota] : state.objects(type::kFederatedResourceQuota, ns)) add(quota);
  }
  for (const AffinityGroup* group : {around.together, around.apart}) {
    if (group == nullptr) continue;
    for (const auto& [key, targets] : group->members) add(*state.find(key));
  }
  if (around.definition != nullptr) {
    read += around.definition->name;
    for (const std::string& cluster : around.definition->clusters) read += '/' + cluster;
  }
  if (estimates) read += to_json(*estimates);
  return to_string(siphash128(read));
}

/// Which clusters count as serving the kind although they do not serve it yet.
void add_expected_service(const State& state, const Demand& demand, Explanation& why) {
  if (demand.around.definition == nullptr) return;
  DefinitionExpected expected{demand.binding.kind, demand.around.definition->name, {}};
  for (const std::string& name : demand.around.definition->clusters) {
    const Cluster* cluster = state.cluster(name);
    if (cluster == nullptr || demand.previous(name) != nullptr) continue;
    const auto& enabled = cluster->api_enablements;
    if (!std::binary_search(enabled.begin(), enabled.end(), demand.enablement)) {
      expected.clusters.push_back(name);
    }
  }
  if (!expected.clusters.empty()) why.steps.emplace_back(std::move(expected));
}

std::optional<Decision> one_event(Event event, const Binding& binding, Revision revision) {
  Decision decision;
  decision.events.push_back(std::move(event));  // an initializer list would copy the explanation
  decision.expects.push_back({binding.key, revision});
  return decision;
}

/// The placement stands; what may be new is the generation it was looked at for (S-14). A refusal that no longer holds,
/// because what was asked for has been taken back, is cleared: upstream leaves the condition False.
std::optional<Decision> placement_stands(const Binding& binding, const Object& object) {
  if (binding.scheduled_status == "False") {
    Explanation why;
    PlacementKept kept;
    for (const Target& target : binding.targets) {
      kept.clusters.push_back(target.cluster);
      kept.replicas.push_back(target.replicas);
    }
    why.summary = std::move(kept);
    return one_event(PlacementDecided{binding.key, binding.targets, binding.generation, binding.applied_placement,
                                      binding.observed_affinity, std::move(why), binding.placed_components},
                     binding, object.revision);
  }
  if (binding.scheduler_observed_generation == binding.generation) return std::nullopt;
  Value noted = object.value;
  noted.edit("status").set("schedulerObservedGeneration", binding.generation);
  return one_event(StatusUpdated{binding.key, std::move(noted)}, binding, object.revision);
}

/// What each target gets of them (M-6); empty when they are not placed as a set, or are no more than one.
std::vector<ComponentReplicas> components_of(const Demand& demand) {
  std::vector<ComponentReplicas> components;
  if (demand.binding.components.size() < 2 || !demand.goes_as_a_set()) return components;
  for (const Component& one : demand.binding.components) components.push_back({one.name, one.replicas});
  return components;
}

bool condition_is(const Binding& binding, std::string_view reason, const std::string& message) {
  return binding.scheduled_status == "False" && binding.scheduled_reason == reason &&
         binding.scheduled_message == message;
}

std::optional<Decision> refuse(const Binding& binding, const Object& object, const Unplaced& unplaced,
                               Explanation why) {
  const bool no_fit = unplaced.kind == Unplaced::Kind::kNoFit;
  const char* reason = no_fit                                       ? "NoClusterFit"
                       : unplaced.kind == Unplaced::Kind::kCapacity ? "Unschedulable"
                                                                    : "SchedulerError";
  const std::string applied = no_fit ? to_json(binding.placement) : "";
  const std::string message = text_of(unplaced.cause);
  const bool said_already = condition_is(binding, reason, message);
  const bool cleared_already = !no_fit || (binding.targets.empty() && binding.applied_placement == applied);
  if (said_already && cleared_already) return std::nullopt;
  why.summary = PlacementFailed{{unplaced.cause}};
  return one_event(PlacementRefused{binding.key, reason, message, binding.generation, applied, no_fit, std::move(why)},
                   binding, object.revision);
}

}  // namespace

Decided decide(const State& state, const ObjectKey& key, UtcMillis now) {
  const Object* object = state.find(key);
  if (object == nullptr || deleting(object->value)) return std::nullopt;
  const Binding binding = binding_from(key, object->value);
  if (!concerns_us(binding)) return std::nullopt;
  if (!binding.placement.is_object()) {
    return Error{ErrorCode::kInvalid, to_string(key) + ": spec.placement is missing"};
  }
  const auto parsed = placement_from(binding.placement);
  if (!parsed) return refuse(binding, *object, {Unplaced::Kind::kOther, PlacementInvalid{parsed.error().message}}, {});
  const Placement& placement = parsed.value();
  if (binding.replicas < 0 || binding.replicas > std::numeric_limits<int32_t>::max()) {
    return refuse(binding, *object,
                  {Unplaced::Kind::kOther, PlacementInvalid{"spec.replicas is not between 0 and 2147483647"}}, {});
  }

  const auto trigger = trigger_of(state, binding, placement, now);
  if (!trigger) return placement_stands(binding, *object);

  const auto definition = definition_placement(state, binding);
  const Surroundings around = surroundings_of(state, binding, now, definition ? &*definition : nullptr);
  // Where its definition goes is not known yet: it is looked at again as soon as that is placed or refused.
  if (around.definition != nullptr && around.definition->pending && binding.targets.empty()) return std::nullopt;
  Explanation why;
  why.steps.emplace_back(trigger->reason);
  Demand demand{binding, placement, nullptr, trigger->fresh, around};
  const auto estimates = estimates_for(state, demand, object->value, now);
  if (estimates) demand.estimates = &*estimates;
  Outcome outcome = place_by_terms(state.clusters(), demand, why);
  why.inputs_digest = digest_of(state, *object, key.ns, around, estimates);
  add_expected_service(state, demand, why);
  if (!outcome.targets) return refuse(binding, *object, outcome.targets.error(), std::move(why));

  auto& targets = outcome.targets.value();
  if (auto refused = exceeds_quota(state, binding, targets)) {
    if (condition_is(binding, "QuotaExceeded", refused->message)) return std::nullopt;
    return one_event(std::move(*refused), binding, object->revision);
  }
  std::string applied = to_json(binding.placement);
  std::vector<ComponentReplicas> components = components_of(demand);
  const bool nothing_new = !trigger->fresh && targets == binding.targets && components == binding.placed_components &&
                           applied == binding.applied_placement && outcome.affinity == binding.observed_affinity &&
                           binding.scheduled_status == "True" &&
                           binding.scheduler_observed_generation == binding.generation;
  if (nothing_new) return std::nullopt;
  why.summary = PlacementMade{};
  return one_event(PlacementDecided{key, std::move(targets), binding.generation, std::move(applied),
                                    std::move(outcome.affinity), std::move(why), std::move(components)},
                   binding, object->revision);
}

}  // namespace shiplog::scheduler
