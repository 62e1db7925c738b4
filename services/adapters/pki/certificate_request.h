#pragma once

#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/state/certificate_request.h"
#include "services/http/tls.h"

namespace shiplog {

/// Reads the PEM form and checks that its signature proves possession of the key. Error: kBadRequest.
Result<CertificateRequest> inspect_request(const std::string& request_pem);

/// A certificate for the subject, names and key of a request, PEM. `usages` in Kubernetes' words ("client auth",
/// "digital signature", ...). It never outlives its authority and is no authority itself.
/// Errors: kBadRequest, the request or the authority cannot be read; kInvalid, a usage that is not issued.
Result<std::string> sign_request(const KeyPair& authority, const std::string& request_pem,
                                 const std::vector<std::string>& usages, const Validity& validity);

}  // namespace shiplog
