#include <chrono>
#include <ostream>
#include <thread>

#include "events/base/base64.h"
#include "events/base/yaml.h"
#include "events/state/work.h"
#include "services/programs/shiplogctl/join.h"
#include "services/programs/shiplogctl/register.h"

namespace shiplog::ctl {
namespace {

using Steady = std::chrono::steady_clock;

constexpr auto kPoll = std::chrono::milliseconds{250};

std::string path_of(const std::pair<std::string, Value>& object) {
  return object.first + "/" + object.second["metadata"]["name"].str();
}

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
      return Error{ErrorCode::kTimeout,
                   "cluster(" + options.name + ") still exists after " + std::to_string(options.wait_seconds) +
                       " s: its removal continues. Does its agent run? kubectl get works -n " +
                       execution_space(options.name) + " shows what is left; wait longer with --wait"};
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

}  // namespace

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
    return Error{ErrorCode::kNotFound, "no cluster object " + options.name + " found in karmada control Plane"};
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
    progress << "The roles of the agent remain in the control plane. An administrator removes them with:" << std::endl;
    for (const auto& role : agent_roles(options.name, options.cluster_ns)) {
      const Value& metadata = role.second["metadata"];
      if (role.second["kind"].as_string() == "Namespace") continue;
      const std::string ns = metadata["namespace"].str();
      progress << "  kubectl delete " << role.second["kind"].str() << " " << metadata["name"].str()
               << (ns.empty() ? "" : " -n " + ns) << std::endl;
    }
  }
  SHIPLOG_TRY(remove_agent(member, options));
  out << "cluster(" << options.name << ") is unregistered successfully" << std::endl;
  return ok();
}

}  // namespace shiplog::ctl
