#pragma once

#include <optional>
#include <string>

#include "events/base/time.h"
#include "events/base/value.h"
#include "events/state/state.h"

namespace shiplog::bootstrap_tokens {

/// The Secret is one of a bootstrap token, judged by what is not sealed: its name, namespace and type (1.6.2).
bool is_token_secret(const ObjectKey& key, const Value& secret);

/// A bootstrap token that clients may know.
struct TokenSecret {
  std::string id, secret;
  bool signs = false;                ///< usage-bootstrap-signing
  std::optional<UtcMillis> expires;  ///< nullopt: never. An expiration that is no time is one that has passed.
};

/// From the opened Secret; nullopt: its content is no token.
std::optional<TokenSecret> token_from(const ObjectKey& key, const Value& opened);

}  // namespace shiplog::bootstrap_tokens
