#pragma once

#include <functional>
#include <memory>
#include <string>

#include "services/http/tls.h"
#include "services/runtime/role.h"

namespace shiplog {

/// Role "bootstrap-tokens": the signed ConfigMap cluster-info, and the end of tokens that have expired. `server`
/// returns where the API server of this process is reached, `authority` the fleet's, `open` a Secret in clear text.
/// What it writes is an observation: none of these is part of the state.
std::unique_ptr<Role> make_bootstrap_tokens_role(std::function<std::string()> server_url,
                                                 std::function<Result<KeyPair>()> authority,
                                                 std::function<Result<Value>(const Value& secret)> open);

}  // namespace shiplog
