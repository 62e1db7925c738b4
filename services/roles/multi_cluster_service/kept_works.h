#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
/// Annotations of a request: what was made of its report, so that others need not read that.
inline constexpr const char* kCollectedNames = "slices.shiplog.io/collected";  // separated by commas
inline constexpr const char* kCollectProblem = "slices.shiplog.io/problem";
/// Nothing that is reported is rendered before that time, in UTC milliseconds.
inline constexpr const char* kNotBefore = "slices.shiplog.io/not-before";
/// Annotations of a collected slice's Work: what is in its way in consumers, and in the control plane.
inline constexpr const char* kDispatchProblem = "slices.shiplog.io/dispatch-problem";
inline constexpr const char* kImportProblem = "slices.shiplog.io/import-problem";
/// What has the name of something else is looked at again: not all of it triggers a key when it is gone.
inline constexpr Millis kLookAtObstacle{30'000};
/// Names of slices are part of other names.
inline constexpr size_t kLongestName = 253;

/// The only manifest of the Work.
inline const Value& manifest_of(const Value& work) { return work["spec"]["workload"]["manifests"][0]; }
/// It holds a slice that was collected for that: "ServiceExport" or "MultiClusterService".
bool collected_for(const Value& work, std::string_view feature);

/// Where the Work with a collected slice lies.
ObjectKey collected_key(const std::string& cluster, std::string_view ns, std::string_view slice);
/// The Service it was collected for: the same one for both features.
std::string_view service_of_collected(const Value& work);
/// The slices that were collected for a request, sorted by name.
std::vector<std::string> collected_names(const Value& request);
/// One of the Service's two requests has it.
bool is_collected(const State& state, const std::string& cluster, const std::string& ns, std::string_view service,
                  std::string_view slice);
/// The problems of a request and of its slices: kDispatchProblem or kImportProblem.
void add_problems(const State& state, const std::string& cluster, const ExportedService& service, const char* of_slice,
                  std::string& problems);
/// Adds a sentence unless there are very many.
void add_problem(std::string& problems, std::string_view problem);

/// The name of a provider's slice in a consumer, and the Work that brings it there.
std::string dispatched_name(std::string_view provider, std::string_view slice);
ObjectKey dispatched_key(const std::string& consumer, std::string_view ns, const std::string& dispatched);

/// New Works can be put there: the cluster stays, and its execution space exists and stays too.
bool takes_works(const State& state, const std::string& cluster);

struct WorkForm {
  Value labels;       // of the Work, beside its permanent id
  Value annotations;  // the Work's others stay where these are null
  bool kept = true;   // only_kept(), else dispatched
};
/// Puts the Work unless it is as it should be already. One that is being deleted is waited for. False: the decision is
/// full.
bool put_work(const State& state, const ObjectKey& key, Value manifest, WorkForm form, UtcMillis now,
              DecisionBuilder& decision);
bool delete_object(const State& state, const ObjectKey& key, DecisionBuilder& decision);
/// Sets annotations of a Work, or erases those whose text is empty. False: the decision is full.
bool annotate(const State& state, const ObjectKey& key,
              std::initializer_list<std::pair<const char*, std::string>> texts, DecisionBuilder& decision);

Result<Decided> decide_cluster(const State& state, const std::string& cluster, UtcMillis now);
Result<Decided> decide_collection(const State& state, const ObjectKey& key, UtcMillis now);
Result<Decided> decide_slice(const State& state, const ObjectKey& key, UtcMillis now);
Result<Decided> decide_consumer(const State& state, const std::string& cluster, UtcMillis now);
Result<Decided> decide_import(const State& state, const ObjectKey& key);
Result<Decided> decide_export(const State& state, const ObjectKey& key, UtcMillis now);

/// Why a MultiClusterService may not, or cannot, propagate the Service of its name, and none of its slices. Empty: it
/// does.
std::string service_problem(const State& state, const ObjectKey& mcs);
/// Makes the decision about the Service, which has no service_problem(), and its binding. Empty: all is well; else why
/// it is not.
std::string propagate_service(const State& state, const ObjectKey& key, const Value& mcs, DecisionBuilder& decision);
void release_service(const State& state, const ObjectKey& key, DecisionBuilder& decision);

}  // namespace shiplog::multi_cluster_service
