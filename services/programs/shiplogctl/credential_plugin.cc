#include "services/programs/shiplogctl/credential_plugin.h"

#include <utility>
#include <vector>

#include <unistd.h>

#include "events/base/base64.h"
#include "events/base/json.h"
#include "events/base/utf8.h"
#include "services/programs/shiplogctl/child_process.h"

namespace shiplog::ctl {
namespace {

constexpr std::string_view kV1 = "client.authentication.k8s.io/v1";
constexpr std::string_view kV1Beta1 = "client.authentication.k8s.io/v1beta1";

std::string name_of(const CredentialPlugin& plugin) { return "credential plugin " + shiplog::quoted(plugin.command); }

/// Whether it may read from the terminal. The rules are those of client-go.
Result<bool> may_ask(const CredentialPlugin& plugin, bool terminal) {
  if (plugin.command.empty()) return Error{ErrorCode::kInvalid, "the kubeconfig's exec names no command"};
  if (plugin.api_version != kV1 && plugin.api_version != kV1Beta1) {
    return Error{ErrorCode::kInvalid, name_of(plugin) + ": apiVersion " + shiplog::quoted(plugin.api_version) +
                                          " is not supported: write " + std::string{kV1} +
                                          " into the kubeconfig if the plugin knows it"};
  }
  const std::string& mode = plugin.interactive_mode;
  if (mode == "Never") return false;
  if (mode == "IfAvailable" || (mode.empty() && plugin.api_version == kV1Beta1)) return terminal;
  if (mode == "Always") {
    if (terminal) return true;
    return Error{ErrorCode::kInvalid, name_of(plugin) + " wants to ask, but standard input is no terminal"};
  }
  if (mode.empty()) {
    return Error{ErrorCode::kInvalid,
                 name_of(plugin) + ": the kubeconfig has no interactiveMode: it is Never, IfAvailable or Always"};
  }
  return Error{ErrorCode::kInvalid, name_of(plugin) + ": interactiveMode " + shiplog::quoted(mode) +
                                        " is none of Never, IfAvailable and Always"};
}

Result<void> run_plugin(const CredentialPlugin& plugin, ClientTarget& target) {
  SHIPLOG_TRY(const bool interactive, may_ask(plugin, ::isatty(STDIN_FILENO) == 1));
  std::vector<std::string> words{plugin.command};
  words.insert(words.end(), plugin.args.begin(), plugin.args.end());
  ChildSettings settings{.capture = true, .env = plugin.env};
  settings.env.emplace_back("KUBERNETES_EXEC_INFO", exec_info(plugin, target, interactive));
  if (!interactive) settings.input = "";
  const auto ran = run_child(words, settings);
  if (!ran) {
    Error error = ran.error().context(name_of(plugin));
    if (!plugin.install_hint.empty()) error.message += ". " + printable(plugin.install_hint, 2000);
    return error;
  }
  if (ran.value().code != 0) {
    return Error{ErrorCode::kUnauthorized, name_of(plugin) + " failed with exit code " +
                                               std::to_string(ran.value().code) + ", so there are no credentials"};
  }
  return take_credentials(plugin, ran.value().out, target);
}

}  // namespace

std::string exec_info(const CredentialPlugin& plugin, const ClientTarget& cluster, bool interactive) {
  Value spec = Value::object({{"interactive", interactive}});
  if (plugin.provide_cluster_info) {
    Value about = Value::object({{"server", cluster.url}});
    if (!cluster.server_name.empty()) about.set("tls-server-name", cluster.server_name);
    if (cluster.insecure) about.set("insecure-skip-tls-verify", true);
    if (!cluster.ca_pem.empty()) about.set("certificate-authority-data", base64_encode(cluster.ca_pem));
    if (!cluster.proxy_url.empty()) about.set("proxy-url", cluster.proxy_url);
    if (!plugin.cluster_config.is_null()) about.set("config", plugin.cluster_config);
    spec.set("cluster", std::move(about));
  }
  return to_json(
      Value::object({{"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", std::move(spec)}}));
}

Result<void> take_credentials(const CredentialPlugin& plugin, std::string_view printed, ClientTarget& target) {
  const auto wrong = [&](const std::string& why) { return Error{ErrorCode::kInvalid, name_of(plugin) + why}; };
  const auto read = parse_json(printed);
  if (!read || !read.value().is_object()) return wrong(" has not printed a JSON object");
  const Value& credential = read.value();
  if (credential["kind"].as_string() != "ExecCredential") return wrong(" has not printed an ExecCredential");
  if (credential["apiVersion"].as_string() != plugin.api_version) {
    return wrong(" has printed version " + printable(credential["apiVersion"].as_string(), 100) +
                 ", but the kubeconfig names " + plugin.api_version);
  }
  const Value& status = credential["status"];
  if (!status.is_object()) return wrong(" has printed no status");
  const std::string token = status["token"].str(), certificate = status["clientCertificateData"].str(),
                    key = status["clientKeyData"].str();
  if (certificate.empty() != key.empty()) return wrong(" has printed only one of certificate and key");
  if (token.empty() && certificate.empty()) return wrong(" has printed neither a token nor a certificate");
  if (!token.empty()) target.bearer_token = token;
  if (!certificate.empty()) {
    target.certificate_pem = certificate;
    target.key_pem = key;
  }
  return ok();
}

Result<ServerConnection> connect_to(std::string what, const KubeconfigContext& context, ImpersonatedUser as) {
  if (!context.plugin) return ServerConnection::open(std::move(what), context.target, std::move(as));
  ClientTarget target = context.target;
  SHIPLOG_TRY(run_plugin(*context.plugin, target));
  SHIPLOG_TRY(auto connection, ServerConnection::open(std::move(what), target, std::move(as)));
  if (!target.bearer_token.empty()) {
    connection.renew_token_with([plugin = *context.plugin, target]() mutable -> Result<std::string> {
      SHIPLOG_TRY(run_plugin(plugin, target));
      return target.bearer_token;
    });
  }
  return connection;
}

}  // namespace shiplog::ctl
