#include "services/roles/dispatcher/render.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "events/state/new_work.h"
#include "events/state/work.h"
#include "services/interpreter/interpreter.h"

namespace shiplog::dispatcher {
namespace {

constexpr const char* kAppliedClusterOverrides = "policy.karmada.io/applied-cluster-overrides";
constexpr const char* kAppliedOverrides = "policy.karmada.io/applied-overrides";

void add_all(Value& into, const Value& members) {
  for (const auto& member : members.members()) into.set(member.key(), member.value);
}

/// Sorted, each once.
Value with_own_finalizer(const Value& finalizers) {
  if (finalizers.size() == 1 && finalizers[0].as_string() == finalizer::kWork) return finalizers;
  std::set<std::string_view> sorted{finalizer::kWork};
  for (const Value& finalizer : finalizers.items()) sorted.insert(finalizer.as_string());
  return Value::array(Value::Array{sorted.begin(), sorted.end()});
}

}  // namespace

Source source_of(const Binding& binding) {
  Source source;
  source.label_key = binding.cluster_scoped() ? label::kClusterBindingId : label::kBindingId;
  source.label_value = binding.permanent_id;
  source.binding_annotations = binding.cluster_scoped()
                                   ? Value::object({{annotation::kClusterBindingName, binding.key.name}})
                                   : Value::object({{annotation::kBindingNamespace, binding.key.ns},
                                                    {annotation::kBindingName, binding.key.name}});
  return source;
}

interpreter::Interpreted<Value> revised(const State& state, const Value& object, const Binding& binding,
                                        const std::vector<Target>& targets, const Target& target, UtcMillis now) {
  if (!binding.divisible()) return object;  // several components go as the template has them
  SHIPLOG_TRY(auto scaled, interpreter::revise_replica(state, object, target.replicas, now));
  Value manifest = scaled ? std::move(*scaled) : object;

  const Value& completions = manifest["spec"]["completions"];
  const bool divided =
      binding.placement["replicaScheduling"]["replicaSchedulingType"].as_string() == "Divided" && binding.replicas > 0;
  if (binding.kind != "Job" || !divided || completions.is_null()) return manifest;
  if (std::ranges::all_of(targets, [](const Target& other) { return other.replicas == 0; })) return manifest;
  for (const Target& share : divide(completions.as_int(), targets, uid_of(object))) {
    if (share.cluster == target.cluster) manifest.edit("spec").set("completions", share.replicas);
  }
  return manifest;
}

std::string conflict_resolution(const Value& manifest, const Binding& binding) {
  const auto own = annotation_of(manifest, annotation::kConflictResolution);
  if (own == "overwrite" || own == "abort") return std::string{own};
  return binding.conflict_resolution == "Overwrite" ? "overwrite" : "abort";
}

Value make_work(Value manifest, const ObjectKey& work, const Value& object, const Source& source, bool suspended,
                bool preserve, const Value& before) {
  const auto old_id = label_of(before, label::kWorkId);
  // Each text that stands in several places is one Value.
  const Value id{old_id.empty() ? new_work_id(work, source.label_value.as_string()) : std::string{old_id}};
  const Value name{work.name};
  const Value ns{work.ns};

  // Neither template nor override determines which binding the manifest belongs to.
  Value labels = manifest["metadata"]["labels"];
  for (const char* key : {label::kBindingId, label::kClusterBindingId}) labels.erase(key);
  if (!source.label_key.empty()) labels.set(source.label_key, source.label_value);
  labels.set(label::kManaged, "true");
  labels.set(label::kWorkId, id);
  Value annotations = manifest["metadata"]["annotations"];
  for (const char* key : {annotation::kBindingNamespace, annotation::kBindingName, annotation::kClusterBindingName}) {
    annotations.erase(key);
  }
  add_all(annotations, source.binding_annotations);
  const int64_t generation = object["metadata"]["generation"].as_int();
  if (generation > 0) annotations.set(annotation::kTemplateGeneration, std::to_string(generation));
  const Value& uid = object["metadata"]["uid"];
  annotations.set(annotation::kTemplateUid, uid.is_string() ? uid : Value{""});
  annotations.set(annotation::kWorkName, name);
  annotations.set(annotation::kWorkNamespace, ns);
  annotations.set(annotation::kConflictResolution, source.conflict_resolution);
  manifest.edit("metadata").set("labels", std::move(labels));
  manifest.edit("metadata").set("annotations", std::move(annotations));
  record_managed_keys(manifest, source.like.is_null() ? before["spec"]["workload"]["manifests"][0] : source.like);

  Value work_labels = before["metadata"]["labels"];
  if (!source.label_key.empty()) work_labels.set(source.label_key, source.label_value);
  work_labels.set(label::kWorkId, id);
  Value work_annotations = before["metadata"]["annotations"];
  if (work_annotations.is_null()) work_annotations = Value::object();
  add_all(work_annotations, source.binding_annotations);
  work_annotations.set(annotation::kConflictResolution, source.conflict_resolution);
  // When none applies any more the old ones stay, as upstream (B-21).
  if (!source.applied_cluster_overrides.empty()) {
    work_annotations.set(kAppliedClusterOverrides, source.applied_cluster_overrides);
  }
  if (!source.applied_overrides.empty()) work_annotations.set(kAppliedOverrides, source.applied_overrides);

  Value rendered = before;
  rendered.set("apiVersion", "work.karmada.io/v1alpha1");
  rendered.set("kind", "Work");
  Value& head = rendered.edit("metadata");
  head.set("name", name);
  head.set("namespace", ns);
  head.set("labels", std::move(work_labels));
  head.set("annotations", std::move(work_annotations));
  head.set("finalizers", with_own_finalizer(before["metadata"]["finalizers"]));
  rendered.set("spec", Value::object({{"suspendDispatching", suspended},
                                      {"preserveResourcesOnDeletion", preserve},
                                      {"workload", Value::object({{"manifests", Value::array({manifest})}})}}));
  return rendered;
}

}  // namespace shiplog::dispatcher
