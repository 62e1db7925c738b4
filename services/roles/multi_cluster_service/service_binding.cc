// What a MultiClusterService does with its Service in the control plane: the claim and the ResourceBinding (5.7.3,
// 5.7.4, 5.7.9).
#include <string>
#include <utility>

#include "events/state/api_selector.h"
#include "events/state/binding.h"
#include "events/state/claim.h"
#include "events/state/new_binding.h"
#include "events/state/policy_author.h"
#include "events/state/propagation_skips.h"
#include "events/state/service_index.h"
#include "services/roles/multi_cluster_service/decide.h"
#include "services/roles/multi_cluster_service/kept_works.h"

namespace shiplog::multi_cluster_service {
namespace {

void name_owner(Value& object, const ObjectKey& mcs, const Value& id) {
  object.edit("metadata").edit("labels").set(kMcsId, id);
  object.edit("metadata").edit("annotations").set(kMcsName, mcs.name);
  object.edit("metadata").edit("annotations").set(kMcsNamespace, mcs.ns);
}

Value placement_of(const State& state, const Value& mcs) {
  auto clusters = named_clusters(state, mcs["spec"]["providerClusters"]);
  clusters.merge(named_clusters(state, mcs["spec"]["consumerClusters"]));
  return Value::object(
      {{"clusterAffinity",
        Value::object({{"clusterNames", Value::array(Value::Array{clusters.begin(), clusters.end()})}})}});
}

/// Decision 0161: what a member has of its own under that name stays, unless the Service itself asks for more.
constexpr const char* kConflictResolution = "Abort";

Value binding_of(const State& state, const ObjectKey& key, const Value& mcs, const Value& service,
                 const Value& existing, const ObjectKey& binding) {
  Value made = existing;
  made.set("apiVersion", "work.karmada.io/v1alpha2");
  made.set("kind", "ResourceBinding");
  strip_claim(made);
  name_owner(made, key, mcs["metadata"]["labels"][kMcsId]);
  const std::string digest = template_digest(service);
  const bool same = annotation_of(existing, kTemplateDigestAnnotation) == digest;
  Value& metadata = made.edit("metadata");
  metadata.set("name", binding.name);
  metadata.set("namespace", binding.ns);
  metadata.edit("labels").set(kManagedByLabel, kForMcs);
  if (metadata["labels"][label::kBindingId].is_empty()) {
    metadata.edit("labels").set(label::kBindingId, binding_permanent_id(service, binding));
  }
  metadata.edit("annotations").set(kTemplateDigestAnnotation, digest);
  metadata.set("ownerReferences", Value::array({owner_reference_to(service)}));
  if (!has_finalizer(made, finalizer::kBinding)) metadata.edit("finalizers").push_back(finalizer::kBinding);
  Value& spec = made.edit("spec");
  spec.set("placement", placement_of(state, mcs));
  spec.set("conflictResolution", kConflictResolution);
  spec.set("resource", resource_reference_to(service, same ? existing["spec"]["resource"]["resourceVersion"]
                                                           : service["metadata"]["resourceVersion"]));
  // A policy that had the Service before may have held it back.
  if (!existing["metadata"]["labels"].contains(kManagedByLabel)) {
    for (const char* field : {"failover", "suspension"}) spec.erase(field);
  }
  return made;
}

/// The same holds for policies: see binder::not_propagated_because().
std::string not_propagated_because(const State& state, const ObjectKey& mcs, const ObjectKey& key,
                                   const Value& service) {
  const FleetOptions& options = state.options();
  if (key == ObjectKey{type::kService, "default", "kubernetes"}) return "it is the API server of each cluster";
  if (reserved_namespace(key.ns)) return "its namespace is reserved for the control plane";
  if (skips_namespace(options, key.ns)) return "--skipped-propagating-namespaces leaves its namespace out";
  if (selects_api(options.skipped_apis, "v1", "Service")) return "--skipped-propagating-apis leaves its kind out";
  // What its annotations say of an author is written by its user: admission records that of policies alone.
  if (options.checks_policy_authors()) return "--enable-policy-author-check is set, and its author is not recorded";
  return policy_objection(state, mcs, key, service);
}

}  // namespace

std::string service_problem(const State& state, const ObjectKey& mcs) {
  const ObjectKey key{type::kService, mcs.ns, mcs.name};
  const Value& service = state.value_of(key);
  if (service.is_null() || deleting(service)) return "Service \"" + key.name + "\" not found";
  const std::string why = not_propagated_because(state, mcs, key, service);
  return why.empty() ? why : "Service \"" + key.name + "\" is not propagated: " + why;
}

std::string propagate_service(const State& state, const ObjectKey& key, const Value& mcs, DecisionBuilder& decision) {
  const ObjectKey service_key{type::kService, key.ns, key.name};
  const Object* service = state.find(service_key);
  const ObjectKey binding = binding_key(service_key, "Service");
  const Object* existing = state.find(binding);
  if (existing != nullptr && (deleting(existing->value) || !belongs_to(existing->value, service->value))) {
    return "ResourceBinding " + binding.name +
           " belongs to another object, or is being deleted: waiting until it is gone";
  }
  Value claimed = service->value;
  strip_claim(claimed);
  claimed.edit("metadata").edit("labels").set(label::kClaimedBy, kForMcs);
  name_owner(claimed, key, mcs["metadata"]["labels"][kMcsId]);
  Value made = binding_of(state, key, mcs, claimed, state.value_of(binding), binding);
  if (claimed != service->value) {
    decision.add(ObjectUpdated{service_key, std::move(claimed)}, {service_key, service->revision});
  }
  if (existing == nullptr) {
    made.edit("metadata").set("generation", 1);
    decision.add(ObjectCreated{binding, std::move(made)}, {binding, Revision{}});
  } else if (made != existing->value) {
    decision.add(ObjectUpdated{binding, std::move(made)}, {binding, existing->revision});
  }
  return "";
}

void release_service(const State& state, const ObjectKey& key, DecisionBuilder& decision) {
  const ObjectKey service_key{type::kService, key.ns, key.name};
  for (const ObjectKey& claimed : {service_key, binding_key(service_key, "Service")}) {
    const Object* object = state.find(claimed);
    if (object == nullptr || annotation_of(object->value, kMcsName) != key.name) continue;
    Value released = object->value;
    for (const char* name : {label::kClaimedBy, kManagedByLabel, kMcsId}) erase_from_metadata(released, "labels", name);
    for (const char* name : {kMcsName, kMcsNamespace}) erase_from_metadata(released, "annotations", name);
    decision.add(ObjectUpdated{claimed, std::move(released)}, {claimed, object->revision});
  }
}

}  // namespace shiplog::multi_cluster_service
