#pragma once

#include <string>
#include <vector>

#include "events/base/result.h"

namespace shiplog {

/// A new ECDSA P-256 key and a request for a certificate for it, both PEM.
struct NewRequest {
  std::string key_pem, request_pem;
};
/// Errors: kInvalid, a name that cannot stand in a certificate; kInternal, from OpenSSL.
Result<NewRequest> make_request(const std::string& common_name, const std::vector<std::string>& organizations);

}  // namespace shiplog
