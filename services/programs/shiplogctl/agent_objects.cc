#include <string>
#include <utility>
#include <vector>

#include "events/base/base64.h"
#include "events/state/agent_identity.h"
#include "events/state/work.h"
#include "services/programs/shiplogctl/register.h"

namespace shiplog::ctl {
namespace {

constexpr const char* kRbac = "/apis/rbac.authorization.k8s.io/v1";
constexpr const char* kMountPath = "/etc/kubeconfig";

using Objects = std::vector<std::pair<std::string, Value>>;

Value text_array(const std::vector<std::string>& words) {
  Value list = Value::array();
  for (const std::string& word : words) list.push_back(word);
  return list;
}

Value rules_of(const rbac::Rules& rules) {
  Value list = Value::array();
  for (const rbac::Rule& rule : rules) {
    Value one = Value::object({{"verbs", text_array(rule.verbs)}});
    if (!rule.api_groups.empty()) one.set("apiGroups", text_array(rule.api_groups));
    if (!rule.resources.empty()) one.set("resources", text_array(rule.resources));
    if (!rule.resource_names.empty()) one.set("resourceNames", text_array(rule.resource_names));
    if (!rule.non_resource_urls.empty()) one.set("nonResourceURLs", text_array(rule.non_resource_urls));
    list.push_back(std::move(one));
  }
  return list;
}

Value object(const char* api_version, const std::string& kind, const std::string& ns, const std::string& name) {
  Value metadata = Value::object({{"name", name}});
  if (!ns.empty()) metadata.set("namespace", ns);
  return Value::object({{"apiVersion", api_version}, {"kind", kind}, {"metadata", std::move(metadata)}});
}

Value namespace_object(const std::string& name) {
  Value ns = object("v1", "Namespace", "", name);
  ns.edit("metadata").set("labels", Value::object({{label::kSystem, "true"}}));
  return ns;
}

std::string rbac_collection(const std::string& ns, const std::string& plural) {
  return std::string{kRbac} + (ns.empty() ? "" : "/namespaces/" + ns) + "/" + plural;
}

void add_role(Objects& objects, const std::string& ns, const std::string& name, const rbac::Rules& rules) {
  const std::string kind = ns.empty() ? "ClusterRole" : "Role";
  Value role = object("rbac.authorization.k8s.io/v1", kind, ns, name);
  role.set("rules", rules_of(rules));
  objects.emplace_back(rbac_collection(ns, ns.empty() ? "clusterroles" : "roles"), std::move(role));
}

void add_binding(Objects& objects, const std::string& ns, const std::string& name, Value subject) {
  const std::string kind = ns.empty() ? "ClusterRole" : "Role";
  Value binding = object("rbac.authorization.k8s.io/v1", kind + "Binding", ns, name);
  binding.set("subjects", Value::array({std::move(subject)}));
  binding.set("roleRef", Value::object({{"apiGroup", rbac::kGroup}, {"kind", kind}, {"name", name}}));
  objects.emplace_back(rbac_collection(ns, ns.empty() ? "clusterrolebindings" : "rolebindings"), std::move(binding));
}

std::string comma_separated(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

/// The options of the agent that do not depend on where it runs.
std::vector<std::string> agent_flags(const RegisterOptions& options) {
  std::vector<std::string> flags = {"--cluster-name=" + options.name, "--cluster-namespace=" + options.cluster_ns};
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) flags.push_back(std::string{flag} + "=" + value);
  };
  add("--cluster-provider", options.provider);
  add("--cluster-region", options.region);
  add("--cluster-zones", comma_separated(options.zones));
  add("--proxy-server-address", options.proxy_address);
  if (options.rotates_certificate) {
    flags.emplace_back("--controllers=*,certRotation");
    flags.push_back("--karmada-kubeconfig-namespace=" + options.ns);
  }
  return flags;
}

Value deployment(const RegisterOptions& options, const std::string& member_url) {
  // Upstream's image has its own program; any other one is shiplogd's.
  const std::string image = options.image.substr(options.image.rfind('/') + 1);
  const bool upstream = image.starts_with(kAgentName);
  std::vector<std::string> command =
      upstream ? std::vector<std::string>{"/bin/karmada-agent"} : std::vector<std::string>{"shiplogd", "agent"};
  command.push_back("--karmada-kubeconfig=" + std::string{kMountPath} + "/" + kAgentKubeconfig);
  command.push_back("--cluster-api-endpoint=" + member_url);
  for (std::string& flag : agent_flags(options)) command.push_back(std::move(flag));
  if (upstream) command.push_back("--leader-elect-resource-namespace=" + options.ns);
  const Value labels = Value::object({{"app", kAgentName}});
  Value container = Value::object(
      {{"name", kAgentName},
       {"image", options.image},
       {"command", text_array(command)},
       {"volumeMounts", Value::array({Value::object({{"name", "kubeconfig"}, {"mountPath", kMountPath}})})}});
  Value volume = Value::object({{"name", "kubeconfig"}, {"secret", Value::object({{"secretName", kAgentKubeconfig}})}});
  Value pod = Value::object({{"serviceAccountName", kAgentAccount},
                             {"containers", Value::array({std::move(container)})},
                             {"volumes", Value::array({std::move(volume)})}});
  Value made = object("apps/v1", "Deployment", options.ns, kAgentName);
  made.edit("metadata").set("labels", labels);
  made.set("spec", Value::object({{"replicas", options.replicas},
                                  {"selector", Value::object({{"matchLabels", labels}})},
                                  {"template", Value::object({{"metadata", Value::object({{"labels", labels}})},
                                                              {"spec", std::move(pod)}})}}));
  return made;
}

/// As a shell reads it.
std::string shell_word(const std::string& word) {
  if (word.find_first_of(" \t\n'\"\\$&|;<>()*?#~`!") == std::string::npos && !word.empty()) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string{"'\\''"} : std::string{c};
  return text + "'";
}

}  // namespace

std::vector<std::pair<std::string, Value>> agent_roles(const std::string& cluster, const std::string& cluster_ns) {
  using namespace agent_identity;
  const Value agent = Value::object({{"apiGroup", rbac::kGroup}, {"kind", "User"}, {"name", user_of(cluster)}});
  Objects objects;
  objects.emplace_back("/api/v1/namespaces", namespace_object(execution_space(cluster)));
  add_role(objects, "", cluster_role_of(cluster), cluster_rules(cluster));
  add_binding(objects, "", cluster_role_of(cluster), agent);
  add_role(objects, cluster_ns, secret_role_of(cluster), secret_rules(cluster));
  add_role(objects, execution_space(cluster), work_role_of(cluster), work_rules());
  add_binding(objects, cluster_ns, secret_role_of(cluster), agent);
  add_binding(objects, execution_space(cluster), work_role_of(cluster), agent);
  return objects;
}

std::vector<std::pair<std::string, Value>> agent_objects(const RegisterOptions& options, const std::string& kubeconfig,
                                                         const std::string& member_url) {
  Objects objects;
  objects.emplace_back("/api/v1/namespaces", namespace_object(options.ns));
  Value secret = object("v1", "Secret", options.ns, kAgentKubeconfig);
  secret.set("type", "Opaque");
  secret.set("data", Value::object({{kAgentKubeconfig, base64_encode(kubeconfig)}}));
  objects.emplace_back("/api/v1/namespaces/" + options.ns + "/secrets", std::move(secret));
  add_role(objects, "", kAgentName, {{{"*"}, {"*"}, {"*"}, {}, {}}, {{"get"}, {}, {}, {}, {"*"}}});
  objects.emplace_back("/api/v1/namespaces/" + options.ns + "/serviceaccounts",
                       object("v1", "ServiceAccount", options.ns, kAgentAccount));
  add_binding(objects, "", kAgentName,
              Value::object({{"kind", "ServiceAccount"}, {"name", kAgentAccount}, {"namespace", options.ns}}));
  if (!options.image.empty()) {
    objects.emplace_back("/apis/apps/v1/namespaces/" + options.ns + "/deployments", deployment(options, member_url));
  }
  return objects;
}

std::string path_of(const std::pair<std::string, Value>& object) {
  return object.first + "/" + object.second["metadata"]["name"].str();
}

std::string agent_command(const RegisterOptions& options, const std::string& member_kubeconfig) {
  std::string command = "shiplogd agent --karmada-kubeconfig=" + shell_word(options.kubeconfig_out);
  if (!member_kubeconfig.empty()) command += " --kubeconfig=" + shell_word(member_kubeconfig);
  for (const std::string& flag : agent_flags(options)) command += " " + shell_word(flag);
  return command;
}

}  // namespace shiplog::ctl
