#pragma once

#include <string>
#include <string_view>

#include "events/base/result.h"
#include "services/http/http.h"

// Which request a path below clusters/NAME/proxy stands for. Pure.
namespace shiplog::api {

/// The name that stands for all clusters.
inline constexpr std::string_view kAllClusters = "*";

/// A request to a member.
struct ProxiedRequest {
  std::string cluster;   ///< kAllClusters: all of them
  std::string path;      ///< in the member, decoded: "/api/v1/pods"
  std::string target;    ///< the same as it is sent, with the query: "/api/v1/pods?limit=5"
  std::string protocol;  ///< the connection is to be upgraded to: "SPDY/3.1", "websocket"; empty: it is not
  bool streams = false;  ///< it may run as long as it likes: watch, logs that are followed, an upgrade, ...
  bool changes = false;  ///< it may change something in the member: an audit entry is due
};

/// The protocol that the connection of a request is to be upgraded to, as ProxiedRequest::protocol.
std::string upgrade_protocol(const HttpRequest& request);

/// Whether the (decoded) path of a request is one below clusters/NAME/proxy.
bool is_proxied(std::string_view path);

/// ProxiedRequest::streams; false if the request is refused anyway.
bool is_proxied_stream(const HttpRequest& request);

/// Of a request whose path is_proxied(). Error: kBadRequest, the path could be read in more than one way (segments "."
/// and "..", slashes that are escaped, escapes before "proxy"); kMethodNotAllowed.
Result<ProxiedRequest> proxied_request(const HttpRequest& request);

}  // namespace shiplog::api
