#include "services/programs/agent/credentials.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "services/http/kubeconfig.h"

namespace shiplog::agent {
namespace {

constexpr const char* kServiceAccount = "/var/run/secrets/kubernetes.io/serviceaccount/";

Result<std::string> contents(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return Error{ErrorCode::kIo, "cannot read " + path};
  return text.str();
}

Result<ClientTarget> target_in(const std::string& path, const std::string& context) {
  SHIPLOG_TRY(const Kubeconfig kubeconfig, read_kubeconfig({path}));
  SHIPLOG_TRY(const KubeconfigContext found, context_of(kubeconfig, context));
  return found.target;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here changes the environment
  return value == nullptr ? "" : value;
}

}  // namespace

Result<ClientTarget> control_plane_target(const AgentOptions& options) {
  return target_in(options.karmada_kubeconfig, options.karmada_context);
}

Result<ClientTarget> member_target(const AgentOptions& options) {
  if (!options.kubeconfig.empty()) return target_in(options.kubeconfig, options.context);
  const std::string host = environment("KUBERNETES_SERVICE_HOST");
  const std::string port = environment("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    return Error{
        ErrorCode::kNotFound,
        "the agent does not run in a pod of its member (KUBERNETES_SERVICE_HOST is not set): set --kubeconfig"};
  }
  ClientTarget target;
  target.url = "https://" + (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
  SHIPLOG_TRY(target.ca_pem, contents(std::string{kServiceAccount} + "ca.crt"));
  SHIPLOG_TRY(target.bearer_token, contents(std::string{kServiceAccount} + "token"));
  return target;
}

}  // namespace shiplog::agent
