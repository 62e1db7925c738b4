#pragma once

#include <string>

#include "events/base/result.h"
#include "events/base/value.h"
#include "services/programs/shiplogctl/connection.h"

namespace shiplog::ctl {

// The objects that a control plane needs in a member, and its credentials there. Names and permissions are those of
// upstream's join (CL-11), so that either tool can remove a member. No function puts a token into an error.

inline constexpr const char* kImpersonator = "karmada-impersonator";

std::string account_of(const std::string& cluster);  ///< "karmada-NAME"
std::string role_of(const std::string& cluster);     ///< "karmada-controller-manager:karmada-NAME"

/// Creates or completes ClusterRole, namespace, ServiceAccounts and ClusterRoleBinding in the member. The role owns the
/// other objects: deleting it revokes all access.
Result<void> grant_access(ServerConnection& member, const std::string& cluster, const std::string& ns);

/// A ServiceAccount token that is valid until its Secret is deleted.
struct IssuedToken {
  std::string secret;  ///< name of the Secret in the member
  std::string token;
  std::string ca_pem;  ///< the CA of the member's API server
};
/// Creates a Secret for the account and waits up to 30 s for its token. Error: kTimeout, no token was issued.
Result<IssuedToken> issue_token(ServerConnection& member, const std::string& ns, const std::string& account);
/// Deletes the Secret of a token; a missing Secret is not an error.
Result<void> revoke_token(ServerConnection& member, const std::string& ns, const std::string& secret);
/// The Secret in the member that contains this token; empty: it is not a token of this type.
std::string secret_of_token(const std::string& token);

/// Deletes the objects that grant_access() and issue_token() created, and those of the same names that an agent or
/// another tool created. While the namespace contains the account of another control plane, the namespace and the
/// impersonator are kept; with other Secrets in it, or if no tool created it, the namespace is. The role is deleted
/// last, as it grants the permission to do this: it becomes the owner of the others, which are removed with it.
Result<void> withdraw_access(ServerConnection& member, const std::string& cluster, const std::string& ns,
                             const std::string& impersonator_secret);

/// Creates the namespace with upstream's system label, unless it exists.
Result<void> ensure_namespace(ServerConnection& server, const std::string& ns);

}  // namespace shiplog::ctl
