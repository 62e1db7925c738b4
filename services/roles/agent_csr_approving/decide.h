#pragma once

#include <functional>
#include <optional>
#include <string>

#include "events/decision.h"
#include "events/state/certificate_request.h"

namespace shiplog::agent_csr_approving {

inline constexpr const char* kRequests = "certificatesigningrequests.certificates.k8s.io";

/// The names in a PKCS#10 request, PEM; nullopt: it is none, or is not signed with its own key.
using ReadRequest = std::function<std::optional<CertificateRequest>(const std::string& pem)>;

/// Approves one CertificateSigningRequest for the certificate of a Pull cluster's agent (1.8). Pure. Any other request
/// is left pending for an administrator; none is ever denied.
///
/// - Owns: the condition Approved with the reason AutoApproved.
/// - Trigger: the request changes; while it is pending, also a ClusterRole or ClusterRoleBinding.
/// - Failures: none of its own. Refused when the request has moved on: it is decided again.
///
/// Approved is, if it is about nothing but the name and group of an agent (or of the RBAC generator):
/// - the request of the agent itself for its next certificate, if its roles permit selfclusteragent and its Cluster is
///   there: a cluster that was unregistered does not renew its identity;
/// - a request of another user whose roles permit clusteragent, such as with a bootstrap token that is still there, if
///   no Cluster of that name is: the identity of a cluster that is there is given to its own agent alone.
///
/// Roles are those in the state: the answer of an authorization webhook could not be repeated by a replay.
Result<Decided> decide(const State& state, const ObjectKey& key, UtcMillis now, const ReadRequest& read);

/// Whether decide() may still approve it, judged without reading it.
bool pending(const Value& request);

}  // namespace shiplog::agent_csr_approving
