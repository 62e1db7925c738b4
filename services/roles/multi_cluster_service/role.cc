#include "services/roles/multi_cluster_service/role.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "events/state/condition.h"
#include "events/state/feature_gates.h"
#include "events/state/fleet_options.h"
#include "events/state/service_index.h"
#include "services/roles/multi_cluster_service/decide.h"
#include "services/roles/multi_cluster_service/kept_works.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

using namespace multi_cluster_service;

ObjectKey mcs_key(std::string_view ns, std::string_view name) {
  return {type::kMultiClusterService, std::string{ns}, std::string{name}};
}

/// A MultiClusterService, and where its slices go. Only what was collected is looked up: reports are not read here.
void wake_with_slices(const State& state, const ObjectKey& key, std::vector<ObjectKey>& wake) {
  wake.push_back(key);
  const ExportedService service{key.ns.str(), key.name.str(), ExportedBy::kMultiClusterService};
  for (const auto& [cluster, known] : state.clusters()) {
    for (const std::string& slice : collected_names(state.value_of(request_key(cluster, service)))) {
      wake.push_back(slice_key(cluster, key.ns, slice));
    }
  }
}

/// MultiClusterServices that a cluster takes part in; all if it is empty.
void wake_mcs_of(const State& state, const std::string& cluster, std::vector<ObjectKey>& wake) {
  for (const auto& [name, mcs] : state.objects(type::kMultiClusterService)) {
    const Value& spec = mcs.value["spec"];
    const bool named = cluster.empty() || names_cluster(spec["providerClusters"], cluster) ||
                       names_cluster(spec["consumerClusters"], cluster);
    if (named) wake.push_back(mcs_key(name.ns, name.name));
  }
}

/// A slice's copy in the control plane or in a consumer, by the name of either.
void wake_origin(const std::string& cluster, const Value& copy, const std::string& prefix,
                 std::vector<ObjectKey>& wake) {
  const std::string_view name = copy["metadata"]["name"].as_string();
  if (cluster.empty() || !name.starts_with(prefix)) return;
  wake.push_back(slice_key(cluster, copy["metadata"]["namespace"].as_string(), name.substr(prefix.size())));
}

void wake_import(const Value& imported, std::vector<ObjectKey>& wake) {
  if (label_of(imported, label::kSliceManagedBy) != kImportedSlices) return;
  const std::string cluster = cluster_of_space(annotation_of(imported, annotation::kWorkNamespace));
  wake_origin(cluster, imported, "imported-" + cluster + "-", wake);
}

/// Of a Work all but its status, and of its metadata what this role reads.
bool same_but_status(const Value& before, const Value& after) {
  if (before.is_null() != after.is_null() || before["spec"] != after["spec"]) return false;
  return std::ranges::all_of(
      std::initializer_list<const char*>{"labels", "annotations", "finalizers", "deletionTimestamp"},
      [&](const char* field) { return before["metadata"][field] == after["metadata"][field]; });
}

/// The object that a request or a collected slice is for, by its labels.
void wake_owners(const Value& work, std::vector<ObjectKey>& wake) {
  if (const auto name = label_of(work, kMcsName); !name.empty()) {
    wake.push_back(mcs_key(label_of(work, kMcsNamespace), name));
  }
  if (const auto name = label_of(work, kExportName); !name.empty()) {
    wake.push_back({type::kServiceExport, std::string{label_of(work, kExportNamespace)}, std::string{name}});
  }
}

/// A request: its report, and what was made of that.
void wake_for_request(const std::string& cluster, const ExportedService& service, const Value& before,
                      const Value& after, std::vector<ObjectKey>& wake) {
  const bool ends = after.is_null() || deleting(after);
  if (before.is_null() || ends || before["spec"] != after["spec"]) {
    if (service.by == ExportedBy::kServiceExport && !before.is_null()) wake.push_back({type::kCluster, "", cluster});
    wake.push_back(service.by == ExportedBy::kServiceExport ? ObjectKey{type::kServiceExport, service.ns, service.name}
                                                            : mcs_key(service.ns, service.name));
    wake.push_back(collection_key(cluster, service.ns, service.name));
  } else if (before["status"]["manifestStatuses"] != after["status"]["manifestStatuses"] ||
             annotation_of(after, kNotBefore).empty()) {  // somebody has erased it
    wake.push_back(collection_key(cluster, service.ns, service.name));
  }
  const std::vector<std::string> had = collected_names(before);
  const std::vector<std::string> has = ends ? std::vector<std::string>{} : collected_names(after);
  if (had != has || annotation_of(before, kCollectProblem) != annotation_of(after, kCollectProblem)) {
    wake_owners(after.is_null() ? before : after, wake);
  }
  for (const std::string& slice : had) {
    if (!std::ranges::binary_search(has, slice)) wake.push_back(slice_key(cluster, service.ns, slice));
  }
}

/// What a Work is to this role.
enum class WorkPart { kNone, kRequest, kExport, kCopy, kCollected };
WorkPart part_of(const Value& work) {
  if (work.is_null()) return WorkPart::kNone;
  if (exported_service(work)) return WorkPart::kRequest;
  if (!annotation_of(work, kProvider).empty()) return WorkPart::kCopy;
  if (!label_of(work, kCollectedFor).empty()) return WorkPart::kCollected;
  return manifest_of(work)["kind"].as_string() == "ServiceExport" ? WorkPart::kExport : WorkPart::kNone;
}

/// A Work that is of the same part before and after, or is null in one of them.
void wake_for_part(const std::string& cluster, WorkPart part, const Value& before, const Value& after,
                   std::vector<ObjectKey>& wake) {
  const Value& work = after.is_null() ? before : after;
  const Value& manifest = manifest_of(work);
  if (part == WorkPart::kRequest) return wake_for_request(cluster, *exported_service(work), before, after, wake);
  if (part == WorkPart::kExport) {
    if (!same_but_status(before, after) || condition_holds(before, "Applied") != condition_holds(after, "Applied")) {
      wake.push_back({type::kCluster, "", cluster});
    }
    return;
  }
  // What members report of slices tells nothing about where these go.
  if (part == WorkPart::kNone || same_but_status(before, after)) return;
  if (part == WorkPart::kCopy) {
    const std::string provider{annotation_of(work, kProvider)};
    return wake_origin(provider, manifest, provider + "-", wake);
  }
  const std::string_view ns = manifest["metadata"]["namespace"].as_string();
  wake.push_back(slice_key(cluster, ns, manifest["metadata"]["name"].as_string()));
  wake.push_back(collection_key(cluster, ns, service_of_collected(work)));  // it stays what was reported
  for (const char* problem : {kDispatchProblem, kImportProblem}) {
    if (annotation_of(before, problem) != annotation_of(after, problem)) return wake_owners(work, wake);
  }
}

void wake_for_work(const std::string& cluster, const Value& before, const Value& after, std::vector<ObjectKey>& wake) {
  static const Value kNothing;
  const WorkPart was = part_of(before), is = part_of(after);
  if (was == is) return wake_for_part(cluster, is, before, after, wake);
  wake_for_part(cluster, was, before, kNothing, wake);
  wake_for_part(cluster, is, kNothing, after, wake);
}

bool serves_slices(const Value& cluster) {
  return std::ranges::any_of(cluster["status"]["apiEnablements"].items(), [](const Value& group) {
    return group["groupVersion"].as_string() == "discovery.k8s.io/v1" &&
           std::ranges::any_of(group["resources"].items(),
                               [](const Value& each) { return each["kind"].as_string() == "EndpointSlice"; });
  });
}

/// What is read of it: that it is there and ready, and serves EndpointSlices.
bool same_member(const Value& before, const Value& after) {
  return before.is_null() == after.is_null() && deleting(before) == deleting(after) &&
         condition_holds(before, "Ready") == condition_holds(after, "Ready") &&
         (before["status"]["apiEnablements"] == after["status"]["apiEnablements"] ||
          serves_slices(before) == serves_slices(after));
}

class MultiClusterServiceRole final : public Role {
 public:
  std::string_view name() const override { return "multi-cluster-service"; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    const ObjectKey& key = change.object;
    if (key.type == type::kWork) return on_work(change, wake);
    if (key.type == type::kMultiClusterService) return on_mcs(state, change, wake);
    if (key.type == type::kServiceImport || key.type == type::kServiceExport) return wake.push_back(key);
    if (key.type == type::kService) return on_service(state, change, wake);
    if (key.type == type::kResourceBinding) return on_binding(state, change, wake);
    if (key.type == type::kEndpointSlice) {
      for (const Value* version : {&change.before, &change.after}) wake_import(*version, wake);
    } else if (key.type == type::kCluster) {
      if (!same_member(change.before, change.after)) wake_member(state, key.name.str(), wake);
    } else if (key.type == type::kNamespace && !change.removed() && change.created()) {
      // The execution space of a cluster.
      if (const std::string cluster = cluster_of_space(key.name); !cluster.empty()) wake_member(state, cluster, wake);
    } else if (key.type == fleet_options_key().type || key.type == kFeatureGatesType) {
      on_start(state, wake);
    }
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    static const Value kNothing;
    wake_mcs_of(state, "", wake);
    for (const char* type : {type::kServiceImport, type::kServiceExport}) {
      for (const auto& [name, object] : state.objects(type)) wake.push_back({type, name.ns, name.name});
    }
    for (const auto& [name, cluster] : state.clusters()) wake.push_back({type::kCluster, "", name});
    for (const auto& [name, work] : state.objects(type::kWork)) {
      wake_for_work(cluster_of_space(name.ns), kNothing, work.value, wake);
    }
    for (const auto& [name, slice] : state.objects(type::kEndpointSlice)) wake_import(slice.value, wake);
  }

  void reconcile(TaskPtr task) override { follow(multi_cluster_service::decide, task); }

 private:
  static void on_work(const Change& change, std::vector<ObjectKey>& wake) {
    const std::string cluster = cluster_of_space(change.object.ns);
    if (cluster.empty()) return;
    wake_for_work(cluster, change.before, change.after, wake);
  }

  static void on_mcs(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    const bool same = change.before["spec"] == change.after["spec"] &&
                      deleting(change.before) == deleting(change.after) &&
                      change.before.is_null() == change.after.is_null();
    if (same) return wake.push_back(change.object);
    wake_with_slices(state, change.object, wake);
  }

  /// A cluster is ready now, or is no longer; it is there, or is gone.
  static void wake_member(const State& state, const std::string& cluster, std::vector<ObjectKey>& wake) {
    wake.push_back({type::kCluster, "", cluster});
    wake.push_back(consumer_key(cluster));
    wake_mcs_of(state, cluster, wake);
  }

  static void on_service(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    const ObjectKey mcs = mcs_key(change.object.ns, change.object.name);
    if (state.find(mcs) != nullptr) {
      const bool stays = !change.created() && !change.removed() && deleting(change.before) == deleting(change.after);
      stays ? wake.push_back(mcs) : wake_with_slices(state, mcs, wake);
    }
    for (const Value& owner : change.latest()["metadata"]["ownerReferences"].items()) {
      if (owner["kind"].as_string() != "ServiceImport") continue;
      wake.push_back({type::kServiceImport, change.object.ns, owner["name"].str()});
    }
    constexpr std::string_view kDerived = "derived-";
    const std::string_view name = change.object.name;
    if (!name.starts_with(kDerived)) return;
    const ObjectKey service_import{type::kServiceImport, change.object.ns, std::string{name.substr(kDerived.size())}};
    if (state.find(service_import) != nullptr) wake.push_back(service_import);
  }

  static void on_binding(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    if (change.before["spec"] == change.after["spec"] && change.before["metadata"] == change.after["metadata"]) return;
    const Value& resource = change.latest()["spec"]["resource"];
    if (resource["kind"].as_string() != "Service") return;
    const ObjectKey mcs = mcs_key(change.object.ns, resource["name"].as_string());
    if (state.find(mcs) != nullptr) wake.push_back(mcs);
  }
};

}  // namespace

std::unique_ptr<Role> make_multi_cluster_service_role() { return std::make_unique<MultiClusterServiceRole>(); }

}  // namespace shiplog
