#pragma once

#include "services/api/context.h"

namespace shiplog::api {

/// `secret`, which is about to be created, with the token of the account that it names, the authority's certificate and
/// the namespace. Unchanged when there is no such account. Blocks on the projection. Error: kInternal from OpenSSL.
Result<Value> with_token(Server& server, const ObjectKey& key, Value secret);

}  // namespace shiplog::api
