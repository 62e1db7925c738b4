#pragma once

#include <string>
#include <vector>

#include "events/base/result.h"
#include "services/http/kubeconfig.h"
#include "services/programs/shiplogctl/connection.h"

namespace CLI {
class App;
}

namespace shiplog::ctl {

/// How to reach the control plane and which user to act as: kubectl's options of the same names.
struct AccessOptions {
  std::string kubeconfig, context, ns;
  ImpersonatedUser as;

  void add_options(CLI::App& app);
  /// Without the credentials that a plugin issues. Errors: kNotFound, kInvalid, kIo about the kubeconfig.
  Result<KubeconfigContext> resolve() const;
  /// Errors: those of resolve() and connect_to(); kBadRequest, groups or a uid without a user.
  Result<ServerConnection> connect() const;
  /// The namespace given as an option, or the context's.
  Result<std::string> namespace_or_default() const;
  /// The contexts of the kubeconfig.
  Result<std::vector<std::string>> contexts() const;
};

}  // namespace shiplog::ctl
