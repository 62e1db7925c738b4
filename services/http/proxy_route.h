#pragma once

#include <functional>
#include <memory>
#include <string>

#include "events/base/result.h"
#include "services/http/client_target.h"
#include "services/http/http.h"
#include "services/http/transport.h"

/// Connections through a proxy: HTTP CONNECT (RFC 9110, 9.3.6) and SOCKS 5 (RFC 1928, 1929). Internal to services/http.
namespace shiplog {

/// A proxy and how to talk to it.
struct ProxyRoute {
  enum class Kind { kHttp, kSocks5 };

  Kind kind = Kind::kHttp;
  std::string name;  ///< for errors: "proxy http://host:port", without user and password
  std::string host;
  std::string port;
  std::string user;
  std::string password;
  net::TlsContext tls;  ///< of an https proxy; nullptr: plain
  bool insecure = false;
  HttpHeaders headers;  ///< of the CONNECT request
};

/// nullptr: the target names no proxy. Error: kBadRequest, its URL or a header cannot be used.
Result<std::shared_ptr<const ProxyRoute>> proxy_route_of(const ClientTarget& target);

/// Where the proxy is to connect to. An address in `denied` is refused, as is a proxy in one of them; names are
/// resolved by the proxy.
struct ProxyDestination {
  std::string host;
  std::string port;
  std::shared_ptr<const Networks> denied;
};

/// Connects the transport to the proxy and, through it, to the destination. `keep` owns the transport. Errors of
/// `done`: kUnavailable, naming the proxy; kForbidden. Call on the strand.
void connect_through(const ProxyRoute& proxy, net::Transport& transport, ProxyDestination destination,
                     std::shared_ptr<void> keep, net::Transport::Done done);

}  // namespace shiplog
