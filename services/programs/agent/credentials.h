#pragma once

#include "events/base/result.h"
#include "services/http/client_target.h"
#include "services/programs/agent/options.h"

namespace shiplog::agent {

/// How the control plane is reached: --karmada-kubeconfig. Errors: those of kubeconfigs, naming the file.
Result<ClientTarget> control_plane_target(const AgentOptions& options);

/// How the member is reached: --kubeconfig, or the service account of the pod that the agent runs in. Errors: those of
/// kubeconfigs; kNotFound, there is neither.
Result<ClientTarget> member_target(const AgentOptions& options);

}  // namespace shiplog::agent
