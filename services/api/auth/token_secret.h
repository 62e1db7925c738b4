#pragma once

#include <string>

#include "services/api/stored_objects.h"

namespace shiplog::api {

class TokenSigner;

/// `secret`, which is about to be created, with the token of the account that it names, `authority_pem` if it is not
/// empty, and the namespace. Unchanged if there is no such account. Blocks on the projection. Error: kInternal from
/// OpenSSL.
Result<Value> with_token(const StoredObjects& objects, const TokenSigner& tokens, const std::string& authority_pem,
                         const ObjectKey& key, Value secret);

}  // namespace shiplog::api
