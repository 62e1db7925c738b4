#pragma once

#include <optional>

#include "services/api/context.h"

namespace shiplog::api {

inline constexpr const char* kCertificateRequests = "certificatesigningrequests.certificates.k8s.io";

/// What may not be done with a CertificateSigningRequest though the resource itself may be written (CSR-1, CSR-2,
/// ADM-1): to ask for an administrator's certificate, to approve or to sign without the permission for that signer.
/// `old`: null on create. nullopt: nothing, or this is about another kind.
std::optional<Error> refuse_certificate(const Server& server, const Context& context, const Value& old,
                                        const Value& object);

}  // namespace shiplog::api
