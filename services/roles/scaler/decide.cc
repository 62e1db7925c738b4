#include "services/roles/scaler/decide.h"

#include "events/state/served_kind.h"
#include "events/state/work.h"

namespace shiplog::scaler {
namespace {

constexpr const char* kRetains = "true";

bool propagated(const Value& autoscaler) {
  return !label_of(autoscaler, label::kPolicyId).empty() || !label_of(autoscaler, label::kClusterPolicyId).empty();
}

void erase_from(Value& metadata, const char* map, const char* key) {
  if (!metadata[map].contains(key)) return;
  metadata.edit(map).erase(key);
  if (metadata[map].size() == 0) metadata.erase(map);
}

void mark(const State& state, const ObjectKey& key, Value& wanted) {
  bool named = false;
  bool by_one_propagated = false;
  for (const auto& [name, autoscaler] : state.objects(kAutoscaler, key.ns)) {
    if (scale_target(state, autoscaler.value) != key) continue;
    named = true;
    by_one_propagated = by_one_propagated || propagated(autoscaler.value);
  }
  Value& metadata = wanted.edit("metadata");
  if (by_one_propagated) {
    if (retains_replicas(wanted)) return;
    metadata.edit("labels").set(kRetainReplicasLabel, kRetains);
    metadata.edit("annotations").set(kMarkedAnnotation, kRetains);
  } else if (!named && !annotation_of(wanted, kMarkedAnnotation).empty()) {
    // One that has only lost its policy still scales in the members.
    erase_from(metadata, "labels", kRetainReplicasLabel);
    erase_from(metadata, "annotations", kMarkedAnnotation);
  }
}

/// What all members together have, once each has reported on the placement of the replicas requested now; else it
/// means nothing yet.
std::optional<int64_t> settled_replicas(const Value& binding, int64_t requested) {
  const Value& spec = binding["spec"];
  const Value& status = binding["status"];
  if (spec["replicas"].as_int() != requested) return std::nullopt;
  if (status["schedulerObservedGeneration"].as_int() != binding["metadata"]["generation"].as_int()) return std::nullopt;
  if (status["aggregatedStatus"].size() != spec["clusters"].size()) return std::nullopt;
  int64_t sum = 0;
  for (const Value& item : status["aggregatedStatus"].items()) {
    const Value& member = item["status"];
    // An autoscaler leaves at least one: none means that the member has not got to it.
    if (member["replicas"].as_int() <= 0 || member["observedGeneration"] != member["generation"]) return std::nullopt;
    sum += member["replicas"].as_int();
  }
  return sum;
}

void follow_members(const State& state, const ObjectKey& key, Value& wanted) {
  if (!retains_replicas(wanted)) return;
  const Value& binding = state.value_of(binding_key(key, "Deployment"));
  if (binding["spec"]["resource"]["uid"] != wanted["metadata"]["uid"]) return;
  const Value& scheduling = binding["spec"]["placement"]["replicaScheduling"];
  if (scheduling["replicaSchedulingType"].as_string() != "Divided") return;
  const Value wanted_replicas = wanted["spec"]["replicas"];
  const int64_t has = wanted["status"]["replicas"].as_int();
  if (!wanted_replicas.is_int() || wanted_replicas.as_int() == has) return;
  // The template's status has to match the binding's, which it follows.
  if (settled_replicas(binding, wanted_replicas.as_int()) != has) return;
  wanted.edit("spec").set("replicas", has);
}

}  // namespace

bool retains_replicas(const Value& object) { return label_of(object, kRetainReplicasLabel) == kRetains; }

std::optional<ObjectKey> scale_target(const State& state, const Value& autoscaler) {
  const Value& named = autoscaler["spec"]["scaleTargetRef"];
  const auto served = served_kind(state, named["apiVersion"].as_string(), named["kind"].as_string());
  if (!served || !served->namespaced) return std::nullopt;
  return served->key(autoscaler["metadata"]["namespace"].as_string(), named["name"].as_string());
}

Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis /*now*/) {
  const Object* object = state.find(key);
  if (object == nullptr || deleting(object->value)) return Nothing{};
  const FleetOptions& options = state.options();
  Value wanted = object->value;
  if (options.controller_on(kHpaScaleTargetMarker)) mark(state, key, wanted);
  if (options.controller_on(kDeploymentReplicasSyncer) && key.type == kDeployment) follow_members(state, key, wanted);
  if (wanted == object->value) return Nothing{};
  return decide_one(ObjectUpdated{key, std::move(wanted)}, {key, object->revision});
}

}  // namespace shiplog::scaler
