#pragma once

#include <string>
#include <string_view>

#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog::api {

/// A JSON web token in compact form (RFC 7519), taken apart and not verified: nothing in it is to be believed yet.
struct WebToken {
  Value header, claims;
  std::string signed_part;  ///< header and claims as the signature covers them
  std::string signature;    ///< its bytes

  std::string algorithm() const { return header["alg"].str(); }
  std::string key_id() const { return header["kid"].str(); }
};

/// Error: kUnauthorized, it has not that form. The message contains nothing of the text.
Result<WebToken> parse_web_token(std::string_view text);

}  // namespace shiplog::api
