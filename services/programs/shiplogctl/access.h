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

/// How to reach the control plane and as whom: kubectl's options of the same names.
struct Access {
  std::string kubeconfig, context, ns;
  Impersonation as;

  void add_options(CLI::App& app);
  /// Errors: kNotFound, kInvalid, kIo about the kubeconfig; kBadRequest, groups or a uid without a user.
  Result<KubeconfigContext> resolve() const;
  Result<Connection> connect() const;
  /// The namespace that was named, or the context's.
  Result<std::string> namespace_or_default() const;
  /// The contexts of the kubeconfig.
  Result<std::vector<std::string>> contexts() const;
};

}  // namespace shiplog::ctl
