// One collected slice: its copies in the consumers of a MultiClusterService, and the one in the control plane that
// ServiceImports take to members.
#include <string>
#include <utility>

#include "services/roles/multi_cluster_service/decide.h"
#include "services/roles/multi_cluster_service/kept_works.h"

namespace shiplog::multi_cluster_service {
namespace {

constexpr char kSeparator = ':';  // in no name of a cluster, nor of a slice

struct SliceName {
  std::string cluster, ns, name;
};

/// The MultiClusterService that the slice is dispatched for; null: for none. The provider does not decide that: its
/// slices are of its own cluster's request, and must be of a Service that has a MultiClusterService with this provider.
const Value& mcs_of(const State& state, const SliceName& slice, const Value& work) {
  static const Value kNone;
  if (deleting(work) || !collected_for(work, kForMcs) || label_of(work, kMcsNamespace) != slice.ns) return kNone;
  const Value& mcs = state.value_of({type::kMultiClusterService, slice.ns, std::string{label_of(work, kMcsName)}});
  if (mcs.is_null() || deleting(mcs) || !acts_across_clusters(state, mcs)) return kNone;
  return named_clusters(state, mcs["spec"]["providerClusters"]).contains(slice.cluster) ? mcs : kNone;
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

/// False: the decision is full.
bool dispatch(const State& state, const SliceName& slice, const Value& work, UtcMillis now, DecisionBuilder& decision) {
  const Value& mcs = mcs_of(state, slice, work);
  const std::string dispatched = dispatched_name(slice.cluster, slice.name);
  std::set<std::string> consumers;
  if (!mcs.is_null() && dispatched.size() <= kLongestName) {
    consumers = named_clusters(state, mcs["spec"]["consumerClusters"]);
    consumers.erase(slice.cluster);
  }
  for (const auto& [name, cluster] : state.clusters()) {
    const ObjectKey key = dispatched_key(name, slice.ns, dispatched);
    const Value& present = state.value_of(key);
    const bool ours = annotation_of(present, kProvider) == slice.cluster;
    if (!consumers.contains(name)) {
      if (ours && !delete_object(state, key, decision)) return false;
      continue;
    }
    if ((!present.is_null() && !ours) || !takes_works(state, name) || !takes_slices(cluster)) continue;
    const std::string service = mcs["metadata"]["name"].str();
    WorkForm form;
    form.labels = Value::object({{kMcsNamespace, slice.ns}, {kMcsName, service}});
    form.annotations = Value::object({{kProvider, slice.cluster}});
    form.kept = false;
    Value copy = copy_of(manifest_of(work), dispatched,
                         Value::object({{label::kServiceName, service}, {label::kSliceManagedBy, kDispatchedSlices}}),
                         Value::object({{kProvider, slice.cluster}}));
    if (!put_work(state, key, std::move(copy), std::move(form), now, decision)) return false;
  }
  return true;
}

/// The EndpointSlice in the control plane belongs to this Work.
bool is_import_of(const Value& imported, const ObjectKey& work) {
  return label_of(imported, label::kSliceManagedBy) == kImportedSlices &&
         annotation_of(imported, annotation::kWorkNamespace) == work.ns &&
         annotation_of(imported, annotation::kWorkName) == work.name;
}

bool import(const State& state, const SliceName& slice, const ObjectKey& work_key, const Value& work,
            DecisionBuilder& decision) {
  const std::string name = "imported-" + slice.cluster + "-" + slice.name;
  const ObjectKey key{type::kEndpointSlice, slice.ns, name};
  const Object* present = state.find(key);
  const std::string derived = "derived-" + std::string{label_of(work, kExportName)};
  const bool wanted = !work.is_null() && !deleting(work) && collected_for(work, kForExport) &&
                      label_of(work, kExportNamespace) == slice.ns && derived.size() <= 63 &&
                      name.size() <= kLongestName && !state.value_of({type::kNamespace, "", slice.ns}).is_null() &&
                      !deleting(state.value_of({type::kNamespace, "", slice.ns}));
  if (!wanted) {
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
  if (deleting(present->value) || !is_import_of(present->value, work_key)) return true;
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

Result<Decided> decide_slice(const State& state, const ObjectKey& key, UtcMillis now) {
  const std::string_view name = key.name;
  const size_t at = name.find(kSeparator);
  if (at == std::string_view::npos) return Nothing{};
  const SliceName slice{std::string{name.substr(0, at)}, key.ns.str(), std::string{name.substr(at + 1)}};
  const ObjectKey work_key = collected_key(slice.cluster, slice.ns, slice.name);
  const Value& work = state.value_of(work_key);
  DecisionBuilder decision;
  const bool all = import(state, slice, work_key, work, decision) && dispatch(state, slice, work, now, decision);
  return all ? std::move(decision).build() : std::move(decision).build_and_look_again(now);
}

std::string slices_in_the_way(const State& state, const Value& mcs) {
  const std::string ns = mcs["metadata"]["namespace"].str();
  const std::string service = mcs["metadata"]["name"].str();
  const auto consumers = named_clusters(state, mcs["spec"]["consumerClusters"]);
  std::string problems;
  const auto add = [&](const std::string& problem) {
    if (problems.size() < 2000) problems += (problems.empty() ? "" : "; ") + problem;
  };
  for (const std::string& provider : named_clusters(state, mcs["spec"]["providerClusters"])) {
    const Value& request = state.value_of(request_key(provider, {ns, service, ExportedBy::kMultiClusterService}));
    const auto reported = reported_slices(request);
    if (!reported) continue;
    if (!reported->problem.empty()) add("cluster " + provider + ": " + reported->problem);
    for (const Value& slice : reported->slices) {
      const std::string name = slice["metadata"]["name"].str();
      const Value& collected = state.value_of(collected_key(provider, ns, name));
      if (!collected.is_null() && !collected_for(collected, kForMcs) && label_of(collected, kCollectedFor).empty()) {
        add("cluster " + provider + ": EndpointSlice " + name + " was put there by the control plane");
      }
      const std::string dispatched = dispatched_name(provider, name);
      if (dispatched.size() > kLongestName) {
        add("the name " + dispatched + " is too long");
        continue;
      }
      for (const std::string& consumer : consumers) {
        const Value& work = state.value_of(dispatched_key(consumer, ns, dispatched));
        if (consumer != provider && !work.is_null() && annotation_of(work, kProvider) != provider) {
          add("cluster " + consumer + " has another EndpointSlice " + dispatched);
        }
      }
    }
  }
  return problems;
}

}  // namespace shiplog::multi_cluster_service
