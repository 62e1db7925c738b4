#include "services/http/kubeconfig.h"

#include <algorithm>

#include "events/base/base64.h"
#include "events/base/value.h"
#include "events/base/yaml.h"
#include "services/http/private_file.h"

namespace shiplog {
namespace {

Result<std::string> from_base64(std::string_view given, const std::string& field) {
  std::string text;
  std::copy_if(given.begin(), given.end(), std::back_inserter(text), [](char c) { return c > ' '; });  // folded lines
  auto bytes = base64_decode(text);
  if (!bytes) return Error{ErrorCode::kBadRequest, field + " is not base64"};
  return *std::move(bytes);
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

Result<std::string> read_reference(const std::string& path, const std::string& folder) {
  return read_file(path.starts_with('/') ? path : folder + "/" + path);
}

/// `<field>-data` inline, else the file `<field>` names, else "".
Result<std::string> data_or_file(const Value& from, const std::string& field, const std::string& folder) {
  const auto data = from[field + "-data"].as_string();
  if (!data.empty()) return from_base64(data, field + "-data");
  const auto file = from[field].str();
  if (file.empty()) return std::string{};
  auto read = read_reference(file, folder);
  if (!read) return read.error().context(field);
  return read;
}

/// The first of `fields` that is set: what we would have to honour and cannot.
std::string first_set(const Value& from, std::initializer_list<const char*> fields) {
  for (const char* field : fields) {
    if (!from[field].is_empty()) return field;
  }
  return {};
}

Kubeconfig::Cluster read_cluster(const Value& from, const std::string& folder) {
  Kubeconfig::Cluster cluster;
  cluster.server = from["server"].str();
  cluster.insecure = from["insecure-skip-tls-verify"].as_bool();
  cluster.tls_server_name = from["tls-server-name"].str();
  cluster.proxy_url = from["proxy-url"].str();
  for (const Value& extension : from["extensions"].items()) {
    if (extension["name"].as_string() == "client.authentication.k8s.io/exec") {
      cluster.plugin_config = extension["extension"];
    }
  }
  if (auto ca = data_or_file(from, "certificate-authority", folder)) {
    cluster.ca_pem = std::move(ca).value();
  } else {
    cluster.unreadable = ca.error();
  }
  return cluster;
}

CredentialPlugin read_plugin(const Value& from, const std::string& folder) {
  CredentialPlugin plugin;
  plugin.api_version = from["apiVersion"].str();
  plugin.command = from["command"].str();
  // "Relative command paths are interpreted as relative to the directory of the config file."
  if (plugin.command.find('/') != std::string::npos && !plugin.command.starts_with('/'))
    plugin.command = folder + "/" + plugin.command;
  for (const Value& argument : from["args"].items()) plugin.args.push_back(argument.str());
  for (const Value& each : from["env"].items()) plugin.env.emplace_back(each["name"].str(), each["value"].str());
  plugin.interactive_mode = from["interactiveMode"].str();
  plugin.install_hint = from["installHint"].str();
  plugin.provide_cluster_info = from["provideClusterInfo"].as_bool();
  return plugin;
}

Result<void> read_credentials(const Value& from, const std::string& folder, Kubeconfig::User& user) {
  SHIPLOG_TRY(user.certificate_pem, data_or_file(from, "client-certificate", folder));
  SHIPLOG_TRY(user.key_pem, data_or_file(from, "client-key", folder));
  user.token = from["token"].str();
  const auto token_file = from["tokenFile"].str();
  if (!token_file.empty()) {  // wins over token, as in client-go
    SHIPLOG_TRY(user.token, read_reference(token_file, folder));
    while (!user.token.empty() && user.token.back() <= ' ') user.token.pop_back();
  }
  return ok();
}

Kubeconfig::User read_user(const Value& from, const std::string& folder) {
  Kubeconfig::User user;
  user.unsupported = first_set(from, {"auth-provider", "username", "as", "as-uid", "as-groups", "as-user-extra"});
  if (!from["exec"].is_empty()) user.plugin = read_plugin(from["exec"], folder);
  if (const auto read = read_credentials(from, folder, user); !read) user.unreadable = read.error();
  return user;
}

Result<void> merge(Kubeconfig& into, const std::string& text, const std::string& path) {
  const std::string folder = folder_of(path);
  SHIPLOG_TRY(const auto documents, parse_yaml_stream(text));
  if (documents.empty()) return ok();  // an empty file: kubectl takes it for a kubeconfig without contexts
  const Value& root = documents.front();
  if (documents.size() > 1 || !root.is_object() || root["kind"].as_string("Config") != "Config") {
    return Error{ErrorCode::kBadRequest, "this is no kubeconfig"};
  }
  for (const Value& each : root["clusters"].items()) {
    const auto name = each["name"].str();
    if (into.clusters.contains(name)) continue;
    Kubeconfig::Cluster cluster = read_cluster(each["cluster"], folder);
    if (cluster.unreadable) cluster.unreadable = cluster.unreadable->context(path + ": cluster \"" + name + "\"");
    into.clusters.emplace(name, std::move(cluster));
  }
  for (const Value& each : root["users"].items()) {
    const auto name = each["name"].str();
    if (into.users.contains(name)) continue;
    Kubeconfig::User user = read_user(each["user"], folder);
    if (user.unreadable) user.unreadable = user.unreadable->context(path + ": user \"" + name + "\"");
    into.users.emplace(name, std::move(user));
  }
  for (const Value& each : root["contexts"].items()) {
    const Value& context = each["context"];
    into.contexts.try_emplace(each["name"].str(), Kubeconfig::Context{context["cluster"].str(), context["user"].str(),
                                                                      context["namespace"].str()});
  }
  if (into.current_context.empty()) into.current_context = root["current-context"].str();
  return ok();
}

std::string places(const Kubeconfig& kubeconfig) {
  std::string list;
  for (const auto& file : kubeconfig.files) list += (list.empty() ? "" : ", ") + file;
  return list.empty() ? "the kubeconfig" : list;
}

Error refused(const std::string& user, const std::string& where, const std::string& field) {
  return {ErrorCode::kInvalid, "user \"" + user + "\" in " + where + " uses " + field +
                                   ", which is not supported: use a client certificate or a token"};
}

}  // namespace

std::vector<std::string> kubeconfig_paths(const std::string& flag, const char* kubeconfig_env, const char* home_env) {
  if (!flag.empty()) return {flag};
  std::vector<std::string> paths;
  std::string_view rest = kubeconfig_env != nullptr ? kubeconfig_env : "";
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) paths.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (paths.empty() && home_env != nullptr) paths.push_back(std::string{home_env} + "/.kube/config");
  return paths;
}

Result<Kubeconfig> read_kubeconfig(const std::vector<std::string>& paths) {
  Kubeconfig kubeconfig;
  std::string missing;
  for (const auto& path : paths) {
    const auto text = read_file(path);
    if (!text && text.error().code == ErrorCode::kNotFound) {
      missing += (missing.empty() ? "" : ", ") + path;
      continue;
    }
    if (!text) return text.error();
    if (const auto merged = merge(kubeconfig, text.value(), path); !merged) {
      return merged.error().context(path);
    }
    kubeconfig.files.push_back(path);
  }
  if (kubeconfig.files.empty()) {
    return Error{ErrorCode::kNotFound, missing.empty() ? "no kubeconfig is given: use --kubeconfig or set KUBECONFIG"
                                                       : "there is no kubeconfig at " + missing};
  }
  return kubeconfig;
}

Result<KubeconfigContext> context_with_plugin(const Kubeconfig& kubeconfig, const std::string& context) {
  const std::string name = context.empty() ? kubeconfig.current_context : context;
  const std::string where = places(kubeconfig);
  if (name.empty()) return Error{ErrorCode::kNotFound, where + " has no current-context: name one"};
  const auto found = kubeconfig.contexts.find(name);
  if (found == kubeconfig.contexts.end()) {
    return Error{ErrorCode::kNotFound, "there is no context \"" + name + "\" in " + where};
  }
  const auto cluster = kubeconfig.clusters.find(found->second.cluster);
  if (cluster == kubeconfig.clusters.end()) {
    return Error{ErrorCode::kNotFound, "context \"" + name + "\" names the cluster \"" + found->second.cluster +
                                           "\", which is not in " + where};
  }
  if (cluster->second.server.empty()) {
    return Error{ErrorCode::kInvalid, "cluster \"" + cluster->first + "\" in " + where + " names no server"};
  }
  if (cluster->second.unreadable) return *cluster->second.unreadable;

  KubeconfigContext resolved{name, found->second.ns.empty() ? "default" : found->second.ns, {}, {}};
  ClientTarget& target = resolved.target;
  target.url = cluster->second.server;
  target.ca_pem = cluster->second.ca_pem;
  target.insecure = cluster->second.insecure;
  target.server_name = cluster->second.tls_server_name;
  target.proxy_url = cluster->second.proxy_url;
  if (found->second.user.empty()) return resolved;  // anonymous
  const auto user = kubeconfig.users.find(found->second.user);
  if (user == kubeconfig.users.end()) {
    return Error{ErrorCode::kNotFound,
                 "context \"" + name + "\" names the user \"" + found->second.user + "\", who is not in " + where};
  }
  if (!user->second.unsupported.empty()) return refused(user->first, where, user->second.unsupported);
  if (user->second.unreadable) return *user->second.unreadable;
  target.certificate_pem = user->second.certificate_pem;
  target.key_pem = user->second.key_pem;
  target.bearer_token = user->second.token;
  resolved.plugin = user->second.plugin;
  if (resolved.plugin) resolved.plugin->cluster_config = cluster->second.plugin_config;
  return resolved;
}

Result<KubeconfigContext> context_of(const Kubeconfig& kubeconfig, const std::string& context) {
  SHIPLOG_TRY(auto resolved, context_with_plugin(kubeconfig, context));
  if (resolved.plugin) return refused(kubeconfig.contexts.at(resolved.name).user, places(kubeconfig), "exec");
  return resolved;
}

std::string kubeconfig_text(const std::string& name, const ClientTarget& target, const std::string& ns) {
  Value cluster = Value::object({{"server", target.url}});
  if (!target.ca_pem.empty()) cluster.set("certificate-authority-data", base64_encode(target.ca_pem));
  if (target.insecure) cluster.set("insecure-skip-tls-verify", true);
  if (!target.server_name.empty()) cluster.set("tls-server-name", target.server_name);
  if (!target.proxy_url.empty()) cluster.set("proxy-url", target.proxy_url);
  Value user = Value::object();
  if (!target.certificate_pem.empty()) user.set("client-certificate-data", base64_encode(target.certificate_pem));
  if (!target.key_pem.empty()) user.set("client-key-data", base64_encode(target.key_pem));
  if (!target.bearer_token.empty()) user.set("token", target.bearer_token);
  Value context = Value::object({{"cluster", name}, {"user", name}});
  if (!ns.empty()) context.set("namespace", ns);
  return to_yaml(Value::object({{"apiVersion", "v1"},
                                {"kind", "Config"},
                                {"preferences", Value::object()},
                                {"clusters", Value::array({Value::object({{"name", name}, {"cluster", cluster}})})},
                                {"users", Value::array({Value::object({{"name", name}, {"user", user}})})},
                                {"contexts", Value::array({Value::object({{"name", name}, {"context", context}})})},
                                {"current-context", name}}));
}

Result<void> write_kubeconfig(const std::string& path, const std::string& name, const ClientTarget& target,
                              const std::string& ns) {
  return write_private_file(path, kubeconfig_text(name, target, ns));
}

}  // namespace shiplog
