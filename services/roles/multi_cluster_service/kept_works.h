#pragma once

#include <string>
#include <string_view>

#include "events/decision.h"
#include "services/roles/exported_slices.h"
#include "services/roles/service_clusters.h"

// Works of the role multi-cluster-service, and what they are recognized by.

namespace shiplog::multi_cluster_service {

inline constexpr const char* kMcsName = "multiclusterservice.karmada.io/name";
inline constexpr const char* kMcsNamespace = "multiclusterservice.karmada.io/namespace";
inline constexpr const char* kMcsId = "multiclusterservice.karmada.io/permanent-id";
inline constexpr const char* kExportName = "endpointslice.karmada.io/name";
inline constexpr const char* kExportNamespace = "endpointslice.karmada.io/namespace";
/// Of a Work with a collected slice: "ServiceExport", "MultiClusterService", or both.
inline constexpr const char* kCollectedFor = "endpointslice.karmada.io/managed-by";
inline constexpr const char* kForExport = "ServiceExport";
inline constexpr const char* kForMcs = "MultiClusterService";
/// Annotation of a slice in a consumer, and of its Work: the provider.
inline constexpr const char* kProvider = "endpointslice.karmada.io/provision-cluster";
/// Names of slices are part of other names.
inline constexpr size_t kLongestName = 253;

/// The only manifest of the Work.
inline const Value& manifest_of(const Value& work) { return work["spec"]["workload"]["manifests"][0]; }
/// It holds a slice that was collected for that: "ServiceExport" or "MultiClusterService".
bool collected_for(const Value& work, std::string_view feature);

/// Where the Work with a collected slice lies.
ObjectKey collected_key(const std::string& cluster, std::string_view ns, std::string_view slice);
/// The name of a provider's slice in a consumer, and the Work that brings it there.
std::string dispatched_name(std::string_view provider, std::string_view slice);
ObjectKey dispatched_key(const std::string& consumer, std::string_view ns, const std::string& dispatched);

/// New Works can be put there: the cluster stays, and its execution space exists and stays too.
bool takes_works(const State& state, const std::string& cluster);

struct WorkForm {
  Value labels, annotations;  // of the Work, beside its permanent id
  bool kept = true;           // only_kept(), else dispatched
};
/// Puts the Work unless it is as it should be already. One that is being deleted is waited for. False: the decision is
/// full.
bool put_work(const State& state, const ObjectKey& key, Value manifest, WorkForm form, UtcMillis now,
              DecisionBuilder& decision);
bool delete_object(const State& state, const ObjectKey& key, DecisionBuilder& decision);

Result<Decided> decide_cluster(const State& state, const std::string& cluster, UtcMillis now);
Result<Decided> decide_slice(const State& state, const ObjectKey& key, UtcMillis now);
Result<Decided> decide_import(const State& state, const ObjectKey& key);
Result<Decided> decide_export(const State& state, const ObjectKey& key, UtcMillis now);

/// Makes the decision about the Service of a MultiClusterService and its binding. Empty: all is well; else why it is
/// not.
std::string propagate_service(const State& state, const ObjectKey& key, const Value& mcs, DecisionBuilder& decision);
void release_service(const State& state, const ObjectKey& key, DecisionBuilder& decision);

/// The other objects that have the names of slices of this cluster, for this MultiClusterService.
std::string slices_in_the_way(const State& state, const Value& mcs);

}  // namespace shiplog::multi_cluster_service
