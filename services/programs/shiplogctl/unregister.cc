#include <chrono>
#include <cstdint>
#include <ostream>
#include <thread>

#include "events/base/base64.h"
#include "events/base/yaml.h"
#include "events/state/agent_identity.h"
#include "events/state/work.h"
#include "services/programs/shiplogctl/join.h"
#include "services/programs/shiplogctl/register.h"

namespace shiplog::ctl {
namespace {

using Steady = std::chrono::steady_clock;

Result<void> remove_if_there(ServerConnection& server, const std::string& path) {
  const auto removed = server.remove(path);
  if (removed || removed.error().code == ErrorCode::kNotFound) return ok();
  return removed.error().context("deleting " + path);
}

/// The Cluster is deleted; its Works go with it, and the agent takes their objects back.
Result<void> remove_cluster(ServerConnection& plane, const UnregisterOptions& options) {
  const std::string path = std::string{kClusters} + "/" + options.name;
  SHIPLOG_TRY(remove_if_there(plane, path));
  const auto deadline = Steady::now() + std::chrono::seconds{options.wait_seconds};
  while (true) {
    const auto cluster = plane.get(path);
    if (!cluster && cluster.error().code == ErrorCode::kNotFound) return ok();
    // With the last of its Works the agent's permission to look may have gone.
    if (!cluster) return cluster.error();
    if (Steady::now() >= deadline) {
      return Error{ErrorCode::kTimeout, "cluster(" + options.name + ") still exists after " +
                                            std::to_string(options.wait_seconds) +
                                            " s: its removal continues: " + what_holds(plane, cluster.value()) +
                                            ". Does its agent run? Wait longer with --wait"};
    }
    std::this_thread::sleep_for(kPoll);
  }
}

/// All that the agent had in the control plane.
Result<void> remove_roles(ServerConnection& plane, const UnregisterOptions& options) {
  const auto roles = agent_roles(options.name, options.cluster_ns);
  for (auto role = roles.rbegin(); role != roles.rend(); ++role) {
    if (role->second["kind"].as_string() == "Namespace") continue;
    SHIPLOG_TRY(remove_if_there(plane, path_of(*role)));
  }
  for (const std::string& secret : {options.name, options.name + "-impersonator"}) {
    SHIPLOG_TRY(remove_if_there(plane, secrets_of(options.cluster_ns) + "/" + secret));
  }
  return ok();
}

/// What the agent's access to the control plane, which is stored in the member, shows.
enum class StoredAccess : uint8_t { kNone, kOfThisCluster, kOfAnother };

Result<StoredAccess> stored_access(ServerConnection& member, const UnregisterOptions& options) {
  const auto secret = member.get(secrets_of(options.ns) + "/" + kAgentKubeconfig);
  if (!secret && secret.error().code == ErrorCode::kNotFound) return StoredAccess::kNone;
  if (!secret) return secret.error();
  return is_access_of(secret.value(), options.name) ? StoredAccess::kOfThisCluster : StoredAccess::kOfAnother;
}

Result<void> remove_agent(ServerConnection& member, const UnregisterOptions& options) {
  RegisterOptions registered;
  registered.name = options.name;
  registered.ns = options.ns;
  registered.image = "any";
  auto objects = agent_objects(registered, "", "");
  SHIPLOG_TRY(remove_if_there(member, "/apis/apps/v1/namespaces/" + options.ns + "/deployments/" + options.agent));
  for (auto object = objects.rbegin(); object != objects.rend(); ++object) {
    if (object->second["kind"].as_string() == "Namespace") continue;
    SHIPLOG_TRY(remove_if_there(member, path_of(*object)));
  }
  return withdraw_access(member, options.name, options.cluster_ns, "");
}

void print_roles(const UnregisterOptions& options, std::ostream& progress) {
  progress << "The roles of the agent remain in the control plane. An administrator removes them with:" << std::endl;
  for (const auto& role : agent_roles(options.name, options.cluster_ns)) {
    const Value& metadata = role.second["metadata"];
    if (role.second["kind"].as_string() == "Namespace") continue;
    const std::string ns = metadata["namespace"].str();
    progress << "  kubectl delete " << role.second["kind"].str() << " " << metadata["name"].str()
             << (ns.empty() ? "" : " -n " + ns) << std::endl;
  }
}

/// There is no Cluster: none was made, it was deleted by other means, or its removal went on after an earlier command
/// had ceased to wait. What a registration of this name has left is removed; without anything left the name is wrong.
Result<void> remove_remains(ServerConnection& plane, ServerConnection& member, bool as_administrator,
                            const UnregisterOptions& options, std::ostream& progress) {
  SHIPLOG_TRY(const StoredAccess access, stored_access(member, options));
  bool registered = false;
  if (access == StoredAccess::kOfThisCluster) {
    // Another control plane may have registered the same name.
    SHIPLOG_TRY(const ClientTarget stored, agent_access(member, options));
    registered = !as_administrator || stored.ca_pem == plane.target().ca_pem;
  }
  if (!registered && as_administrator) {
    const auto role = plane.get(path_of(agent_roles(options.name, options.cluster_ns)[1]));
    if (!role && role.error().code != ErrorCode::kNotFound) return role.error();
    registered = role.has_value();
  }
  if (!registered) {
    return Error{ErrorCode::kNotFound, "no cluster object " + options.name + " found in karmada control Plane"};
  }
  progress << "no cluster object " << options.name << " found in karmada control Plane: "
           << (options.dry_run ? "what its registration has left would be removed (dry run)"
                               : "removing what its registration has left")
           << std::endl;
  if (options.dry_run) return ok();
  if (as_administrator) {
    SHIPLOG_TRY(remove_roles(plane, options));
    SHIPLOG_TRY(remove_if_there(plane, "/api/v1/namespaces/" + execution_space(options.name)));
  } else {
    print_roles(options, progress);
  }
  if (access != StoredAccess::kOfAnother) return remove_agent(member, options);
  // The agent's objects have the same names for every cluster; the accounts have that of the cluster.
  return withdraw_access(member, options.name, options.cluster_ns, "");
}

}  // namespace

bool is_access_of(const Value& secret, const std::string& cluster) {
  const auto documents = parse_yaml_stream(base64_decode(secret["data"][kAgentKubeconfig].as_string()).value_or(""));
  if (!documents || documents.value().empty()) return false;
  const auto user = documents.value().front()["users"][0]["name"].as_string();
  return user == agent_identity::user_of(cluster) || user == cluster;  // the latter is what upstream's register writes
}

Result<ClientTarget> agent_access(ServerConnection& member, const UnregisterOptions& options) {
  const auto secret = member.get(secrets_of(options.ns) + "/" + kAgentKubeconfig);
  if (!secret) {
    return secret.error().context(
        "reading the agent's access to the control plane in the member; give another one "
        "with --karmada-config");
  }
  const auto text = base64_decode(secret.value()["data"][kAgentKubeconfig].as_string());
  SHIPLOG_TRY(const auto documents, parse_yaml_stream(text.value_or("")));
  const Value config = documents.empty() ? Value{} : documents.front();
  const Value& cluster = config["clusters"][0]["cluster"];
  const Value& user = config["users"][0]["user"];
  const auto data = [](const Value& from, const char* field) {
    return base64_decode(from[field].as_string()).value_or("");
  };
  ClientTarget target;
  target.url = cluster["server"].str();
  target.ca_pem = data(cluster, "certificate-authority-data");
  target.certificate_pem = data(user, "client-certificate-data");
  target.key_pem = data(user, "client-key-data");
  if (target.url.empty() || target.certificate_pem.empty()) {
    return Error{ErrorCode::kInvalid, "the Secret " + options.ns + "/" + kAgentKubeconfig +
                                          " of the member is not the kubeconfig of an agent: give --karmada-config"};
  }
  return target;
}

Result<void> unregister(ServerConnection& plane, ServerConnection& member, bool as_administrator,
                        const UnregisterOptions& options, std::ostream& out, std::ostream& progress) {
  SHIPLOG_TRY(check_cluster_name(options.name));
  const auto cluster = plane.get(std::string{kClusters} + "/" + options.name);
  if (!cluster && cluster.error().code == ErrorCode::kNotFound) {
    SHIPLOG_TRY(remove_remains(plane, member, as_administrator, options, progress));
    if (!options.dry_run) out << "cluster(" << options.name << ") is unregistered successfully" << std::endl;
    return ok();
  }
  if (!cluster) return cluster.error();
  if (cluster.value()["spec"]["syncMode"].as_string() == "Push") {
    return Error{ErrorCode::kInvalid, "cluster " + options.name +
                                          " is a Push mode member cluster, please use command `unjoin` if you want to "
                                          "continue unjoining the cluster"};
  }
  if (options.dry_run) {
    out << "cluster(" << options.name << ") would be unregistered (dry run)" << std::endl;
    return ok();
  }
  SHIPLOG_TRY(remove_cluster(plane, options));
  if (as_administrator) {
    SHIPLOG_TRY(remove_roles(plane, options));
  } else {
    print_roles(options, progress);
  }
  SHIPLOG_TRY(remove_agent(member, options));
  out << "cluster(" << options.name << ") is unregistered successfully" << std::endl;
  return ok();
}

}  // namespace shiplog::ctl
