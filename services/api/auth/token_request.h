#pragma once

#include "events/base/random.h"
#include "services/api/auth/authentication.h"

namespace shiplog::api {

inline constexpr const char* kTokenRequestGroup = "authentication.k8s.io";

/// A TokenRequest with the token that it requests (AUTHN-5). `account`: the ServiceAccount `key`; `sources.tokens` is
/// set. Blocks on the projection. Errors: kBadRequest, kInvalid, kNotFound, kConflict; kInternal from OpenSSL.
Result<Value> issue_token(const TokenSources& sources, Random& random, const ObjectKey& key, const Value& account,
                          Value request);

}  // namespace shiplog::api
