#pragma once

#include "services/api/auth/rbac/rule.h"
#include "services/http/http.h"

namespace shiplog::api {

/// What this server asks aggregated servers as, when it asks for itself.
User aggregator_user();

/// Names the user of a forwarded request, as aggregated servers read it from a client whose certificate the
/// requestheader CA has signed. Every X-Remote- header that the request came with is removed.
void set_remote_user(HttpHeaders& headers, const User& user);

/// Removes them: from a client they are only a claim.
void remove_remote_user(HttpHeaders& headers);

}  // namespace shiplog::api
