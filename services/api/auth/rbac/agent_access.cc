#include "services/api/auth/rbac/agent_access.h"

#include <algorithm>
#include <string_view>

#include "events/state/agent_identity.h"
#include "events/state/object.h"
#include "events/state/work.h"
#include "services/api/status.h"

namespace shiplog::api {
namespace {

using agent_identity::kGroup;
using agent_identity::kRbacGenerator;
using agent_identity::kTokenGroup;

constexpr const char* kClusterNamespace = "karmada-cluster";
constexpr const char* kPublicNamespace = "kube-public";
constexpr const char* kLeases = "leases.coordination.k8s.io";
constexpr const char* kRequestsGroup = "certificates.k8s.io";
constexpr const char* kRequests = "certificatesigningrequests.certificates.k8s.io";
constexpr std::string_view kImpersonator = "-impersonator";
constexpr const char* kSignerRole = "system:karmada:bootstrap-signer-clusterinfo";
constexpr const char* kApproverRole = "system:karmada:certificatesigningrequest:autoapprover";
constexpr const char* kSelfApproverRole = "system:karmada:certificatesigningrequest:selfautoapprover";
constexpr const char* kGeneratorRole = "system:karmada:agent-rbac-generator";

Value metadata_of(const ObjectKey& key) {
  Value metadata = Value::object({{"name", key.name}});
  if (!key.ns.empty()) metadata.set("namespace", key.ns);
  return metadata;
}

Value rbac_object(const char* kind, const ObjectKey& key) {
  return Value::object(
      {{"apiVersion", std::string{rbac::kGroup} + "/v1"}, {"kind", kind}, {"metadata", metadata_of(key)}});
}

Value role_ref(const char* kind, const std::string& name) {
  return Value::object({{"apiGroup", rbac::kGroup}, {"kind", kind}, {"name", name}});
}

Value subjects_of(const char* kind, const std::string& name) {
  return Value::array({Value::object({{"apiGroup", rbac::kGroup}, {"kind", kind}, {"name", name}})});
}

std::vector<std::pair<ObjectKey, Value>> make_agent_access() {
  std::vector<std::pair<ObjectKey, Value>> objects;
  const auto role = [&](const char* type, const char* kind, const std::string& ns, const char* name, Rules rules) {
    const ObjectKey key{type, ns, name};
    Value object = rbac_object(kind, key);
    object.set("rules", to_value(rules));
    objects.emplace_back(key, std::move(object));
  };
  const auto bind = [&](const std::string& ns, const char* name, const char* to, Value subjects) {
    const ObjectKey key{ns.empty() ? rbac::kClusterRoleBinding : rbac::kRoleBinding, ns, name};
    Value object = rbac_object(ns.empty() ? "ClusterRoleBinding" : "RoleBinding", key);
    object.set("roleRef", role_ref(ns.empty() ? "ClusterRole" : "Role", to));
    object.set("subjects", std::move(subjects));
    objects.emplace_back(key, std::move(object));
  };
  role(rbac::kRole, "Role", kPublicNamespace, kSignerRole, {{{"get"}, {""}, {"configmaps"}, {"cluster-info"}, {}}});
  bind(kPublicNamespace, kSignerRole, kSignerRole, subjects_of("User", rbac::kAnonymousUser));
  bind("", "system:karmada:agent-bootstrap", "system:node-bootstrapper", subjects_of("Group", kTokenGroup));
  role(rbac::kClusterRole, "ClusterRole", "", kApproverRole,
       {{{"create"}, {kRequestsGroup}, {"certificatesigningrequests/clusteragent"}, {}, {}}});
  bind("", "system:karmada:agent-autoapprove-bootstrap", kApproverRole, subjects_of("Group", kTokenGroup));
  role(rbac::kClusterRole, "ClusterRole", "", kSelfApproverRole,
       {{{"create"}, {kRequestsGroup}, {"certificatesigningrequests/selfclusteragent"}, {}, {}}});
  bind("", "system:karmada:agent-autoapprove-certificate-rotation", kSelfApproverRole, subjects_of("Group", kGroup));
  role(
      rbac::kClusterRole, "ClusterRole", "", kGeneratorRole,
      {{{"get"}, {"cluster.karmada.io"}, {"clusters"}, {}, {}},
       {{"create", "delete"}, {rbac::kGroup}, {"clusterroles", "clusterrolebindings", "roles", "rolebindings"}, {}, {}},
       {{"create"}, {""}, {"namespaces"}, {}, {}},
       {{"delete"}, {kRequestsGroup}, {"certificatesigningrequests"}, {}, {}}});
  bind("", kGeneratorRole, kGeneratorRole, subjects_of("User", kRbacGenerator));
  return objects;
}

bool own_secret(const std::string& cluster, const std::string& ns, const std::string& name) {
  return ns == kClusterNamespace && (name == cluster || name == cluster + std::string{kImpersonator});
}

bool own_lease(const std::string& cluster, const std::string& ns, const std::string& name) {
  return (ns == kClusterNamespace && name == cluster) || name == "karmada-agent-" + cluster;
}

Error refusal(const ObjectKey& key, const std::string& why) {
  const size_t dot = key.type.find('.');
  return forbidden(StatusDetails{std::string{dot == std::string::npos ? "" : key.type.substr(dot + 1)}, "",
                                 std::string{key.type.substr(0, dot)}, key.name.str()},
                   why);
}

/// A Secret that the proxy would send to where the Cluster leads must be the cluster's own.
bool refers_to_own(const Value& reference, const std::string& name) {
  return reference.is_empty() || (reference["namespace"].as_string() == kClusterNamespace &&
                                  reference["name"].as_string() == std::string_view{name});
}

/// What is wrong with the Cluster that an agent creates for itself; empty: nothing.
std::string cluster_problem(const ClusterIds& clusters, const std::string& cluster, const Value& object) {
  const Value& spec = object["spec"];
  if (spec["syncMode"].as_string() != "Pull") return "the Cluster of an agent has spec.syncMode Pull";
  if (!refers_to_own(spec["secretRef"], cluster) ||
      !refers_to_own(spec["impersonatorSecretRef"], cluster + std::string{kImpersonator})) {
    return "spec.secretRef and spec.impersonatorSecretRef of an agent's Cluster are the Secrets " + cluster + " and " +
           cluster + std::string{kImpersonator} + " of namespace " + kClusterNamespace;
  }
  const std::string id = spec["id"].str();
  const bool taken = !id.empty() && std::ranges::any_of(clusters, [&](const auto& other) {
    return other.second == id && other.first != cluster;
  });
  if (taken) return "the cluster ID " + id + " or the cluster name " + cluster + " has been registered";
  return {};
}

std::string agent_problem(const ClusterIds& clusters, const std::string& cluster, const ObjectKey& key,
                          const Value& old, const Value& object) {
  const std::string own = "an agent writes only what belongs to its own cluster, which is " + cluster;
  if (key.type == kLeases && !own_lease(cluster, key.ns.str(), key.name.str())) return own;
  if (key.type == type::kSecret && !own_secret(cluster, key.ns.str(), key.name.str())) return own;
  if (key.type == type::kWork && key.ns != execution_space(cluster)) return own;
  if (key.type != type::kCluster) return {};
  if (key.name != cluster) return own;
  return old.is_null() && !object.is_null() ? cluster_problem(clusters, cluster, object) : std::string{};
}

bool same_set(Rules a, Rules b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  return a == b;
}

/// The name and namespace that the roles of a cluster's agent and their bindings have, and what each permits.
struct AgentRole {
  std::string ns, name;
  const char* kind;
  Rules rules;
};

std::optional<AgentRole> agent_role(const std::string& cluster, const ObjectKey& key) {
  AgentRole roles[] = {
      {"", agent_identity::cluster_role_of(cluster), "ClusterRole", agent_identity::cluster_rules(cluster)},
      {kClusterNamespace, agent_identity::secret_role_of(cluster), "Role", agent_identity::secret_rules(cluster)},
      {execution_space(cluster), agent_identity::work_role_of(cluster), "Role", agent_identity::work_rules()}};
  for (AgentRole& role : roles) {
    if (role.ns == key.ns && role.name == key.name) return std::move(role);
  }
  return std::nullopt;
}

/// Whether it is the role or binding that `register` makes under this name.
bool is_made_by_register(const std::string& cluster, const ObjectKey& key, const Value& object) {
  const auto role = agent_role(cluster, key);
  if (!role) return false;
  if (key.type == rbac::kRole || key.type == rbac::kClusterRole) {
    return object["aggregationRule"].is_empty() && object["metadata"]["labels"].is_empty() &&
           same_set(rules_from(object["rules"]), role->rules);
  }
  const Value& subject = object["subjects"][0];
  return object["roleRef"] == role_ref(role->kind, role->name) && object["subjects"].size() == 1 &&
         subject["kind"].as_string() == "User" && subject["name"].str() == agent_identity::user_of(cluster);
}

/// The cluster that a write of the RBAC generator is for; empty: for none.
std::string cluster_registering(const ObjectKey& key) {
  if (key.type == type::kNamespace) return cluster_of_space(key.name);
  return rbac::is_rbac(key.type) ? agent_identity::cluster_of_role(key.name).value_or("") : "";
}

std::string generator_problem(const ClusterIds& clusters, const ObjectKey& key, const Value& object) {
  if (key.type == kRequests) {
    return key.name.starts_with("agent-rbac-generator-") ? "" : "it deletes its own requests for certificates only";
  }
  if (key.type == type::kNamespace && key.name == kClusterNamespace)
    return {};  // is there: it is asked for all the same
  const std::string cluster = cluster_registering(key);
  if (cluster.empty()) return "it creates and deletes only the roles of agents, and execution namespaces";
  if (clusters.contains(cluster)) return "cluster " + cluster + " is registered already";
  // Else its agent could read the Secret of the cluster whose name the prefix is.
  if (cluster.ends_with(kImpersonator)) return "the name of a cluster with an agent does not end with -impersonator";
  if (key.type == type::kNamespace || object.is_null()) return {};
  return is_made_by_register(cluster, key, object)
             ? ""
             : "a role or binding of an agent has exactly the rules and the subject that register gives it";
}

}  // namespace

const std::vector<std::pair<ObjectKey, Value>>& agent_bootstrap_access() {
  static const auto objects = make_agent_access();
  return objects;
}

std::vector<Event> missing_agent_access(const State& state) {
  std::vector<Event> missing;
  for (const auto& [key, object] : agent_bootstrap_access()) {
    if (state.find(key) == nullptr) missing.emplace_back(ObjectCreated{key, object});
  }
  return missing;
}

std::string beyond_agent(const User& user, const Attributes& wanted) {
  const auto cluster = agent_identity::cluster_of(user.name);
  if (!cluster || !wanted.is_resource) return {};
  const std::string own = "an agent has access only to what belongs to its own cluster, which is " + *cluster;
  const bool creates = wanted.verb == "create" && wanted.name.empty();  // judged by the object
  if (wanted.group == "work.karmada.io") return wanted.ns == execution_space(*cluster) ? "" : own;
  if (wanted.group.empty() && wanted.resource == "secrets") {
    return creates || own_secret(*cluster, wanted.ns, wanted.name) ? "" : own;
  }
  if (wanted.group == "coordination.k8s.io") {
    return creates || own_lease(*cluster, wanted.ns, wanted.name) ? "" : own;
  }
  if (wanted.group == "cluster.karmada.io") {
    const bool all = wanted.name.empty() && (wanted.verb == "list" || wanted.verb == "watch");
    return creates || all || wanted.name == *cluster ? "" : own;
  }
  return {};
}

bool is_rbac_generator(const User& user) { return user.name == kRbacGenerator; }

std::optional<Error> refuse_agent_write(const ClusterIds& clusters, const User& user, const ObjectKey& key,
                                        const Value& old, const Value& object) {
  std::string problem;
  if (is_rbac_generator(user)) {
    problem = generator_problem(clusters, key, object);
  } else if (const auto cluster = agent_identity::cluster_of(user.name)) {
    problem = agent_problem(clusters, *cluster, key, old, object);
  }
  if (problem.empty()) return std::nullopt;
  return refusal(key, problem);
}

}  // namespace shiplog::api
