#include "services/programs/shiplogctl/fleet_servers.h"

#include <algorithm>
#include <set>

#include "services/http/http.h"
#include "services/programs/shiplogctl/join.h"
#include "services/programs/shiplogctl/printable_lines.h"

namespace shiplog::ctl {

std::string proxy_path(const std::string& cluster) {
  return std::string{kClusters} + "/" + percent_encode(cluster) + "/proxy";
}

FleetServer member_server(const ServerConnection& plane, const std::string& cluster) {
  return {cluster, false, plane.below("cluster " + cluster, proxy_path(cluster))};
}

Result<std::vector<FleetServer>> fleet_servers(ServerConnection& plane, const ClusterScope& scope) {
  std::vector<FleetServer> servers;
  if (scope.with_plane()) servers.push_back({kPlaneName, true, plane.below("the control plane", "")});
  if (!scope.with_members()) {
    if (!scope.clusters.empty()) {
      return Error{ErrorCode::kBadRequest,
                   "-C selects member clusters: it goes with --operation-scope members or all, not karmada"};
    }
    return servers;
  }
  SHIPLOG_TRY(const Value list, plane.get(kClusters));
  std::set<std::string> present;
  for (const Value& cluster : list["items"].items()) present.insert(cluster["metadata"]["name"].str());
  std::set<std::string> wanted{scope.clusters.begin(), scope.clusters.end()};
  std::string missing;
  for (const std::string& name : wanted) {
    if (!present.contains(name)) missing += (missing.empty() ? "" : ",") + name;
  }
  if (!missing.empty()) return Error{ErrorCode::kNotFound, "clusters don't exist: " + missing};
  if (wanted.empty()) wanted = present;
  if (wanted.empty()) return Error{ErrorCode::kNotFound, "No member Clusters found in Karmada control plane"};
  for (const std::string& name : wanted) servers.push_back(member_server(plane, name));
  return servers;
}

std::vector<std::string> names_of(const std::vector<FleetServer>& servers) {
  std::vector<std::string> names;
  names.reserve(servers.size());
  for (const FleetServer& server : servers) names.push_back(server.cluster);
  return names;
}

std::string cluster_error(const std::string& cluster, const std::string& why) {
  return "cluster(" + cluster + "): " + printable_lines(why);
}

}  // namespace shiplog::ctl
