#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"
#include "services/api/auth/oidc/web_token.h"

namespace shiplog::api {

/// RS256, RS384, RS512, ES256, ES384, ES512, PS256, PS384, PS512: what --oidc-signing-algs can name. Neither `none` nor
/// algorithms with a shared secret are among them.
const std::vector<std::string>& signing_algorithms();

/// The public keys of an issuer, from its JSON web key set (RFC 7517). Threads: any.
class WebKeySet {
 public:
  /// Keys of other kinds, for other uses and RSA keys of less than 2048 bits are left out. Error: kInvalid, it is no
  /// key set, or has too many keys.
  static Result<std::shared_ptr<const WebKeySet>> parse(std::string_view json);
  ~WebKeySet();
  WebKeySet(const WebKeySet&) = delete;
  WebKeySet& operator=(const WebKeySet&) = delete;

  /// One of the keys has signed the token, with the algorithm that the token names: one of signing_algorithms() that
  /// fits the key. If the token names a key, only that one counts.
  bool has_signed(const WebToken& token) const;
  size_t size() const;

 private:
  struct Impl;
  explicit WebKeySet(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog::api
