#pragma once

#include <map>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "services/http/client_target.h"

namespace shiplog {

/// Merged kubeconfig files; file references are already read in. The source of a context's target.
struct Kubeconfig {
  struct Cluster {
    std::string server;
    std::string ca_pem;
    std::string tls_server_name;
    bool insecure = false;
    std::string proxy_url;
  };
  struct User {
    std::string certificate_pem;
    std::string key_pem;
    std::string token;
    std::string unsupported;  ///< what it requires and is not supported ("exec"); empty: nothing
  };
  struct Context {
    std::string cluster;
    std::string user;
    std::string ns;  ///< empty: "default"
  };

  std::map<std::string, Cluster> clusters;
  std::map<std::string, User> users;
  std::map<std::string, Context> contexts;
  std::string current_context;
  std::vector<std::string> files;  ///< that were read, for messages
};

/// One context, resolved.
struct KubeconfigContext {
  std::string name;
  std::string ns;  ///< never empty
  ClientTarget target;
};

/// Where kubectl would look: the --kubeconfig flag if given, else $KUBECONFIG split at ':', else $HOME/.kube/config.
std::vector<std::string> kubeconfig_paths(const std::string& flag, const char* kubeconfig_env, const char* home_env);

/// Reads YAML or JSON. The first file that names a cluster, user, context or the current context wins; of several
/// files, missing ones are skipped as kubectl does. Relative file references start at the file's own folder. A
/// tokenFile is read now. Errors: kNotFound, no file exists; kIo; kBadRequest; all name the file.
Result<Kubeconfig> read_kubeconfig(const std::vector<std::string>& paths);

/// `context` empty: the current one. Errors: kNotFound, no such context, cluster or user; kInvalid, it requires
/// something unsupported (exec, auth-provider, username and password, impersonation) or names no server.
Result<KubeconfigContext> context_of(const Kubeconfig& kubeconfig, const std::string& context = "");

/// A kubeconfig with one context, cluster and user, all called `name`, with everything inline, as kind writes it.
std::string kubeconfig_text(const std::string& name, const ClientTarget& target, const std::string& ns = "");

/// kubeconfig_text() into a file of mode 0600, whole or not at all. Error: kIo.
Result<void> write_kubeconfig(const std::string& path, const std::string& name, const ClientTarget& target,
                              const std::string& ns = "");

}  // namespace shiplog
