#pragma once

#include <optional>
#include <string>

#include "events/base/time.h"
#include "events/base/value.h"
#include "events/state/certificate_request.h"

namespace shiplog::signer {

inline constexpr const char* kRequests = "certificatesigningrequests.certificates.k8s.io";

/// What a CertificateSigningRequest asks for next (CSR-3, CSR-4).
struct Step {
  enum class What { kWait, kSign, kRemove };
  What what = What::kWait;
  Millis again{0};  ///< kWait: look again after so long; 0: only when it changes
  std::string why;  ///< kRemove
};
/// Approved requests for one of the signers that are served are signed. What is done with is removed: issued, approved,
/// denied or failed for an hour, pending for a day, or when its certificate has expired (`expires`, if there is one).
Step next_step(const Value& request, std::optional<UtcMillis> expires, UtcMillis now);

/// What the signer named in spec.signerName has against the request; nullopt: nothing.
/// Source: the Kubernetes documentation of its signers.
std::optional<std::string> signer_problem(const Value& spec, const CertificateRequest& request);

}  // namespace shiplog::signer
