#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "events/base/result.h"
#include "services/http/client.h"
#include "services/http/server.h"

namespace shiplog::api {

/// Passes one response of a member on to the client as it arrives, at the pace of the client. Threads: any.
class ResponseRelay : public std::enable_shared_from_this<ResponseRelay> {
 public:
  struct Options {
    std::shared_ptr<ResponseWriter> writer;
    /// What is kept until the end: the member's client and the place in it.
    std::shared_ptr<void> keep;
    /// Turns the member's head into the client's; called once. Error: nothing is passed on, and `failed` answers.
    std::function<Result<HttpHeaders>(const HttpResponse&)> headers;
    /// Called with the status before anything is passed on; `then` continues, on any thread. Error: `failed` answers.
    std::function<void(int status, std::function<void(Result<void>)> then)> before;
    /// There was no answer, or it cannot be passed on. Called at most once, instead of everything else.
    std::function<void(const Error&)> failed;
  };
  explicit ResponseRelay(Options options) : options_{std::move(options)} {}

  /// Sends the request. `paced` has the time limits.
  void start(HttpClient& client, HttpRequest request, HttpClient::PacedStream paced);

 private:
  enum class Phase { kWaiting, kBefore, kPassing, kOver };

  void head(const HttpResponse& head);
  void begin(int status, HttpHeaders headers);
  void part(std::string bytes, std::function<void()> more);
  void write(std::string bytes, std::function<void()> more);
  void end(const Result<void>& ended);
  void fail(const Error& error);
  void cancel();

  const Options options_;
  std::mutex mutex_;
  Phase phase_ = Phase::kWaiting;
  std::shared_ptr<HttpClient::Stream> stream_;
  bool cancelled_ = false;
  std::string held_;  // the first bytes, while `before` is under way
  std::function<void()> held_more_;
  bool ended_ = false;  // while `before` was under way
  bool cut_ = false;    // and not as it should
};

}  // namespace shiplog::api
