#pragma once

#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"
#include "services/programs/shiplogctl/connection.h"
#include "services/programs/shiplogctl/member_access.h"

namespace shiplog::ctl {

struct JoinOptions {
  std::string name;
  std::string ns = "karmada-cluster";  ///< of the credentials, in the control plane and in the member
  std::string provider = {};
  std::string region = {};
  std::vector<std::string> zones = {};
  bool dry_run = false;
  int64_t wait_seconds = 60;  ///< for the cluster to become ready; 0: does not wait
};

/// Error: kInvalid, not a DNS label of at most 48 characters.
Result<void> check_cluster_name(const std::string& name);

/// The Secret NAME: what the control plane logs in to the member with. `member` is the user's way to it, of which only
/// the authority is kept.
Value credentials_secret(const JoinOptions& options, const ClientTarget& member, const IssuedToken& issued);
/// The Secret NAME-impersonator.
Value impersonator_secret(const JoinOptions& options, const IssuedToken& issued);
/// The Cluster object. `id` is the uid of the member's namespace kube-system.
Value cluster_object(const JoinOptions& options, const ClientTarget& member, const std::string& id);

/// Adds a member (Push): checks that it answers, refuses the control plane itself and a name or a cluster that is in
/// the fleet already, creates accounts in the member, and writes namespace, Secrets and Cluster.
Result<void> join(Connection& plane, Connection& member, const JoinOptions& options, std::ostream& out,
                  std::ostream& progress);

struct UnjoinOptions {
  std::string name;
  std::string ns = "karmada-cluster";
  int64_t wait_seconds = 60;  ///< for the Cluster to be gone
  bool force = false;         ///< then take the finalizers away
  bool dry_run = false;
};

/// Which bindings of a list are placed on the cluster, and why they are placed nowhere else; empty: none.
std::string bindings_on(const Value& bindings, const std::string& cluster);

/// Takes a member out: deletes the Cluster, waits until it is gone, then deletes its credentials here and there.
/// `member`: the user's way to it; nullptr: by what the control plane logged in with, as far as that still works.
Result<void> unjoin(Connection& plane, Connection* member, const UnjoinOptions& options, std::ostream& out,
                    std::ostream& progress);

struct RotateOptions {
  std::string name;
  std::string ns = "karmada-cluster";
  int64_t wait_seconds = 60;   ///< for the cluster to be ready with the new credentials
  int64_t grace_seconds = 10;  ///< for which both tokens are valid
};

/// Replaces the credentials of a member by new ones and revokes the old. `member` as for unjoin(). A member that was
/// joined with other credentials gets accounts of the control plane's own.
Result<void> rotate_credentials(Connection& plane, Connection* member, const RotateOptions& options, std::ostream& out,
                                std::ostream& progress);

// --- shared by the commands

inline constexpr const char* kClusters = "/apis/cluster.karmada.io/v1alpha1/clusters";

std::string secrets_of(const std::string& ns);
/// Creates a Secret, or replaces the data of the present one and keeps its owners.
Result<void> put_secret(Connection& plane, const Value& secret);
/// Waits until the Cluster is Ready. Error: kTimeout, with `what` in front and the condition's words.
Result<void> wait_until_ready(Connection& plane, const std::string& name, int64_t seconds, const std::string& what,
                              std::ostream& progress);
/// How the control plane logs in to a member; nullopt: its Secret is gone or holds nothing to log in with.
std::optional<ClientTarget> stored_target(Connection& plane, const Value& cluster);
/// The token of the Secret that a reference of the Cluster names ("secretRef"); empty: none.
std::string stored_token(Connection& plane, const Value& reference);

}  // namespace shiplog::ctl
