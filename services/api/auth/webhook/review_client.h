#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "events/base/result.h"
#include "events/base/time.h"
#include "events/base/value.h"
#include "services/http/client.h"

namespace shiplog::api {

/// Sends reviews to the webhook that a kubeconfig names, and reads its answers. Threads: any.
class ReviewClient : public std::enable_shared_from_this<ReviewClient> {
 public:
  /// Errors: those of reading the file and its current context; kBadRequest, of the certificates in it.
  static Result<std::shared_ptr<ReviewClient>> from_kubeconfig(const std::string& file,
                                                               Millis timeout = Millis{10'000});

  /// `done` is called once, on a network thread or within the call, and must not block. A call that failed in a way
  /// that may pass is repeated once. Errors: kUnavailable, kTimeout; kTooManyRequests, too many calls are under way.
  void call(const Value& review, std::function<void(Result<Value>)> done);

 private:
  ReviewClient(std::unique_ptr<HttpClient> client, std::string path, Millis timeout);
  void post(std::string body, int tries, std::function<void(Result<Value>)> done);

  const std::unique_ptr<HttpClient> client_;
  const std::string path_;
  const Millis timeout_;
  std::atomic<size_t> under_way_{0};
};

}  // namespace shiplog::api
