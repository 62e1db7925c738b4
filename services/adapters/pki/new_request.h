#pragma once

#include <string>
#include <vector>

#include "events/base/result.h"

namespace shiplog {

/// A PKCS#10 request and the private key that it is for, both PEM.
struct NewRequest {
  std::string request_pem;
  std::string key_pem;
};

/// With a new ECDSA P-256 key. Errors: kInvalid, a name that cannot stand in a certificate; kInternal, from OpenSSL.
Result<NewRequest> new_request(const std::string& common_name, const std::vector<std::string>& organizations);

/// "sha256:" and the hash of the public key (SubjectPublicKeyInfo) of the first certificate, in hexadecimal digits: how
/// an authority is pinned (RFC 7469, kubeadm). Error: kBadRequest, no certificate.
Result<std::string> public_key_pin(const std::string& certificate_pem);

}  // namespace shiplog
