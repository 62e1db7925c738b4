#include "services/roles/multi_cluster_service/kept_works.h"

#include <algorithm>
#include <utility>

#include "events/base/json.h"
#include "events/state/claim.h"
#include "events/state/cluster.h"
#include "events/state/manifest.h"
#include "events/state/new_work.h"

namespace shiplog::multi_cluster_service {
namespace {

/// `before`: the present Work, or null.
Value work_around(Value manifest, const ObjectKey& key, const WorkForm& form, const Value& before) {
  const auto old_id = label_of(before, label::kWorkId);
  const std::string id = old_id.empty() ? new_work_id(key, "") : std::string{old_id};
  Value& head = manifest.edit("metadata");
  head.edit("labels").set(label::kManaged, "true");
  head.edit("labels").set(label::kWorkId, id);
  Value& annotations = head.edit("annotations");
  annotations.set(annotation::kTemplateUid, "");
  annotations.set(annotation::kWorkName, key.name);
  annotations.set(annotation::kWorkNamespace, key.ns);
  record_managed_keys(manifest);

  Value work = before;
  work.set("apiVersion", "work.karmada.io/v1alpha1");
  work.set("kind", "Work");
  Value& metadata = work.edit("metadata");
  metadata.set("name", key.name);
  metadata.set("namespace", key.ns);
  Value labels = form.labels;
  labels.set(label::kWorkId, id);
  metadata.set("labels", std::move(labels));
  if (!form.annotations.is_empty()) metadata.set("annotations", form.annotations);
  if (!form.kept) metadata.set("finalizers", Value::array({finalizer::kWork}));
  work.set("spec", Value::object({{"suspendDispatching", form.kept},
                                  {"preserveResourcesOnDeletion", false},
                                  {"workload", Value::object({{"manifests", Value::array({std::move(manifest)})}})}}));
  return work;
}

}  // namespace

bool collected_for(const Value& work, std::string_view feature) {
  std::string_view features = label_of(work, kCollectedFor);
  while (!features.empty()) {
    const size_t dot = std::min(features.find('.'), features.size());
    if (features.substr(0, dot) == feature) return true;
    features.remove_prefix(std::min(dot + 1, features.size()));
  }
  return false;
}

ObjectKey collected_key(const std::string& cluster, std::string_view ns, std::string_view slice) {
  return {type::kWork, execution_space(cluster), work_name("EndpointSlice", ns, slice)};
}

std::string dispatched_name(std::string_view provider, std::string_view slice) {
  return std::string{provider} + "-" + std::string{slice};
}

ObjectKey dispatched_key(const std::string& consumer, std::string_view ns, const std::string& dispatched) {
  return {type::kWork, execution_space(consumer), work_name("EndpointSlice", ns, dispatched)};
}

bool takes_works(const State& state, const std::string& cluster) {
  const Cluster* known = state.cluster(cluster);
  if (known == nullptr || known->deleting) return false;
  const Object* space = state.find({type::kNamespace, "", execution_space(cluster)});
  return space != nullptr && !deleting(space->value);
}

std::string_view service_of_collected(const Value& work) {
  const auto exported = label_of(work, kExportName);
  return exported.empty() ? label_of(work, kMcsName) : exported;
}

std::vector<std::string> collected_names(const Value& request) {
  std::vector<std::string> names;
  std::string_view rest = annotation_of(request, kCollectedNames);
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    names.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return names;
}

bool is_collected(const State& state, const std::string& cluster, const std::string& ns, std::string_view service,
                  std::string_view slice) {
  for (const ExportedBy by : {ExportedBy::kServiceExport, ExportedBy::kMultiClusterService}) {
    const Value& request = state.value_of(request_key(cluster, {ns, std::string{service}, by}));
    if (request.is_null() || deleting(request)) continue;
    // Nothing was made of its report yet: it is not known.
    if (annotation_of(request, kNotBefore).empty() && request["status"].contains("manifestStatuses")) return true;
    if (std::ranges::binary_search(collected_names(request), slice)) return true;
  }
  return false;
}

void add_problem(std::string& problems, std::string_view problem) {
  constexpr size_t kEnough = 2000;
  if (problem.empty() || problems.size() >= kEnough) return;
  if (!problems.empty()) problems += "; ";
  problems += problem;
}

void add_problems(const State& state, const std::string& cluster, const ExportedService& service, const char* of_slice,
                  std::string& problems) {
  const Value& request = state.value_of(request_key(cluster, service));
  if (const auto problem = annotation_of(request, kCollectProblem); !problem.empty()) {
    add_problem(problems, "cluster " + cluster + ": " + std::string{problem});
  }
  for (const std::string& slice : collected_names(request)) {
    add_problem(problems, annotation_of(state.value_of(collected_key(cluster, service.ns, slice)), of_slice));
  }
}

bool put_work(const State& state, const ObjectKey& key, Value manifest, WorkForm form, UtcMillis now,
              DecisionBuilder& decision) {
  const Object* present = state.find(key);
  const Value& before = present == nullptr ? state.value_of(key) : present->value;
  if (deleting(before)) return true;
  ManifestRendered summary{manifest["kind"].str(), manifest["metadata"]["name"].str(), cluster_of_space(key.ns)};
  Value work = work_around(std::move(manifest), key, form, before);
  if (work == before) return true;
  if (present == nullptr) {
    work.set("status", Value::object({{"conditions", Value::array({dispatching_condition(form.kept, now)})}}));
  }
  if (present != nullptr) work.erase("status");  // the fold keeps it
  Explanation why;
  why.summary = std::move(summary);
  why.inputs_digest = to_string(siphash128(to_json(work["spec"])));
  return decision.try_add(WorkRendered{key, std::move(work), std::move(why)},
                          {key, present == nullptr ? Revision{} : present->revision});
}

bool annotate(const State& state, const ObjectKey& key,
              std::initializer_list<std::pair<const char*, std::string>> texts, DecisionBuilder& decision) {
  const Object* present = state.find(key);
  if (present == nullptr || deleting(present->value)) return true;
  Value work = present->value;
  for (const auto& [name, text] : texts) {
    if (annotation_of(work, name) == text) continue;
    if (text.empty()) {
      erase_from_metadata(work, "annotations", name);
    } else {
      work.edit("metadata").edit("annotations").set(name, text);
    }
  }
  if (work == present->value) return true;
  work.erase("status");  // the fold keeps it
  Explanation why;
  why.summary = ManifestRendered{manifest_of(work)["kind"].str(), manifest_of(work)["metadata"]["name"].str(),
                                 cluster_of_space(key.ns)};
  return decision.try_add(WorkRendered{key, std::move(work), std::move(why)}, {key, present->revision});
}

bool delete_object(const State& state, const ObjectKey& key, DecisionBuilder& decision) {
  const Object* object = state.find(key);
  if (object == nullptr || deleting(object->value)) return true;
  return decision.try_add(DeletionRequested{.object = key}, {key, object->revision});
}

}  // namespace shiplog::multi_cluster_service
