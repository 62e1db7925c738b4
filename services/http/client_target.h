#pragma once

#include <string>

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
};

}  // namespace shiplog
