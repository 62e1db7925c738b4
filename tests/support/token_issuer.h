#pragma once

#include <memory>
#include <string>

#include "events/base/value.h"

namespace shiplog::testing {

/// A key pair of an OpenID Connect issuer, which signs what it is given, also what no issuer would.
class IssuerKey {
 public:
  /// `algorithm`: RS256, ES256, PS256, ...
  IssuerKey(std::string id, std::string algorithm, int rsa_bits = 2048);
  ~IssuerKey();
  IssuerKey(const IssuerKey&) = delete;
  IssuerKey& operator=(const IssuerKey&) = delete;

  /// The public part as a JSON web key.
  Value jwk() const;
  /// The same in PEM, as an attacker would use it for a shared secret.
  std::string public_pem() const;
  std::string token(const Value& claims) const;
  /// With another header than its own.
  std::string token(const Value& claims, const Value& header) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A JSON web key set of these keys.
inline Value key_set(std::initializer_list<const IssuerKey*> keys) {
  Value all = Value::array();
  for (const IssuerKey* key : keys) all.push_back(key->jwk());
  return Value::object({{"keys", std::move(all)}});
}

/// A token that is signed with a shared secret (HS256).
std::string token_with_secret(const Value& header, const Value& claims, const std::string& secret);
/// A token with this text for a signature.
std::string token_with(const Value& header, const Value& claims, const std::string& signature);

}  // namespace shiplog::testing
