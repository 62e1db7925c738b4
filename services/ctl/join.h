#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"
#include "services/ctl/connection.h"

namespace shiplog::ctl {

struct JoinOptions {
  std::string name;
  std::string ns = "karmada-cluster";  ///< where the member's credentials are kept
  std::string provider = {};
  std::string region = {};
  std::vector<std::string> zones = {};
  bool dry_run = false;
  int64_t wait_seconds = 60;  ///< for the cluster to become ready; 0: does not wait
};

/// Error: kInvalid, not a DNS label of at most 48 characters.
Result<void> check_cluster_name(const std::string& name);

/// The Secret with what the control plane logs in to the member with. Error: kInvalid, `member` has no credentials.
Result<Value> credentials_secret(const JoinOptions& options, const ClientTarget& member);
/// The Cluster object. `id` is the uid of the member's namespace kube-system.
Value cluster_object(const JoinOptions& options, const ClientTarget& member, const std::string& id);

/// Adds a member (Push): checks that it answers, refuses a name or a cluster that is in the fleet already, and writes
/// namespace, Secret and Cluster.
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

/// Takes a member out: deletes the Cluster, waits until it is gone, then deletes its credentials.
Result<void> unjoin(Connection& plane, const UnjoinOptions& options, std::ostream& out, std::ostream& progress);

}  // namespace shiplog::ctl
