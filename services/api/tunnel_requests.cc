#include "services/api/tunnel_requests.h"

#include <utility>

#include "services/adapters/members/member_tunnels.h"
#include "services/api/auth/rbac/tunnel_access.h"
#include "services/api/pipeline/responses.h"
#include "services/http/tunnel.h"

namespace shiplog::api {
namespace {

Result<void> check_cluster(const Server& server, const std::string& cluster) {
  const auto found = server.objects.find({type::kCluster, "", cluster});
  if (!found) return found.error();
  if (found.value().is_null()) return Error{ErrorCode::kNotFound, "there is no cluster " + cluster};
  if (found.value()["spec"]["syncMode"].as_string() == "Pull") return ok();
  return Error{ErrorCode::kConflict, "cluster " + cluster + " is not a pull member: it is connected to directly"};
}

}  // namespace

void serve_tunnel_request(const ServerPtr& server, const RequestContextPtr& context) {
  const std::string cluster = tunnel_of(context->request.path).value_or("");
  MemberTunnels* tunnels = server->options.tunnels;
  if (tunnels == nullptr || cluster.empty()) {
    return fail(*context, Error{ErrorCode::kNotFound, "there is nothing at " + context->request.path});
  }
  if (!equal_ignoring_case(context->request.headers.get("Upgrade"), kTunnelProtocol)) {
    return fail(*context, Error{ErrorCode::kBadRequest,
                                "a tunnel is opened by a request with the headers Connection: "
                                "Upgrade and Upgrade: " +
                                    std::string{kTunnelProtocol}});
  }
  if (const auto room = tunnels->check(cluster); !room) return fail(*context, room.error());
  when_current(server, context, [server, context, tunnels, cluster] {
    if (const auto known = check_cluster(*server, cluster); !known) return fail(*context, known.error());
    HttpHeaders headers{{"Upgrade", kTunnelProtocol}};
    // Behind one address there may be several servers: the agent opens tunnels to each.
    if (server->options.process) headers.add("Shiplog-Server", server->options.process().identity);
    context->writer->upgrade(std::move(headers), [tunnels, cluster](Result<std::shared_ptr<ByteStream>> stream) {
      if (stream) tunnels->offer(cluster, std::move(stream).value());
    });
  });
}

}  // namespace shiplog::api
