#include "services/roles/recorder/subjects.h"

#include "events/state/served_kind.h"
#include "events/state/work.h"

namespace shiplog::recorder {

const Value& template_of(const State& state, const Value& binding) {
  const Value& resource = binding["spec"]["resource"];
  const auto served = served_kind(state, resource["apiVersion"].as_string(), resource["kind"].as_string());
  if (!served) return state.value_of({});
  return state.value_of(served->key(resource["namespace"].as_string(), resource["name"].as_string()));
}

const Value& binding_of_work(const State& state, const Value& work) {
  const auto ns = annotation_of(work, annotation::kBindingNamespace);
  const auto name = annotation_of(work, annotation::kBindingName);
  if (!name.empty()) return state.value_of({type::kResourceBinding, std::string{ns}, std::string{name}});
  const auto cluster_scoped = annotation_of(work, annotation::kClusterBindingName);
  if (cluster_scoped.empty()) return state.value_of({});
  return state.value_of({type::kClusterResourceBinding, "", std::string{cluster_scoped}});
}

const Value& template_of_work(const State& state, const Value& work) {
  const Value& binding = binding_of_work(state, work);
  if (!binding.is_null()) return template_of(state, binding);
  const Value& manifest = work["spec"]["workload"]["manifests"][0];
  const auto served = served_kind(state, manifest["apiVersion"].as_string(), manifest["kind"].as_string());
  if (!served) return state.value_of({});
  const Value& meta = manifest["metadata"];
  return state.value_of(served->key(meta["namespace"].as_string(), meta["name"].as_string()));
}

std::string place_of(const Value& object) {
  const Value& meta = object["metadata"];
  return meta["namespace"].is_empty() ? meta["name"].str() : meta["namespace"].str() + "/" + meta["name"].str();
}

}  // namespace shiplog::recorder
