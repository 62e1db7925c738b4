#pragma once

#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/time.h"
#include "services/programs/shiplogctl/connection.h"

namespace shiplog::ctl {

/// The name of the control plane in the column CLUSTER.
inline constexpr const char* kPlaneName = "Karmada";

/// Which servers a command asks.
struct ClusterScope {
  std::string scope;                  ///< "karmada", "members", "all"; empty: members if clusters are named
  std::vector<std::string> clusters;  ///< none: all
  int64_t timeout_seconds = 10;       ///< for all requests to one cluster

  bool with_plane() const { return scope == "all" || scope == "karmada" || (scope.empty() && clusters.empty()); }
  bool with_members() const { return scope == "all" || scope == "members" || (scope.empty() && !clusters.empty()); }
};

/// The control plane, or a member behind its proxy.
struct FleetServer {
  std::string cluster;  ///< kPlaneName, or the member's name
  bool is_plane = false;
  ServerConnection connection;
};

/// The path of a member's proxy.
std::string proxy_path(const std::string& cluster);
/// A member through the proxy of the control plane.
FleetServer member_server(const ServerConnection& plane, const std::string& cluster);

/// The control plane first, then the members by name. Errors: kBadRequest, the scope does not fit the clusters;
/// kNotFound, "clusters don't exist: a,b", or there are no members.
Result<std::vector<FleetServer>> fleet_servers(ServerConnection& plane, const ClusterScope& scope);

/// The names of the servers.
std::vector<std::string> names_of(const std::vector<FleetServer>& servers);

/// "cluster(NAME): why", as Karmada's command line reports it.
std::string cluster_error(const std::string& cluster, const std::string& why);

}  // namespace shiplog::ctl
