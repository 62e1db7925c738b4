#include "services/roles/scheduler/decide.h"

#include <algorithm>
#include <limits>
#include <string>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/explain/text.h"
#include "events/state/condition.h"
#include "services/roles/scheduler/estimate/accurate.h"
#include "services/roles/scheduler/fleet_table.h"
#include "services/roles/scheduler/place.h"
#include "services/roles/scheduler/placement_context.h"
#include "services/roles/scheduler/quota.h"
#include "services/roles/scheduler/trigger.h"

namespace shiplog::scheduler {
namespace {

void append(const Hash128& hash, std::string& to) {
  char bytes[kHashBytes];
  for (unsigned at = 0; at < 8; ++at) {
    bytes[at] = static_cast<char>(hash.lo >> (8 * at) & 0xffU);
    bytes[at + 8] = static_cast<char>(hash.hi >> (8 * at) & 0xffU);
  }
  to.append(bytes, sizeof bytes);
}

/// Of all Clusters, in the order of their names.
std::string cluster_hashes(const State& state) {
  std::string hashes;
  hashes.reserve((state.clusters().size() + 1) * kHashBytes);
  for (const auto& [name, cluster] : state.objects(type::kCluster)) append(cluster.hash, hashes);
  return hashes;
}

/// Of this thread. What is in it follows from the state of each decision: decisions do not depend on the one before.
FleetTable& fleet_table() {
  thread_local FleetTable table;
  return table;
}

/// Of everything a placement depends on: the binding, all clusters, the namespace's quotas, the others of its groups,
/// the answers of estimators.
std::string digest_of(const State& state, const ObjectKey& key, const Object& binding, const std::string& clusters,
                      const PlacementContext& context, const std::optional<Value>& estimates) {
  std::string read;
  read.reserve(clusters.size() + 2 * kHashBytes);
  // A replay defers this one (fold/staged.cc).
  append(binding.hash == Hash128{} ? hash_of(key, binding.value) : binding.hash, read);
  read += clusters;
  if (!key.ns.empty()) {
    for (const auto& [name, quota] : state.objects(type::kFederatedResourceQuota, key.ns)) append(quota.hash, read);
  }
  for (const AffinityGroup* group : {context.together, context.apart}) {
    if (group == nullptr) continue;
    for (const auto& [member, targets] : group->members) append(state.find(member)->hash, read);
  }
  if (context.definition != nullptr) {
    read += context.definition->name;
    for (const std::string& cluster : context.definition->clusters) read += '/' + cluster;
  }
  if (estimates) read += to_json(*estimates);
  return to_string(siphash128(read));
}

/// Which clusters count as serving the kind although they do not serve it yet.
void add_expected_service(const State& state, const Demand& demand, Explanation& why) {
  if (demand.context.definition == nullptr) return;
  DefinitionExpected expected{demand.binding.kind, demand.context.definition->name, {}};
  for (const std::string& name : demand.context.definition->clusters) {
    const Cluster* cluster = state.cluster(name);
    if (cluster == nullptr || demand.previous(name) != nullptr) continue;
    const auto& enabled = cluster->api_enablements;
    if (!std::binary_search(enabled.begin(), enabled.end(), demand.enablement)) {
      expected.clusters.push_back(name);
    }
  }
  if (!expected.clusters.empty()) why.steps.emplace_back(std::move(expected));
}

Decided one_event(Event event, const Binding& binding, Revision revision) {
  return decide_one(std::move(event), {binding.key, revision});
}

/// The placement is kept; new may be the generation it was evaluated for (S-14). A refusal that no longer holds,
/// because the request has been withdrawn, is cleared: upstream leaves the condition False.
Decided placement_stands(const Binding& binding, const Object& object) {
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
  if (binding.scheduler_observed_generation == binding.generation) return Nothing{};
  Value noted = object.value;
  noted.edit("status").set("schedulerObservedGeneration", binding.generation);
  return one_event(StatusUpdated{binding.key, std::move(noted)}, binding, object.revision);
}

/// What each target gets of them (M-6); empty when they are not placed as a set, or are no more than one.
std::vector<ComponentReplicas> components_of(const Demand& demand) {
  std::vector<ComponentReplicas> components;
  if (demand.binding.components.size() < 2 || !demand.goes_as_a_set()) return components;
  for (const Component& component : demand.binding.components)
    components.push_back({component.name, component.replicas});
  return components;
}

bool condition_is(const Binding& binding, std::string_view reason, const std::string& message) {
  return binding.scheduled_status == "False" && binding.scheduled_reason == reason &&
         binding.scheduled_message == message;
}

Decided refuse(const Binding& binding, const Object& object, const PlacementFailure& unplaced, Explanation why) {
  const bool no_fit = unplaced.kind == PlacementFailure::Kind::kNoFit;
  const char* reason = no_fit                                               ? "NoClusterFit"
                       : unplaced.kind == PlacementFailure::Kind::kCapacity ? "Unschedulable"
                                                                            : "SchedulerError";
  const std::string applied = no_fit ? to_json(binding.placement) : "";
  const std::string message = text_of(unplaced.cause);
  const bool said_already = condition_is(binding, reason, message);
  const bool cleared_already = !no_fit || (binding.targets.empty() && binding.applied_placement == applied);
  if (said_already && cleared_already) return Nothing{};
  why.summary = PlacementFailed{{unplaced.cause}};
  return one_event(PlacementRefused{binding.key, reason, message, binding.generation, applied, no_fit, std::move(why)},
                   binding, object.revision);
}

/// `estimators_have`: they can be called, with this timeout.
Result<Decided> decide_binding(const State& state, const ObjectKey& key, UtcMillis now,
                               std::optional<Millis> estimators_have) {
  const Object* object = state.find(key);
  if (object == nullptr || deleting(object->value)) return Nothing{};
  const Binding binding = binding_from(key, object->value);
  if (!is_schedulable_now(state, binding)) return Nothing{};
  if (!binding.placement.is_object()) {
    return Error{ErrorCode::kInvalid, to_string(key) + ": spec.placement is missing"};
  }
  const auto parsed = placement_from(binding.placement);
  if (!parsed)
    return refuse(binding, *object, {PlacementFailure::Kind::kOther, PlacementInvalid{parsed.error().message}}, {});
  const Placement& placement = parsed.value();
  if (binding.replicas < 0 || binding.replicas > std::numeric_limits<int32_t>::max()) {
    return refuse(binding, *object,
                  {PlacementFailure::Kind::kOther, PlacementInvalid{"spec.replicas is not between 0 and 2147483647"}},
                  {});
  }

  const auto trigger = trigger_of(state, binding, placement, now);
  if (!trigger) return placement_stands(binding, *object);

  const auto definition = definition_placement(state, binding);
  const PlacementContext context = placement_context_of(state, binding, now, definition ? &*definition : nullptr);
  // The targets of its definition are not known yet: it is triggered again as soon as that is placed or refused.
  if (context.definition != nullptr && context.definition->pending && binding.targets.empty()) return Nothing{};
  Demand demand{binding, placement, nullptr, trigger->fresh, context};
  if (estimators_have) {
    if (auto question = estimates_needed(state, demand, object->value, now)) {
      question->timeout = *estimators_have;
      return NeedsAnswers{{std::make_shared<const Question>(std::move(*question))}, "waiting for estimators"};
    }
  }
  Explanation why;
  why.steps.emplace_back(trigger->reason);
  const auto estimates = estimates_for(state, demand, object->value, now);
  if (estimates) demand.estimates = &*estimates;
  std::string applied = to_json(binding.placement);
  demand.placement_json = applied;
  const std::string clusters = cluster_hashes(state);
  FleetTable& fleet = fleet_table();
  fleet.follow(state, clusters);
  PlacementOutcome outcome = place_by_terms(fleet, demand, why);
  why.inputs_digest = digest_of(state, key, *object, clusters, context, estimates);
  add_expected_service(state, demand, why);
  if (!outcome.targets) return refuse(binding, *object, outcome.targets.error(), std::move(why));

  auto& targets = outcome.targets.value();
  if (auto refused = exceeds_quota(state, binding, targets)) {
    if (condition_is(binding, "QuotaExceeded", refused->message)) return Nothing{};
    return one_event(std::move(*refused), binding, object->revision);
  }
  std::vector<ComponentReplicas> components = components_of(demand);
  const bool nothing_new = !trigger->fresh && targets == binding.targets && components == binding.placed_components &&
                           applied == binding.applied_placement && outcome.affinity == binding.observed_affinity &&
                           binding.scheduled_status == "True" &&
                           binding.scheduler_observed_generation == binding.generation;
  if (nothing_new) return Nothing{};
  why.summary = PlacementMade{};
  return one_event(PlacementDecided{key, std::move(targets), binding.generation, std::move(applied),
                                    std::move(outcome.affinity), std::move(why), std::move(components)},
                   binding, object->revision);
}

/// When a decision, or its absence, is evaluated again although nothing triggers the binding. `estimated`: estimators
/// take part.
Result<Decided> with_next_look(Result<Decided> decided, const State& state, const ObjectKey& key, UtcMillis now,
                               bool estimated) {
  /// Room that is reserved for others is free again when the reservation ends, and an estimator's answer may be another
  /// one though nothing in the state has changed (S-7).
  constexpr Millis kWaiting{5 * 60 * 1000};
  if (!decided) return decided;
  if (auto* decision = std::get_if<Decision>(&decided.value())) {
    const Event& event = decision->events.front();
    // What is refused waits for quota or room. Some may be free since the state this was decided from and before its
    // own entry, and have triggered nothing yet: so once more.
    const bool refusal = std::holds_alternative<QuotaRefused>(event) || std::holds_alternative<PlacementRefused>(event);
    if (refusal) decision->look_again = now;
  } else if (std::holds_alternative<Nothing>(decided.value()) && (estimated || state.gates().overcommit_protection) &&
             condition_of(state.value_of(key), "Scheduled")["status"].as_string() == "False") {
    return LookAgain{now + kWaiting};
  }
  return decided;
}

}  // namespace

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now) {
  return with_next_look(decide_binding(state, key, now, std::nullopt), state, key, now, false);
}

Result<Decided> decide_with_estimators(const State& state, const ObjectKey& key, UtcMillis now, Millis timeout) {
  return with_next_look(decide_binding(state, key, now, timeout), state, key, now, true);
}

}  // namespace shiplog::scheduler
