#pragma once

#include <functional>
#include <memory>

#include "services/http/tls.h"
#include "services/runtime/role.h"

namespace shiplog {

/// The fleet's authority. Error: this process has none.
using Authority = std::function<Result<KeyPair>()>;

/// Role "signer": certificates for approved CertificateSigningRequests, and the end of those that are done with. Keys
/// are the requests. What it writes is an observation: a certificate has a random serial number.
std::unique_ptr<Role> make_signer_role(const Authority& authority);

}  // namespace shiplog
