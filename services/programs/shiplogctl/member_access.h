#pragma once

#include <string>

#include "events/base/result.h"
#include "events/base/value.h"
#include "services/programs/shiplogctl/connection.h"

namespace shiplog::ctl {

// What a control plane needs in a member, and what it logs in there with. Names and rights are those of upstream's
// join (CL-11), so that either tool can take a member out again. No function puts a token into an error.

inline constexpr const char* kImpersonator = "karmada-impersonator";

std::string account_of(const std::string& cluster);  ///< "karmada-NAME"
std::string role_of(const std::string& cluster);     ///< "karmada-controller-manager:karmada-NAME"

/// Creates or completes ClusterRole, namespace, ServiceAccounts and ClusterRoleBinding in the member. The role owns the
/// others: deleting it withdraws everything.
Result<void> grant_access(Connection& member, const std::string& cluster, const std::string& ns);

/// A token of a ServiceAccount that ends when its Secret is deleted.
struct IssuedToken {
  std::string secret;  ///< name of the Secret in the member
  std::string token;
  std::string ca_pem;  ///< the authority of the member's API server
};
/// Makes another Secret for the account and waits up to 30 s for its token. Error: kTimeout, no token came.
Result<IssuedToken> issue_token(Connection& member, const std::string& ns, const std::string& account);
/// Deletes the Secret that carries a token; one that is gone is fine.
Result<void> revoke_token(Connection& member, const std::string& ns, const std::string& secret);
/// The Secret in the member that carries this token; empty: it is no token of this kind.
std::string secret_of_token(const std::string& token);

/// Deletes what grant_access() and issue_token() made. While the namespace holds the account of another control plane,
/// the namespace and the impersonator stay. The role goes last, as it gives the right to do all this.
Result<void> withdraw_access(Connection& member, const std::string& cluster, const std::string& ns,
                             const std::string& impersonator_secret);

/// Creates the namespace with upstream's system label, unless it exists.
Result<void> ensure_namespace(Connection& server, const std::string& ns);

}  // namespace shiplog::ctl
