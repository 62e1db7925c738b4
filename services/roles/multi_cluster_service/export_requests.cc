// The requests of one cluster for slices of what it exports by ServiceExports, and the Works that hold what it has
// reported, for ServiceExports and MultiClusterServices.
#include <map>
#include <string>
#include <utility>

#include "events/state/condition.h"
#include "services/roles/multi_cluster_service/decide.h"
#include "services/roles/multi_cluster_service/kept_works.h"

namespace shiplog::multi_cluster_service {
namespace {

constexpr const char* kExportVersion = "multicluster.x-k8s.io/v1alpha1";

/// A Work that brings a ServiceExport to the cluster (upstream: of any in the cluster; here of those that the
/// control plane has put there).
bool exports(const Value& work) {
  const Value& manifest = manifest_of(work);
  return !deleting(work) && !only_kept(work) && manifest["kind"].as_string() == "ServiceExport" &&
         manifest["apiVersion"].as_string() == kExportVersion;
}

struct WantedSlice {
  Value slice;
  bool for_export = false, for_mcs = false;
  std::string service;
  Value mcs_id;
};

WorkForm form_of(const WantedSlice& wanted, const std::string& ns) {
  WorkForm form;
  std::string features;
  if (wanted.for_mcs) {
    form.labels.set(kMcsNamespace, ns);
    form.labels.set(kMcsName, wanted.service);
    features = kForMcs;
  }
  if (wanted.for_export) {
    form.labels.set(kExportNamespace, ns);
    form.labels.set(kExportName, wanted.service);
    features = features.empty() ? kForExport : std::string{kForExport} + "." + features;
  }
  form.labels.set(kCollectedFor, features);
  return form;
}

/// Everything about the Works of one execution space.
class Space {
 public:
  Space(const State& state, const std::string& cluster) : state_{state}, cluster_{cluster} {
    const bool exporting = state.options().controller_on(kServiceExportController);
    for (const auto& [name, work] : state.objects(type::kWork, execution_space(cluster))) {
      const ObjectKey key{type::kWork, name.ns, name.name};
      if (const auto requested = exported_service(work.value)) {
        requests_.emplace(key, *requested);
      } else if (exporting && exports(work.value)) {
        const Value& metadata = manifest_of(work.value)["metadata"];
        const ExportedService service{metadata["namespace"].str(), metadata["name"].str(), ExportedBy::kServiceExport};
        // One that cannot be applied once more is there as it was before.
        if (condition_holds(work.value, "Applied") || state.find(request_key(cluster, service)) != nullptr) {
          exported_.push_back(service);
        }
      } else if (!label_of(work.value, kCollectedFor).empty()) {
        collected_.push_back(key);
      }
    }
    for (const auto& [key, service] : requests_) read(key, service);
  }

  /// False: the decision is full.
  bool put(UtcMillis now, DecisionBuilder& decision) const {
    for (const ExportedService& service : exported_) {
      const ObjectKey key = request_key(cluster_, service);
      if (!put_work(state_, key, request_for(service), {labels_of(service), {}, true}, now, decision)) return false;
    }
    for (const auto& [key, wanted] : wanted_) {
      const Value& before = state_.value_of(key);
      // A Work of a binding with that name is left alone.
      if (!before.is_null() && label_of(before, kCollectedFor).empty()) continue;
      if (!put_work(state_, key, wanted.slice, form_of(wanted, wanted.slice["metadata"]["namespace"].str()), now,
                    decision)) {
        return false;
      }
    }
    return true;
  }

  bool remove(DecisionBuilder& decision) const {
    for (const auto& [key, service] : requests_) {
      if (service.by != ExportedBy::kServiceExport) continue;  // those of MultiClusterServices follow from them
      if (std::ranges::find(exported_, service) != exported_.end()) continue;
      if (!delete_object(state_, key, decision)) return false;
    }
    for (const ObjectKey& key : collected_) {
      if (!wanted_.contains(key) && !delete_object(state_, key, decision)) return false;
    }
    return true;
  }

 private:
  static Value request_for(const ExportedService& service) {
    return Value::object({{"apiVersion", kExportVersion},
                          {"kind", "ServiceExport"},
                          {"metadata", Value::object({{"name", service.name}, {"namespace", service.ns}})}});
  }
  static Value labels_of(const ExportedService& service) {
    return Value::object({{kExportNamespace, service.ns}, {kExportName, service.name}});
  }

  void read(const ObjectKey& key, const ExportedService& service) {
    const Value& request = state_.value_of(key);
    // What was collected ends with the request, or with what it is made for.
    if (deleting(request)) return;
    if (service.by == ExportedBy::kServiceExport && std::ranges::find(exported_, service) == exported_.end()) return;
    const auto reported = reported_slices(request);
    if (!reported) return;
    for (const Value& slice : reported->slices) {
      const std::string name = slice["metadata"]["name"].str();
      WantedSlice& wanted = wanted_[collected_key(cluster_, service.ns, name)];
      wanted.slice = slice;
      wanted.service = service.name;
      (service.by == ExportedBy::kServiceExport ? wanted.for_export : wanted.for_mcs) = true;
    }
  }

  const State& state_;
  const std::string& cluster_;
  std::map<ObjectKey, ExportedService> requests_;
  std::vector<ExportedService> exported_;
  std::vector<ObjectKey> collected_;
  std::map<ObjectKey, WantedSlice> wanted_;
};

}  // namespace

Result<Decided> decide_cluster(const State& state, const std::string& cluster, UtcMillis now) {
  if (!takes_works(state, cluster)) return Nothing{};  // its Works go with it
  const Space space{state, cluster};
  DecisionBuilder decision;
  const bool all = space.remove(decision) && space.put(now, decision);
  return all ? std::move(decision).build() : std::move(decision).build_and_look_again(now);
}

Result<Decided> decide_export(const State& state, const ObjectKey& key, UtcMillis now) {
  const Object* object = state.find(key);
  if (object == nullptr || deleting(object->value)) return Nothing{};
  std::string problems;
  for (const auto& [name, cluster] : state.clusters()) {
    const auto reported =
        reported_slices(state.value_of(request_key(name, {key.ns.str(), key.name.str(), ExportedBy::kServiceExport})));
    if (!reported || reported->problem.empty()) continue;
    problems += (problems.empty() ? "cluster " : "; cluster ") + name + ": " + reported->problem;
    if (problems.size() > 2000) break;
  }
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
