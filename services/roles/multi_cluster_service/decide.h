#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/decision.h"
#include "services/roles/exported_slices.h"

namespace shiplog::multi_cluster_service {

/// Of --controllers. The first needs the feature gate MultiClusterService, too.
inline constexpr const char* kMultiClusterServiceController = "multiclusterservice";
inline constexpr const char* kServiceExportController = "serviceExport";
inline constexpr const char* kServiceImportController = "serviceImport";

inline constexpr const char* kServiceApplied = "ServiceApplied";
inline constexpr const char* kSlicesDispatched = "EndpointSliceDispatched";
/// Of a ServiceExport, while EndpointSlices of it are missing: False, with the cause.
inline constexpr const char* kSlicesCollected = "EndpointSlicesCollected";

/// The key of one EndpointSlice of a member, whether it is there or not: what becomes of it in the control plane and in
/// other members. The collected slice's own Work has no such name.
ObjectKey slice_key(const std::string& cluster, std::string_view ns, std::string_view slice);

/// What is to be done about one key in the present state. Pure.
///
///   a MultiClusterService      of type CrossCluster (5.7.1 to 5.7.9): the claim of its Service, the ResourceBinding of
///                              that, requests for the slices of its providers, and its conditions
///   a Cluster                  requests for the slices of Services that it exports; Works that hold the slices it
///                              has reported (5.7.6, 5.7.10)
///   slice_key()                that slice in the consumers of its MultiClusterService (5.7.7), and as
///                              `imported-...` in the control plane, from where policies propagate it (5.7.10)
///   a ServiceImport            the Service `derived-...`
///   a ServiceExport            its condition EndpointSlicesCollected
///
/// - Owns: these Works, EndpointSlices and Services, what a MultiClusterService claims, and the status of
///   MultiClusterServices. What was made by others and has one of these names stays as it is; it is reported.
/// - Trigger: one of these objects, the status of a request, the readiness of a cluster.
/// - Failures: a Service, binding or Work of that name belongs to something else: a condition says so, or, of a
///   ServiceImport, the step fails. A cluster that is not ready keeps what it has.
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

/// The type CrossCluster is among its types, and the feature gate is on.
bool acts_across_clusters(const State& state, const Value& service);

}  // namespace shiplog::multi_cluster_service
