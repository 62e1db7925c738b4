#pragma once

#include <optional>
#include <string>
#include <vector>

#include "events/base/result.h"

namespace shiplog::ctl {

/// A command that kubectl runs: its words without those that are only ours.
struct KubectlCommand {
  std::string name;                  ///< "logs"
  std::vector<std::string> globals;  ///< options of all commands: --kubeconfig, --context, -n, --as ...
  std::vector<std::string> words;    ///< the others, after the name, up to "--"
  std::vector<std::string> rest;     ///< "--" and what follows
  std::vector<std::string> clusters;
  std::string scope;  ///< "", "karmada", "members"
  std::string kubeconfig, context;
  bool all_clusters = false;
  bool help = false;
};

/// The commands that kubectl runs, with what they do.
struct KubectlCommandName {
  const char* name;
  const char* what;
  bool only_members = false;  ///< pods run in member clusters
};
const std::vector<KubectlCommandName>& kubectl_commands();

/// nullopt: the words name another command. Error: kBadRequest, an option has no value, -C names no cluster, or the
/// scope is unknown.
Result<std::optional<KubectlCommand>> read_kubectl_command(const std::vector<std::string>& words);

/// The command line of kubectl. `server` empty: that of the kubeconfig.
std::vector<std::string> kubectl_words(const KubectlCommand& command, const std::string& server,
                                       const std::string& tls_server_name);

}  // namespace shiplog::ctl
