#pragma once

#include <memory>

#include "services/runtime/role.h"

namespace shiplog {

/// Role "agent-csr-approving": approves the requests of agents for certificates. Keys are the requests.
std::unique_ptr<Role> make_agent_csr_approving_role();

namespace agent_csr_approving {

/// decide() with the real reader of requests.
Result<Decided> decide_request(const State& state, const ObjectKey& key, UtcMillis now);

}  // namespace agent_csr_approving
}  // namespace shiplog
