#pragma once

#include <string>
#include <utility>
#include <vector>

namespace shiplog {

/// Where an API server is and how to talk to it: what a kubeconfig's context specifies.
struct ClientTarget {
  std::string url = {};              ///< "https://10.0.0.1:6443", with a path prefix if need be; "http://..." is plain
  std::string ca_pem = {};           ///< authorities of the server's certificate; empty: the system's authorities
  std::string certificate_pem = {};  ///< our client certificate (with its chain) and key; both or neither
  std::string key_pem = {};
  std::string bearer_token = {};
  bool insecure = false;         ///< do not verify the server's certificate
  std::string server_name = {};  ///< the name to expect in the certificate; empty: the url's host
  bool tls13 = false;            ///< nothing older than TLS 1.3; else TLS 1.2 and newer

  /// The proxy that connections are made through, "http://proxy:3128", "https://..." or "socks5://..." (also socks5h),
  /// which may contain user and password; empty: none. It resolves the url's host. Of an https proxy the certificate
  /// is verified like the server's, by `ca_pem` or not at all.
  std::string proxy_url = {};
  std::vector<std::pair<std::string, std::string>> proxy_headers = {};  ///< of the CONNECT request to an HTTP proxy
};

}  // namespace shiplog
