#pragma once

#include <functional>
#include <optional>
#include <string>

#include "events/decision.h"
#include "events/state/certificate_request.h"

namespace shiplog::signer {

inline constexpr const char* kRequests = "certificatesigningrequests.certificates.k8s.io";

/// X.509, for which decide() needs a key and random numbers: arguments, as everything that does not follow from the
/// state.
struct CertificateAuthority {
  /// When the certificate that was issued for the request expires; nullopt: there is none.
  std::function<std::optional<UtcMillis>(const Value& request)> expiry;
  /// The request with a certificate, or with the condition Failed. Error: the authority's key cannot be used.
  std::function<Result<Value>(const Value& request, UtcMillis now)> sign;
};

/// Reconciles one CertificateSigningRequest (CSR-3, CSR-4). Approved requests for one of the signers that are served
/// are signed; no other decision than signing depends on `authority`. What is done with is removed: issued, approved,
/// denied or failed for an hour, pending for a day, or when its certificate has expired.
///
/// - Owns: the certificate or condition Failed of approved requests, and the end of all requests.
/// - Trigger: a request changes, and time.
/// - Failures: the process has no authority, or its key cannot be used: retried.
///
///   pending ──approved──► issued or failed ──an hour──► removed
///      └─────denied, or a day───────────────────────────┘
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now, const CertificateAuthority& authority);

/// What the signer named in spec.signerName has against the request; nullopt: nothing.
/// Source: the Kubernetes documentation of its signers.
std::optional<std::string> signer_problem(const Value& spec, const CertificateRequest& request);

}  // namespace shiplog::signer
