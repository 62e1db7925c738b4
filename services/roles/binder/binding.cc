#include "services/roles/binder/binding.h"

#include <algorithm>

#include "events/base/hash.h"
#include "events/base/json.h"
#include "events/state/new_binding.h"
#include "events/state/object.h"
#include "services/roles/binder/claim.h"
#include "services/roles/binder/workload.h"

namespace shiplog::binder {
namespace {

constexpr const char* kPriorityClass = "priorityclasses.scheduling.k8s.io";

void set_metadata(Value& made, const ObjectKey& binding, const Value& object, const Policy& policy) {
  const bool cluster_scoped = binding.ns.empty();
  Value& metadata = made.edit("metadata");
  metadata.set("name", binding.name);
  if (!cluster_scoped) metadata.set("namespace", binding.ns);
  const char* id_label = cluster_scoped ? label::kClusterBindingId : label::kBindingId;
  if (metadata["labels"][id_label].is_empty())
    metadata.edit("labels").set(id_label, binding_permanent_id(object, binding));
  const char* finalizer =
      cluster_scoped ? "karmada.io/cluster-resource-binding-controller" : "karmada.io/binding-controller";
  if (!has_finalizer(made, finalizer)) metadata.edit("finalizers").push_back(finalizer);
  metadata.set("ownerReferences", Value::array({owner_reference_to(object)}));
  set_claim(made, policy);
}

/// The policy's part replaces all but suspension.scheduling, which third parties set on the binding (D-26).
Value suspension_of(const Value& existing, const Policy& policy) {
  Value suspension = policy.spec["suspension"];
  const Value& scheduling = existing["spec"]["suspension"]["scheduling"];
  suspension.erase("scheduling");
  if (!scheduling.is_null()) suspension.set("scheduling", scheduling);
  return suspension.is_empty() ? Value{} : suspension;
}

/// D-29. Null: the policy has none.
Result<Value> schedule_priority_of(const State& state, const Policy& policy) {
  const Value& wanted = policy.spec["schedulePriority"];
  if (wanted.is_null()) return Value{};
  const auto source = wanted["priorityClassSource"].as_string();
  if (source != "KubePriorityClass") {
    return Error{ErrorCode::kInvalid, described(policy) + ": spec.schedulePriority.priorityClassSource \"" +
                                          std::string{source} + "\" is not supported, only KubePriorityClass is"};
  }
  const std::string name = wanted["priorityClassName"].str();
  const Object* found = state.find({kPriorityClass, "", name});
  if (found == nullptr) {
    return Error{ErrorCode::kNotFound, described(policy) + ": spec.schedulePriority names PriorityClass \"" + name +
                                           "\", which does not exist"};
  }
  return Value::object({{"priority", found->value["value"].as_int()}});
}

/// Fields that were accepted but not acted on are explained to the user: before fold version 7, and in replays of that.
void explain_ignored_fields(const State& state, const Policy& policy, Explanation& why) {
  if (state.fold_version() < 7 && policy.spec["failover"]["application"].is_object())
    why.steps.emplace_back(FailoverIgnored{});
}

}  // namespace

interpreter::Interpreted<Value> make_binding(const State& state, const ObjectKey& binding, const Value& existing,
                                             const Value& object, const Policy& policy, UtcMillis now,
                                             Explanation& why) {
  const bool cluster_scoped = binding.ns.empty();
  Value made = existing;
  made.set("apiVersion", "work.karmada.io/v1alpha2");
  made.set("kind", cluster_scoped ? "ClusterResourceBinding" : "ResourceBinding");
  set_metadata(made, binding, object, policy);

  const std::string digest = template_digest(object);
  const bool same_template = annotation_of(existing, kTemplateDigestAnnotation) == digest;
  made.edit("metadata").edit("annotations").set(kTemplateDigestAnnotation, digest);
  Value& spec = made.edit("spec");
  spec.set("resource", resource_reference_to(object, same_template ? existing["spec"]["resource"]["resourceVersion"]
                                                                   : object["metadata"]["resourceVersion"]));

  for (const char* field : {"propagateDeps", "schedulerName", "failover", "preserveResourcesOnDeletion"}) {
    set_or_erase(spec, field, policy.spec[field]);
  }
  spec.set("placement", policy.spec["placement"].is_null() ? Value::object() : policy.spec["placement"]);
  spec.set("conflictResolution", policy.spec["conflictResolution"].as_string("Abort"));
  set_or_erase(spec, "suspension", suspension_of(existing, policy));
  if (!cluster_scoped) {
    SHIPLOG_TRY(const Value priority, schedule_priority_of(state, policy));
    set_or_erase(spec, "schedulePriority", priority);
    set_affinity_groups(policy, object, spec, why);
  }

  SHIPLOG_TRY(set_workload(state, object, now, spec, why));
  explain_ignored_fields(state, policy, why);
  why.inputs_digest = to_string(siphash128(digest + "\n" + policy.permanent_id + "\n" + to_json(policy.spec)));
  return made;
}

}  // namespace shiplog::binder
