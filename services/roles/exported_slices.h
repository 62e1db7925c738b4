#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/value.h"
#include "events/state/work.h"

// EndpointSlices of members: what the collector reports of them, and the role multi-cluster-service makes of that.
// A Work that is only kept, not dispatched, names a Service whose slices are wanted from its cluster: its status has
// them. Such a Work is a *request* here.

namespace shiplog {

namespace type {
inline constexpr const char* kEndpointSlice = "endpointslices.discovery.k8s.io";
inline constexpr const char* kMultiClusterService = "multiclusterservices.networking.karmada.io";
inline constexpr const char* kServiceExport = "serviceexports.multicluster.x-k8s.io";
inline constexpr const char* kServiceImport = "serviceimports.multicluster.x-k8s.io";
}  // namespace type

namespace label {
inline constexpr const char* kServiceName = "kubernetes.io/service-name";
inline constexpr const char* kSliceManagedBy = "endpointslice.kubernetes.io/managed-by";
}  // namespace label

/// Values of kSliceManagedBy of slices that come from the control plane: they are not collected again.
inline constexpr const char* kDispatchedSlices = "endpointslice-dispatch-controller.karmada.io";
inline constexpr const char* kImportedSlices = "endpointslice-controller.karmada.io";

/// Limits of what one member reports: a cluster that reports more serves with what is within them.
inline constexpr size_t kMostSlicesOfService = 100;
inline constexpr size_t kMostSliceBytes = size_t{256} << 10U;
inline constexpr size_t kMostServiceBytes = size_t{512} << 10U;
inline constexpr size_t kMostEndpoints = 1000;

/// Kept in the control plane and never sent to the member: suspended, and without the dispatcher's finalizer.
inline bool only_kept(const Value& work) {
  return work["spec"]["suspendDispatching"].as_bool() && !has_finalizer(work, finalizer::kWork);
}

enum class ExportedBy { kServiceExport, kMultiClusterService };

/// The Service whose slices a request is for.
struct ExportedService {
  std::string ns, name;
  ExportedBy by = ExportedBy::kServiceExport;
  bool operator==(const ExportedService&) const = default;
};
/// nullopt: the Work is no request.
std::optional<ExportedService> exported_service(const Value& work);

/// The Works that are requests. `cluster`: of the member.
ObjectKey request_key(const std::string& cluster, const ExportedService& service);

/// A slice as it is stored and sent on: name, namespace, its two labels, addresses and ports; nothing else of the
/// member's object. Error: kInvalid, naming the field: it is not of the Service, an API server would refuse it, or it
/// has an address that may not be an endpoint (loopback, link-local, multicast, unspecified).
/// Source: ValidateEndpointSlice of Kubernetes 1.34, with its limits of 100 addresses and 20,000 ports.
Result<Value> usable_slice(const Value& raw, const std::string& ns, const std::string& service);
/// It has come from the control plane.
bool brought_by_control_plane(const Value& slice);

/// A slice of a member that was checked, once: usable, with the size of its JSON; or why it is not.
struct CheckedSlice {
  Value slice;
  size_t bytes = 0;
  std::string problem;
};
CheckedSlice checked_slice(const Value& raw, const std::string& ns, const std::string& service);
/// By name.
using CheckedSlices = std::map<std::string, CheckedSlice>;

/// What the member has for a request.
struct CollectedSlices {
  std::vector<Value> slices;  ///< usable ones, sorted by name, each name once
  std::string problem;        ///< why some are missing; empty: none is
};
/// Those of one Service that are within the limits.
CollectedSlices within_limits(const CheckedSlices& checked);
/// From the slices of the member's API, in any order.
CollectedSlices collected_slices(const std::vector<Value>& raw, const ExportedService& service);
/// From the status of the request, which the member's agent may have written: it is checked as the member's objects
/// are. nullopt: nothing has been reported yet.
std::optional<CollectedSlices> reported_slices(const Value& request);
/// The same as status.manifestStatuses of the request.
Value statuses_of_slices(const Value& request, const CollectedSlices& collected);

}  // namespace shiplog
