// The requests of one cluster for slices of what it exports by ServiceExports.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "events/state/condition.h"
#include "services/roles/multi_cluster_service/decide.h"
#include "services/roles/multi_cluster_service/kept_works.h"

namespace shiplog::multi_cluster_service {
namespace {

constexpr const char* kExportVersion = "multicluster.x-k8s.io/v1alpha1";

ExportedService exported_by(const Value& work) {
  const Value& metadata = manifest_of(work)["metadata"];
  return {metadata["namespace"].str(), metadata["name"].str(), ExportedBy::kServiceExport};
}

/// A Work that has brought a ServiceExport to the cluster (upstream: of any in the cluster; here of those that the
/// control plane has put there). One that cannot be applied once more is there as it was before.
bool exports(const State& state, const std::string& cluster, const Value& work) {
  const Value& manifest = manifest_of(work);
  if (deleting(work) || only_kept(work) || manifest["kind"].as_string() != "ServiceExport" ||
      manifest["apiVersion"].as_string() != kExportVersion) {
    return false;
  }
  return condition_holds(work, "Applied") || state.find(request_key(cluster, exported_by(work))) != nullptr;
}

Value request_for(const ExportedService& service) {
  return Value::object({{"apiVersion", kExportVersion},
                        {"kind", "ServiceExport"},
                        {"metadata", Value::object({{"name", service.name}, {"namespace", service.ns}})}});
}

Value labels_of(const ExportedService& service) {
  return Value::object({{kExportNamespace, service.ns}, {kExportName, service.name}});
}

struct ExportsOfCluster {
  std::map<ObjectKey, ExportedService> wanted;  // by the request
  std::vector<ObjectKey> requests;              // that there are
};
ExportsOfCluster exports_of(const State& state, const std::string& cluster) {
  ExportsOfCluster found;
  for (const auto& [name, work] : state.objects(type::kWork, execution_space(cluster))) {
    if (const auto service = exported_service(work.value)) {
      // Those of MultiClusterServices follow from them.
      if (service->by == ExportedBy::kServiceExport) found.requests.push_back({type::kWork, name.ns, name.name});
    } else if (exports(state, cluster, work.value)) {
      const ExportedService of_work = exported_by(work.value);
      found.wanted.emplace(request_key(cluster, of_work), of_work);
    }
  }
  return found;
}

}  // namespace

Result<Decided> decide_cluster(const State& state, const std::string& cluster, UtcMillis now) {
  if (!takes_works(state, cluster)) return Nothing{};  // its Works go with it
  if (!state.options().controller_on(kServiceExportController)) return Nothing{};
  const ExportsOfCluster found = exports_of(state, cluster);
  DecisionBuilder decision;
  for (const ObjectKey& key : found.requests) {
    if (found.wanted.contains(key)) continue;
    if (!delete_object(state, key, decision)) return std::move(decision).build_and_look_again(now);
  }
  for (const auto& [key, service] : found.wanted) {
    if (!put_work(state, key, request_for(service), {labels_of(service), {}, true}, now, decision)) {
      return std::move(decision).build_and_look_again(now);
    }
  }
  return std::move(decision).build();
}

Result<Decided> decide_export(const State& state, const ObjectKey& key, UtcMillis now) {
  const Object* object = state.find(key);
  if (object == nullptr || deleting(object->value) || !state.options().controller_on(kServiceExportController)) {
    return Nothing{};
  }
  const ExportedService service{key.ns.str(), key.name.str(), ExportedBy::kServiceExport};
  std::string problems;
  for (const auto& [name, cluster] : state.clusters()) add_problems(state, name, service, kImportProblem, problems);
  const bool fine = problems.empty();
  const Value& before = condition_of(object->value, kSlicesCollected);
  if (before.is_null() && fine) return Nothing{};
  const std::string message = fine ? "All EndpointSlices are collected" : problems;
  if (before["status"].as_string() == (fine ? "True" : "False") && before["message"].as_string() == message) {
    return Nothing{};
  }
  Value wanted = object->value;
  set_condition(wanted, kSlicesCollected, fine ? "True" : "False",
                fine ? "EndpointSlicesCollected" : "EndpointSlicesMissing", message, now);
  return decide_one(StatusUpdated{key, std::move(wanted)}, {key, object->revision});
}

}  // namespace shiplog::multi_cluster_service
