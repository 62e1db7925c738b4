// One collected slice: its copies in the consumers of a MultiClusterService, and the one in the control plane that
// ServiceImports take to members.
#include <set>
#include <string>
#include <utility>

#include "services/roles/multi_cluster_service/decide.h"
#include "services/roles/multi_cluster_service/kept_works.h"
#include "services/roles/multi_cluster_service/slice_names.h"

namespace shiplog::multi_cluster_service {
namespace {

/// Of which slice there are copies.
struct CopiedSlice {
  const SliceName& name;
  const Value& work;  // that it was collected in; null: it is gone
};

/// The MultiClusterService that the slice is dispatched for; null: for none. The provider does not decide that: its
/// slices are of its own cluster's request, and must be of a Service that has a MultiClusterService with this provider.
const Value& mcs_of(const State& state, const CopiedSlice& slice) {
  static const Value kNone;
  const Value& work = slice.work;
  if (!collected_for(work, kForMcs) || label_of(work, kMcsNamespace) != slice.name.ns) return kNone;
  const ObjectKey key{type::kMultiClusterService, slice.name.ns, std::string{label_of(work, kMcsName)}};
  const Value& mcs = state.value_of(key);
  if (mcs.is_null() || deleting(mcs) || !acts_across_clusters(state, mcs)) return kNone;
  const bool provides = names_cluster(mcs["spec"]["providerClusters"], slice.name.cluster);
  return provides && service_problem(state, key).empty() ? mcs : kNone;
}

/// A controller that is switched off changes nothing, but what belongs to no MultiClusterService any more goes.
bool stays(const State& state, const Value& copy) {
  if (follows_services(state)) return false;
  const Value& mcs = state.value_of(
      {type::kMultiClusterService, std::string{label_of(copy, kMcsNamespace)}, std::string{label_of(copy, kMcsName)}});
  return !mcs.is_null() && !deleting(mcs);
}

Value copy_of(const Value& slice, const std::string& name, Value labels, Value annotations) {
  Value copy = Value::object({{"apiVersion", slice["apiVersion"]},
                              {"kind", slice["kind"]},
                              {"metadata", Value::object({{"name", name},
                                                          {"namespace", slice["metadata"]["namespace"]},
                                                          {"labels", std::move(labels)}})}});
  if (!annotations.is_null()) copy.edit("metadata").set("annotations", std::move(annotations));
  for (const char* field : {"addressType", "endpoints", "ports"}) copy.set(field, slice[field]);
  return copy;
}

/// The slice in one consumer of its MultiClusterService. False: the decision is full.
bool put_copy(const State& state, const CopiedSlice& slice, const Value& mcs, const Cluster& consumer, UtcMillis now,
              DecisionBuilder& decision) {
  if (!takes_works(state, consumer.name) || !takes_slices(consumer)) return true;
  const std::string service = mcs["metadata"]["name"].str();
  const std::string& provider = slice.name.cluster;
  const std::string dispatched = dispatched_name(provider, slice.name.name);
  WorkForm form;
  form.labels = Value::object({{kMcsNamespace, slice.name.ns}, {kMcsName, service}});
  form.annotations = Value::object({{kProvider, provider}});
  form.kept = false;
  Value copy = copy_of(manifest_of(slice.work), dispatched,
                       Value::object({{label::kServiceName, service}, {label::kSliceManagedBy, kDispatchedSlices}}),
                       Value::object({{kProvider, provider}}));
  return put_work(state, dispatched_key(consumer.name, slice.name.ns, dispatched), std::move(copy), std::move(form),
                  now, decision);
}

/// All slices of a provider's Service in one consumer. False: the decision is full.
bool put_copies(const State& state, const ExportedService& service, const std::string& provider,
                const Cluster& consumer, UtcMillis now, DecisionBuilder& decision) {
  for (const std::string& name : collected_names(state.value_of(request_key(provider, service)))) {
    const SliceName slice{provider, service.ns, name};
    const CopiedSlice copied{slice, state.value_of(collected_key(provider, service.ns, name))};
    const Value& mcs = mcs_of(state, copied);
    if (mcs.is_null() || label_of(copied.work, kMcsName) != service.name) continue;
    const std::string dispatched = dispatched_name(provider, name);
    const Value& present = state.value_of(dispatched_key(consumer.name, service.ns, dispatched));
    if (!present.is_null() && annotation_of(present, kProvider) != provider) continue;
    if (!put_copy(state, copied, mcs, consumer, now, decision)) return false;
  }
  return true;
}

/// Its consumers, of the clusters that there are.
std::set<std::string> consumers_of(const State& state, const Value& mcs, const std::string& provider) {
  std::set<std::string> consumers;
  if (mcs.is_null()) return consumers;
  for (const std::string& name : named_clusters(state, mcs["spec"]["consumerClusters"])) {
    if (name != provider && state.cluster(name) != nullptr) consumers.insert(name);
  }
  return consumers;
}

/// False: the decision is full. `problem`: what has the names of copies.
bool dispatch(const State& state, const CopiedSlice& slice, UtcMillis now, DecisionBuilder& decision,
              std::string& problem) {
  const std::string& provider = slice.name.cluster;
  const std::string dispatched = dispatched_name(provider, slice.name.name);
  if (dispatched.size() > kLongestName) return true;
  const Value& mcs = mcs_of(state, slice);
  const auto consumers = consumers_of(state, mcs, provider);
  for (const auto& [name, cluster] : state.clusters()) {
    const ObjectKey key = dispatched_key(name, slice.name.ns, dispatched);
    const Value& present = state.value_of(key);
    const bool ours = annotation_of(present, kProvider) == provider;
    if (!consumers.contains(name)) {
      if (ours && !stays(state, present) && !delete_object(state, key, decision)) return false;
    } else if (!present.is_null() && !ours) {
      add_problem(problem, "cluster " + name + " has another EndpointSlice " + dispatched);
    } else if (!put_copy(state, slice, mcs, cluster, now, decision)) {
      return false;
    }
  }
  return true;
}

/// The EndpointSlice in the control plane belongs to this Work.
bool is_import_of(const Value& imported, const ObjectKey& work) {
  return label_of(imported, label::kSliceManagedBy) == kImportedSlices &&
         annotation_of(imported, annotation::kWorkNamespace) == work.ns &&
         annotation_of(imported, annotation::kWorkName) == work.name;
}

bool is_imported(const State& state, const CopiedSlice& slice, const std::string& derived) {
  const Value& ns = state.value_of({type::kNamespace, "", slice.name.ns});
  return collected_for(slice.work, kForExport) && label_of(slice.work, kExportNamespace) == slice.name.ns &&
         derived.size() <= 63 && !ns.is_null() && !deleting(ns);
}

/// False: the decision is full. `problem`: what has the name of the import.
bool import(const State& state, const CopiedSlice& slice, const ObjectKey& work_key, DecisionBuilder& decision,
            std::string& problem) {
  if (!state.options().controller_on(kServiceExportController)) return true;
  const Value& work = slice.work;
  const std::string name = imported_name(slice.name.cluster, slice.name.name);
  const ObjectKey key{type::kEndpointSlice, slice.name.ns, name};
  const Object* present = state.find(key);
  const std::string derived = "derived-" + std::string{label_of(work, kExportName)};
  if (name.size() > kLongestName) return true;
  if (!is_imported(state, slice, derived)) {
    return present == nullptr || !is_import_of(present->value, work_key) || delete_object(state, key, decision);
  }
  Value labels = Value::object({{label::kServiceName, derived},
                                {label::kSliceManagedBy, kImportedSlices},
                                {label::kWorkId, work["metadata"]["labels"][label::kWorkId]}});
  Value annotations =
      Value::object({{annotation::kWorkNamespace, work_key.ns}, {annotation::kWorkName, work_key.name}});
  Value copy = copy_of(manifest_of(work), name, std::move(labels), std::move(annotations));
  if (present == nullptr) {
    copy.edit("metadata").set("generation", 1);
    return decision.try_add(ObjectCreated{key, std::move(copy)}, {key, Revision{}});
  }
  if (!is_import_of(present->value, work_key)) {
    add_problem(problem, "the control plane has another EndpointSlice " + name);
    return true;
  }
  if (deleting(present->value)) return true;
  Value updated = present->value;
  for (const char* field : {"endpoints", "ports"}) updated.set(field, copy[field]);
  // Labels and annotations of a policy that has claimed it stay.
  for (const char* map : {"labels", "annotations"}) {
    for (const auto& member : copy["metadata"][map].members()) {
      updated.edit("metadata").edit(map).set(member.key(), member.value);
    }
  }
  // The family of a slice never changes: it is made anew.
  if (present->value["addressType"] != copy["addressType"]) return delete_object(state, key, decision);
  if (updated == present->value) return true;
  return decision.try_add(ObjectUpdated{key, std::move(updated)}, {key, present->revision});
}

}  // namespace

ObjectKey slice_key(const std::string& cluster, std::string_view ns, std::string_view slice) {
  return {type::kEndpointSlice, std::string{ns}, cluster + kSeparator + std::string{slice}};
}

ObjectKey consumer_key(const std::string& cluster) { return {type::kCluster, "@consumer", cluster}; }

Result<Decided> decide_slice(const State& state, const ObjectKey& key, UtcMillis now) {
  static const Value kGone;
  const auto slice = slice_name_of(key);
  if (!slice) return Nothing{};
  const ObjectKey work_key = collected_key(slice->cluster, slice->ns, slice->name);
  const Value& present = state.value_of(work_key);
  const bool collected = !label_of(present, kCollectedFor).empty() && !deleting(present);
  const bool reported =
      collected && is_collected(state, slice->cluster, slice->ns, service_of_collected(present), slice->name);
  DecisionBuilder decision;
  if (collected && !reported) (void)delete_object(state, work_key, decision);
  const CopiedSlice copied{*slice, reported ? present : kGone};
  std::string import_problem, dispatch_problem;
  const bool all =
      import(state, copied, work_key, decision, import_problem) &&
      dispatch(state, copied, now, decision, dispatch_problem) &&
      (!reported ||
       annotate(state, work_key, {{kImportProblem, import_problem}, {kDispatchProblem, dispatch_problem}}, decision));
  if (!all) return std::move(decision).build_and_look_again(now);
  if (import_problem.empty() && dispatch_problem.empty()) return std::move(decision).build();
  if (decision.empty()) return LookAgain{now + kLookAtObstacle};
  return std::move(decision).build_and_look_again(now + kLookAtObstacle);
}

Result<Decided> decide_consumer(const State& state, const std::string& cluster, UtcMillis now) {
  const Cluster* consumer = state.cluster(cluster);
  if (consumer == nullptr) return Nothing{};
  DecisionBuilder decision;
  for (const auto& [key, mcs] : state.objects(type::kMultiClusterService)) {
    const Value& spec = mcs.value["spec"];
    if (!acts_across_clusters(state, mcs.value) || !names_cluster(spec["consumerClusters"], cluster)) continue;
    for (const std::string& provider : named_clusters(state, spec["providerClusters"])) {
      if (provider == cluster) continue;
      const ExportedService service{key.ns.str(), key.name.str(), ExportedBy::kMultiClusterService};
      if (!put_copies(state, service, provider, *consumer, now, decision)) {
        return std::move(decision).build_and_look_again(now);
      }
    }
  }
  return std::move(decision).build();
}

}  // namespace shiplog::multi_cluster_service
