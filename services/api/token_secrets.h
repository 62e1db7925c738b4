#pragma once

#include <string>
#include <vector>

#include "services/api/context.h"
#include "services/runtime/replica.h"

namespace shiplog::api {

/// A Secret that carries the token of a ServiceAccount for as long as both exist (AUTHN-4): the legacy way, which
/// karmadactl join and many a CI system still use.
bool is_token_secret(const Value& secret);

/// `secret`, which is about to be created, with the token of the account that it names, the authority's certificate and
/// the namespace. Unchanged when there is no such account. Blocks on the projection. Error: kInternal from OpenSSL.
Result<Value> with_token(Server& server, const ObjectKey& key, Value secret);

/// Deletes such Secrets as soon as their account is gone, or was never there. Threads: all on the executor.
class TokenSecrets final : public Observer {
 public:
  /// Deletes those without an account; then follows the changes. `replica` must outlive this and be caught up.
  void begin(Replica& replica, std::string user_agent);
  void on_folded(const State& state, const DecodedRecord& record, const Folded& folded) override;

 private:
  void append(std::vector<Event> events, Cause cause);

  Replica* replica_ = nullptr;  // set by begin()
  std::string user_agent_;
};

}  // namespace shiplog::api
