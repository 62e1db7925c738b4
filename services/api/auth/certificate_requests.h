#pragma once

#include <optional>
#include <string>

#include "services/api/auth/access.h"

namespace shiplog::api {

inline constexpr const char* kCertificateRequests = "certificatesigningrequests.certificates.k8s.io";

/// What may not be done with a CertificateSigningRequest though the resource itself may be written (CSR-1, CSR-2,
/// ADM-1): to request an administrator's certificate, to approve or to sign without the permission for that signer.
/// `object` is a CertificateSigningRequest, `old` is null on create. nullopt: the write is allowed.
std::optional<Error> refuse_certificate(const Access* access, const User& user, const std::string& subresource,
                                        const Value& old, const Value& object);

}  // namespace shiplog::api
