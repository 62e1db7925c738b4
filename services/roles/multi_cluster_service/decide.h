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
/// The key of what a member reports of one Service.
ObjectKey collection_key(const std::string& cluster, std::string_view ns, std::string_view service);
/// The key of all slices that a cluster gets as a consumer.
ObjectKey consumer_key(const std::string& cluster);

/// What is to be done about one key in the present state. Pure.
///
///   a MultiClusterService      of type CrossCluster (5.7.1 to 5.7.9): the claim of its Service, the ResourceBinding of
///                              that, requests for the slices of its providers, and its conditions
///   a Cluster                  requests for the slices of Services that it exports (5.7.10)
///   collection_key()           Works that hold the slices a cluster has reported of a Service (5.7.6, 5.7.10), and
///                              which those are, as annotations of the request
///   slice_key()                the removal of such a Work; its slice in the consumers of its MultiClusterService
///                              (5.7.7), and as `imported-...` in the control plane, from where policies propagate it
///                              (5.7.10); what is in the way of these, as annotations of the Work
///   consumer_key()             slices of all MultiClusterServices in this cluster, which was not ready before
///   a ServiceImport            the Service `derived-...`
///   a ServiceExport            its condition EndpointSlicesCollected
///
/// - Owns: these Works, EndpointSlices and Services, what a MultiClusterService claims, and the status of
///   MultiClusterServices. What was made by others and has one of these names stays as it is; it is reported.
/// - Trigger: one of these objects, the status of a request, the readiness of a cluster.
/// - Costs: a report is read by its collection_key() alone, and not before the time until which the last one has used
///   up what its renderings may take.
/// - Failures: a Service, binding or Work of that name belongs to something else: a condition says so, or, of a
///   ServiceImport, the step fails. A cluster that is not ready keeps what it has. What a controller that is switched
///   off has made stays, until it belongs to nothing any more.
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now);

/// The controller is on, and its feature gate.
bool follows_services(const State& state);
/// follows_services(), and the type CrossCluster is among its types.
bool acts_across_clusters(const State& state, const Value& service);

}  // namespace shiplog::multi_cluster_service
