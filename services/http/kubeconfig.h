#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "events/base/result.h"
#include "events/base/value.h"
#include "services/http/client_target.h"

namespace shiplog {

/// A program that issues a user's credentials when it is run (client.authentication.k8s.io): the field `exec`.
struct CredentialPlugin {
  std::string api_version;
  std::string command;  ///< a relative path is already one from the kubeconfig's folder; without a slash: on the PATH
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  ///< added to the process's own
  std::string interactive_mode;                          ///< Never, IfAvailable, Always; empty: not given
  std::string install_hint;
  bool provide_cluster_info = false;
  Value cluster_config;  ///< of the cluster, for the plugin; null: none
};

/// Merged kubeconfig files; file references are already read in. The source of a context's target.
struct Kubeconfig {
  struct Cluster {
    std::string server;
    std::string ca_pem;
    std::string tls_server_name;
    bool insecure = false;
    std::string proxy_url;
    Value plugin_config;  ///< CredentialPlugin::cluster_config
    std::optional<Error>
        unreadable;  ///< why a file that it refers to cannot be read: an error of the contexts that use it
  };
  struct User {
    std::string certificate_pem;
    std::string key_pem;
    std::string token;
    std::optional<CredentialPlugin> plugin;
    std::string unsupported;          ///< what it requires and is not supported ("username"); empty: nothing
    std::optional<Error> unreadable;  ///< as of a cluster
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
  /// Issues the credentials that `target` does not have. Only of context_with_plugin().
  std::optional<CredentialPlugin> plugin = {};
};

/// Where kubectl would look: the --kubeconfig flag if given, else $KUBECONFIG split at ':', else $HOME/.kube/config.
std::vector<std::string> kubeconfig_paths(const std::string& flag, const char* kubeconfig_env, const char* home_env);

/// Reads YAML or JSON. The first file that names a cluster, user, context or the current context wins; of several
/// files, missing ones are skipped as kubectl does. Relative file references start at the file's own folder. A
/// tokenFile is read now. Errors: kNotFound, no file exists; kIo; kBadRequest; all name the file. What a cluster or a
/// user refers to and cannot be read is an error of the contexts that use it.
Result<Kubeconfig> read_kubeconfig(const std::vector<std::string>& paths);

/// `context` empty: the current one. Errors: kNotFound, no such context, cluster or user; kInvalid, it requires
/// something unsupported (exec, auth-provider, username and password, impersonation) or names no server; those of the
/// files that its cluster and its user refer to.
Result<KubeconfigContext> context_of(const Kubeconfig& kubeconfig, const std::string& context = "");
/// The same for callers that run credential plugins.
Result<KubeconfigContext> context_with_plugin(const Kubeconfig& kubeconfig, const std::string& context = "");

/// A kubeconfig with one context, cluster and user, all called `name`, with everything inline, as kind writes it.
std::string kubeconfig_text(const std::string& name, const ClientTarget& target, const std::string& ns = "");

/// kubeconfig_text() into a file of mode 0600, whole or not at all. Error: kIo.
Result<void> write_kubeconfig(const std::string& path, const std::string& name, const ClientTarget& target,
                              const std::string& ns = "");

}  // namespace shiplog
