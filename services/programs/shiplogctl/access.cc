#include "services/programs/shiplogctl/access.h"

#include <cstdlib>

#include <CLI/CLI.hpp>

#include "services/programs/shiplogctl/credential_plugin.h"

namespace shiplog::ctl {
namespace {

Result<Kubeconfig> read(const std::string& file) {
  return read_kubeconfig(kubeconfig_paths(file, std::getenv("KUBECONFIG"), std::getenv("HOME")));
}

}  // namespace

void AccessOptions::add_options(CLI::App& app) {
  const char* group = "Global options";
  app.add_option("--kubeconfig", kubeconfig,
                 "Kubeconfig of the control plane (default: $KUBECONFIG, then ~/.kube/config)")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--context,--karmada-context", context, "Context of the kubeconfig (default: the current one)")
      ->type_name("NAME")
      ->group(group);
  app.add_option("-n,--namespace", ns, "Namespace (default: the context's)")->type_name("NS")->group(group);
  app.add_option("--as", as.user, "Act as this user; needs the right to impersonate it")
      ->type_name("USER")
      ->group(group);
  app.add_option("--as-group", as.groups, "Act as a member of this group; can be repeated")
      ->type_name("GROUP")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(group);
  app.add_option("--as-uid", as.uid, "Act with this uid")->type_name("UID")->group(group);
}

Result<KubeconfigContext> AccessOptions::resolve() const {
  SHIPLOG_TRY(const auto config, read(kubeconfig));
  return context_with_plugin(config, context);
}

Result<ServerConnection> AccessOptions::connect() const {
  if (as.user.empty() && (!as.groups.empty() || !as.uid.empty())) {
    return Error{ErrorCode::kBadRequest, "--as-group and --as-uid need --as USER"};
  }
  SHIPLOG_TRY(const auto resolved, resolve());
  return connect_to("the control plane", resolved, as);
}

Result<std::string> AccessOptions::namespace_or_default() const {
  if (!ns.empty()) return ns;
  SHIPLOG_TRY(const auto resolved, resolve());
  return resolved.ns;
}

Result<std::vector<std::string>> AccessOptions::contexts() const {
  SHIPLOG_TRY(const auto config, read(kubeconfig));
  std::vector<std::string> names;
  for (const auto& [name, unused] : config.contexts) names.push_back(name);
  return names;
}

}  // namespace shiplog::ctl
