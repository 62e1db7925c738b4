#pragma once

#include <string>
#include <vector>

namespace shiplog {

/// The names that a PKCS#10 request contains.
struct CertificateRequest {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names, ip_addresses, emails, uris;
};

}  // namespace shiplog
