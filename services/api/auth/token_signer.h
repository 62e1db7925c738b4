#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "events/base/result.h"
#include "events/base/value.h"

namespace shiplog::api {

/// Signs and verifies the fleet's own tokens: JSON web tokens with ES256 (AUTHN-4). Threads: any.
class TokenSigner {
 public:
  /// `key_pem`: a private key on the curve P-256. Error: kBadRequest, it is none.
  static Result<std::unique_ptr<TokenSigner>> from_key(const std::string& key_pem);
  ~TokenSigner();

  /// The signed token with these claims. Error: kInternal from OpenSSL.
  Result<std::string> sign(const Value& claims) const;
  /// The claims of a token signed by this key; they are not validated. Error: kUnauthorized, with the cause.
  Result<Value> verify(std::string_view token) const;
  /// The public key as a JSON web key set (AUTHN-8).
  Value key_set() const;

 private:
  struct Impl;
  explicit TokenSigner(std::unique_ptr<Impl> impl);
  Result<Value> check(std::string_view token) const;
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog::api
