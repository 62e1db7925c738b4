#include "services/roles/multi_cluster_service/role.h"

#include <string>

#include "events/state/condition.h"
#include "events/state/feature_gates.h"
#include "events/state/fleet_options.h"
#include "events/state/service_index.h"
#include "services/roles/multi_cluster_service/decide.h"
#include "services/roles/multi_cluster_service/kept_works.h"
#include "services/runtime/follow.h"

namespace shiplog {
namespace {

using multi_cluster_service::slice_key;

ObjectKey mcs_key(std::string_view ns, std::string_view name) {
  return {type::kMultiClusterService, std::string{ns}, std::string{name}};
}

/// The keys of the slices that a request has reported.
void wake_slices(const std::string& cluster, const Value& request, std::vector<ObjectKey>& wake) {
  const auto reported = reported_slices(request);
  if (!reported) return;
  for (const Value& slice : reported->slices) {
    const Value& metadata = slice["metadata"];
    wake.push_back(slice_key(cluster, metadata["namespace"].as_string(), metadata["name"].as_string()));
  }
}

/// A MultiClusterService, and where its slices go.
void wake_mcs(const State& state, const ObjectKey& key, std::vector<ObjectKey>& wake) {
  wake.push_back(key);
  const ExportedService service{key.ns.str(), key.name.str(), ExportedBy::kMultiClusterService};
  for (const auto& [name, cluster] : state.clusters()) {
    wake_slices(name, state.value_of(request_key(name, service)), wake);
  }
}

void wake_all_mcs(const State& state, std::vector<ObjectKey>& wake) {
  for (const auto& [name, mcs] : state.objects(type::kMultiClusterService)) {
    wake_mcs(state, mcs_key(name.ns, name.name), wake);
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

/// One version of a Work.
void wake_for_work(const std::string& cluster, const Value& work, std::vector<ObjectKey>& wake) {
  using namespace multi_cluster_service;
  const Value& manifest = manifest_of(work);
  if (const auto service = exported_service(work)) {
    wake.push_back({type::kCluster, "", cluster});
    const bool by_export = service->by == ExportedBy::kServiceExport;
    wake.push_back(by_export ? ObjectKey{type::kServiceExport, service->ns, service->name}
                             : mcs_key(service->ns, service->name));
  } else if (const std::string provider{annotation_of(work, kProvider)}; !provider.empty()) {
    wake_origin(provider, manifest, provider + "-", wake);
  } else if (!label_of(work, kCollectedFor).empty()) {
    const Value& metadata = manifest["metadata"];
    wake.push_back({type::kCluster, "", cluster});
    wake.push_back(slice_key(cluster, metadata["namespace"].as_string(), metadata["name"].as_string()));
  } else if (manifest["kind"].as_string() == "ServiceExport") {
    wake.push_back({type::kCluster, "", cluster});
  }
}

/// What is read of it: that it is there and ready, and what it serves.
bool same_member(const Value& before, const Value& after) {
  return before.is_null() == after.is_null() && deleting(before) == deleting(after) &&
         condition_holds(before, "Ready") == condition_holds(after, "Ready") &&
         before["status"]["apiEnablements"] == after["status"]["apiEnablements"];
}

class MultiClusterServiceRole final : public Role {
 public:
  std::string_view name() const override { return "multi-cluster-service"; }

  void on_change(const State& state, const Change& change, std::vector<ObjectKey>& wake) override {
    const ObjectKey& key = change.object;
    if (key.type == type::kWork) return on_work(change, wake);
    if (key.type == type::kMultiClusterService) return wake_mcs(state, key, wake);
    if (key.type == type::kServiceImport || key.type == type::kServiceExport) return wake.push_back(key);
    if (key.type == type::kService) return on_service(state, change, wake);
    if (key.type == type::kResourceBinding) return on_binding(state, change, wake);
    if (key.type == type::kEndpointSlice) {
      for (const Value* version : {&change.before, &change.after}) wake_import(*version, wake);
    } else if (key.type == type::kCluster) {
      if (same_member(change.before, change.after)) return;
      wake.push_back(key);
      wake_all_mcs(state, wake);
    } else if (key.type == type::kNamespace && !change.removed() && change.created()) {
      // The execution space of a cluster.
      if (const std::string cluster = cluster_of_space(key.name); !cluster.empty()) {
        wake.push_back({type::kCluster, "", cluster});
        wake_all_mcs(state, wake);
      }
    } else if (key.type == fleet_options_key().type || key.type == kFeatureGatesType) {
      on_start(state, wake);
    }
  }

  void on_start(const State& state, std::vector<ObjectKey>& wake) override {
    wake_all_mcs(state, wake);
    for (const char* type : {type::kServiceImport, type::kServiceExport}) {
      for (const auto& [name, object] : state.objects(type)) wake.push_back({type, name.ns, name.name});
    }
    for (const auto& [name, cluster] : state.clusters()) wake.push_back({type::kCluster, "", name});
    for (const auto& [name, work] : state.objects(type::kWork)) {
      wake_for_work(cluster_of_space(name.ns), work.value, wake);
    }
    for (const auto& [name, slice] : state.objects(type::kEndpointSlice)) wake_import(slice.value, wake);
  }

  void reconcile(TaskPtr task) override { follow(multi_cluster_service::decide, task); }

 private:
  static void on_work(const Change& change, std::vector<ObjectKey>& wake) {
    const std::string cluster = cluster_of_space(change.object.ns);
    if (cluster.empty()) return;
    for (const Value* version : {&change.before, &change.after}) {
      if (!version->is_null()) wake_for_work(cluster, *version, wake);
    }
  }

  static void on_service(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
    const ObjectKey mcs = mcs_key(change.object.ns, change.object.name);
    if (state.find(mcs) != nullptr) wake.push_back(mcs);
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
