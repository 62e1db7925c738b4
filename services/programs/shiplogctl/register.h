#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "events/base/random.h"
#include "events/base/result.h"
#include "events/base/value.h"
#include "services/programs/shiplogctl/connection.h"
#include "services/programs/shiplogctl/token.h"

// Clusters whose agent connects to the control plane (Pull mode; 1.7, 1.10).
namespace shiplog::ctl {

inline constexpr const char* kAgentName = "karmada-agent";
inline constexpr const char* kAgentAccount = "karmada-agent-sa";
inline constexpr const char* kAgentKubeconfig = "karmada-kubeconfig";  ///< a Secret of the member, and its key

struct RegisterOptions {
  std::string endpoint;  ///< HOST:PORT of the control plane
  std::string token = {};
  std::vector<std::string> ca_pins = {};  ///< "sha256:HEX"
  bool unsafe_without_pins = false;
  int64_t discovery_seconds = 300;
  std::string name = {};
  std::string ns = "karmada-system";           ///< of the agent, in the member
  std::string cluster_ns = "karmada-cluster";  ///< of the cluster's Secrets and Lease, in the control plane
  std::string provider = {}, region = {};
  std::vector<std::string> zones = {};
  std::string proxy_address = {};
  std::string image = {};  ///< of the agent; empty: no Deployment, the command line is printed
  int64_t replicas = 1;
  bool rotates_certificate = false;
  int64_t certificate_seconds = 31'536'000;
  std::string kubeconfig_out = {};  ///< the agent's access to the control plane, for an agent that runs outside
  bool renews = false;              ///< the cluster is registered: its agent gets a new certificate, nothing else
  bool dry_run = false;
};

/// Errors of the command line, in upstream's words.
Result<void> check_register_options(const RegisterOptions& options);

/// Registers a cluster: finds the control plane by the token, makes the roles of the agent there, gets it a
/// certificate, and puts the agent into the member. What was made is removed again when a later step fails. A renewal
/// waits until an administrator has approved the certificate, as the token alone does not suffice for a registered
/// cluster.
Result<void> register_cluster_pull(ServerConnection& member, const std::string& member_kubeconfig,
                                   const RegisterOptions& options, Random& random, std::ostream& out,
                                   std::ostream& progress);

struct UnregisterOptions {
  std::string name;
  std::string ns = "karmada-system";
  std::string cluster_ns = "karmada-cluster";
  std::string agent = kAgentName;
  int64_t wait_seconds = 60;
  bool dry_run = false;
};

/// Deletes the cluster's Works, its Cluster, the roles of its agent if `as_administrator`, and the agent in the member.
/// Without a Cluster it deletes what else a registration has left. Errors: kNotFound, there is nothing of this name.
Result<void> unregister(ServerConnection& plane, ServerConnection& member, bool as_administrator,
                        const UnregisterOptions& options, std::ostream& out, std::ostream& progress);

/// The access of the agent to the control plane, from the Deployment `agent` of the member or its Secret.
Result<ClientTarget> agent_access(ServerConnection& member, const UnregisterOptions& options);

// --- the parts, for tests

/// The kubeconfig in cluster-info, if a signature by the token proves it. Errors: kNotFound, not signed for this token
/// (yet); kForbidden, signed with another secret; kInvalid.
Result<ClientTarget> discovered(const Value& cluster_info, const BootstrapToken& token);
/// The roles of the agent and their bindings: {collection, object}, in the order in which they are made.
std::vector<std::pair<std::string, Value>> agent_roles(const std::string& cluster, const std::string& cluster_ns);
/// The objects of the agent in the member, in the order in which they are made.
std::vector<std::pair<std::string, Value>> agent_objects(const RegisterOptions& options, const std::string& kubeconfig,
                                                         const std::string& member_url);
/// The path of such an object.
std::string path_of(const std::pair<std::string, Value>& object);
/// Whether the Secret of a member has the access of this cluster's agent to the control plane.
bool is_access_of(const Value& secret, const std::string& cluster);
/// What a person runs when there is no image.
std::string agent_command(const RegisterOptions& options, const std::string& member_kubeconfig);

}  // namespace shiplog::ctl
