#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "events/base/result.h"
#include "services/api/auth/claims.h"

namespace shiplog::api {

/// Longer tokens are refused unread; the header of a request holds no more.
inline constexpr size_t kMostTokenBytes = size_t{64} << 10U;

/// Verifies bearer tokens that others have issued. Threads: any.
class TokenAuthenticator {
 public:
  virtual ~TokenAuthenticator() = default;

  /// nullopt: it is not for this one to say whose token it is. Error: kUnauthorized, it is, and is not accepted;
  /// kUnavailable, it could not be found out. Never with the token or a part of it.
  using Done = std::function<void(Result<std::optional<TokenIdentity>>)>;
  /// `audiences`: any one of them will do. `done` is called once, within the call or later on another thread, and must
  /// not block.
  virtual void authenticate(const std::string& token, const std::vector<std::string>& audiences, Done done) = 0;
};

}  // namespace shiplog::api
