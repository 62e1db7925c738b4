#pragma once

#include <string>
#include <vector>

#include "services/runtime/replica.h"

namespace shiplog::api {

/// Deletes Secrets that carry the token of a ServiceAccount as soon as the account is gone, or if it was never there.
/// Threads: all on the executor.
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
