#pragma once

#include <string>
#include <string_view>

#include "events/base/result.h"
#include "services/http/kubeconfig.h"
#include "services/programs/shiplogctl/connection.h"

namespace shiplog::ctl {

/// The ExecCredential that a plugin gets in the variable KUBERNETES_EXEC_INFO. `interactive`: it may read from the
/// terminal.
std::string exec_info(const CredentialPlugin& plugin, const ClientTarget& cluster, bool interactive);

/// Puts what a plugin has printed into `target`: a token, or a certificate and its key. Error: kInvalid, it is no
/// ExecCredential of the version that the kubeconfig names, or has neither; the message has nothing of its content.
Result<void> take_credentials(const CredentialPlugin& plugin, std::string_view printed, ClientTarget& target);

/// A connection with the context's credentials. Its plugin, if it has one, is run first, and again when the server no
/// longer accepts the token. Errors: kInvalid, the kubeconfig's `exec` is incomplete, or the plugin's output is wrong;
/// kNotFound, it is not installed; kUnauthorized, it failed.
Result<ServerConnection> connect_to(std::string what, const KubeconfigContext& context, ImpersonatedUser as = {});

}  // namespace shiplog::ctl
