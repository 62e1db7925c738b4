#pragma once

#include <functional>
#include <memory>
#include <string>

#include "events/base/result.h"
#include "events/base/time.h"
#include "services/http/client.h"
#include "services/http/client_target.h"

namespace shiplog::estimator {

/// The client for the member's API. What the kubeconfig refers to is replaced while the estimator runs: the token of a
/// pod's service account every hour, a certificate before it expires. Threads: one caller at a time.
class MemberClient {
 public:
  using Read = std::function<Result<ClientTarget>()>;
  using Connect = std::function<Result<std::shared_ptr<HttpClient>>(const ClientTarget&)>;

  /// Errors: those of `read` and `connect`.
  static Result<MemberClient> open(Read read, Connect connect, const Clock& clock);

  /// By what `read` returns now; it is called every 10 seconds at most. While it fails, or what it returns cannot be
  /// used, the last client stays, and the log has the cause once.
  std::shared_ptr<HttpClient> current();

 private:
  MemberClient(Read read, Connect connect, const Clock& clock)
      : read_{std::move(read)}, connect_{std::move(connect)}, clock_{&clock} {}
  Result<void> read_again();

  Read read_;
  Connect connect_;
  const Clock* clock_;
  ClientTarget target_;
  std::shared_ptr<HttpClient> client_;
  UtcMillis read_at_;
  std::string trouble_;
};

}  // namespace shiplog::estimator
