#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "events/state/state.h"

namespace shiplog::api {

/// What an APIService with a Service specifies: the group and version that another server answers for, and how that
/// server is reached and trusted.
struct AggregatedApi {
  std::string name;  ///< of the APIService: "v1beta1.metrics.k8s.io"
  std::string group;
  std::string version;
  ObjectKey service;
  int64_t port = 443;
  std::string ca_pem;  ///< empty: the system's authorities
  bool insecure = false;
  int64_t group_priority = 0;
  int64_t version_priority = 0;
  std::string problem;  ///< why it cannot be used, whatever its Service is; empty: it can
  bool operator==(const AggregatedApi&) const = default;
};

/// nullopt: it names no Service. Pure.
std::optional<AggregatedApi> aggregated_api(const Value& api_service);

/// Where a Service is reached from this process, which is in no cluster's network.
struct ServerAddresses {
  std::vector<std::string> hosts;  ///< "10.0.0.7:8443", "search.example.com:443"; never empty where `reason` is
  std::string reason;              ///< kube-aggregator's word for what is missing; empty: there are hosts
  std::string message;
  bool operator==(const ServerAddresses&) const = default;
};

/// The Service's external name, or the ready addresses that its EndpointSlices or Endpoints list for the port. A
/// cluster IP leads nowhere here: this control plane has no nodes. Pure.
ServerAddresses addresses_of(const State& state, const AggregatedApi& api);

/// The change of this object may change what addresses_of() returns.
bool concerns(const AggregatedApi& api, const ObjectKey& changed, const Value& object);

}  // namespace shiplog::api
