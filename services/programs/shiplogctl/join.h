#pragma once

#include <chrono>
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

/// Error: kAlreadyExists in upstream's words, one of the Clusters (a list) has this name or id.
Result<void> refuse_registered(const Value& clusters, const std::string& name, const std::string& id);

/// The Secret NAME: the credentials with which the control plane logs in to the member. `member`: the user's access to
/// it, of which only the CA is used.
Value credentials_secret(const JoinOptions& options, const ClientTarget& member, const IssuedToken& issued);
/// The Secret NAME-impersonator.
Value impersonator_secret(const JoinOptions& options, const IssuedToken& issued);
/// The Cluster object. `id` is the uid of the member's namespace kube-system.
Value cluster_object(const JoinOptions& options, const ClientTarget& member, const std::string& id);

/// Adds a member (Push): checks that it answers, refuses the control plane itself and a name or a cluster that is
/// already in the fleet, creates accounts in the member, and creates the namespace, Secrets and Cluster.
Result<void> join(ServerConnection& plane, ServerConnection& member, const JoinOptions& options, std::ostream& out,
                  std::ostream& progress);

struct UnjoinOptions {
  std::string name;
  std::string ns = "karmada-cluster";
  int64_t wait_seconds = 60;  ///< for the removal of the Cluster
  bool force = false;         ///< then remove the finalizers
  bool dry_run = false;
};

/// The bindings of a list that are placed on the cluster, and why they are not placed elsewhere; empty: none.
std::string bindings_on(const Value& bindings, const std::string& cluster);

/// The reason why a Cluster that is being deleted still exists, as far as the user may look: its Works, then the
/// bindings, then its other finalizers.
std::string what_holds(ServerConnection& plane, const Value& cluster);

/// Removes a member: deletes the Cluster, waits for its removal, then deletes its credentials in the control plane and
/// in the member. `member`: the user's access to it; nullptr: the control plane's credentials are used if they still
/// work.
Result<void> unjoin(ServerConnection& plane, ServerConnection* member, const UnjoinOptions& options, std::ostream& out,
                    std::ostream& progress);

struct RotateOptions {
  std::string name;
  std::string ns = "karmada-cluster";
  int64_t wait_seconds = 60;   ///< for the cluster to be ready with the new credentials
  int64_t grace_seconds = 10;  ///< during which both tokens are valid
};

/// Replaces the credentials of a member and revokes the old ones. `member` as for unjoin(). A member that was joined
/// with other credentials gets accounts for the control plane.
Result<void> rotate_credentials(ServerConnection& plane, ServerConnection* member, const RotateOptions& options,
                                std::ostream& out, std::ostream& progress);

// --- shared by the commands

inline constexpr const char* kClusters = "/apis/cluster.karmada.io/v1alpha1/clusters";
/// How often a command that waits asks again, and how often it reports what it waits for.
inline constexpr std::chrono::milliseconds kPoll{250};
inline constexpr std::chrono::seconds kReportEvery{5};

std::string secrets_of(const std::string& ns);
enum class SecretOwner {
  kNone,  ///< the Cluster is yet to be created
  kAny,
};
/// Creates a Secret, or replaces the data of the present one and keeps its owners. Error: kAlreadyExists, a Cluster
/// owns it that must not.
Result<void> put_secret(ServerConnection& plane, const Value& secret, SecretOwner owner);
/// Waits until the Cluster is Ready. Error: kTimeout, with `what` and the condition's message.
Result<void> wait_until_ready(ServerConnection& plane, const std::string& name, int64_t seconds,
                              const std::string& what, std::ostream& progress);
/// The control plane's access to a member; nullopt: its Secret does not exist or contains no credentials.
std::optional<ClientTarget> stored_target(ServerConnection& plane, const Value& cluster);
/// The token in the Secret to which the Cluster's reference ("secretRef") points; empty: none.
std::string stored_token(ServerConnection& plane, const Value& reference);

}  // namespace shiplog::ctl
