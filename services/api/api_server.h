#pragma once

#include <functional>
#include <memory>
#include <string>

#include "services/api/pipeline/server.h"
#include "services/http/tls.h"

namespace shiplog::api {

/// The Kubernetes API over HTTPS: discovery, objects, watches. Any number may serve one journal: order is the
/// journal's. Threads: start() and stop() from the owner's.
class ApiServer {
 public:
  using Options = ServerOptions;

  static Result<std::unique_ptr<ApiServer>> start(Options options);
  ~ApiServer();

  /// Handles a request that `intercept` took over, as if it had just arrived.
  void handle(HttpRequest request, std::shared_ptr<ResponseWriter> writer);

  /// Handles the request that a produced request stands for.
  void submit(HttpRequest request, std::shared_ptr<ResponseWriter> writer, Submission submission);
  /// Appends the entry that settles a produced request which was not carried out; `done` is called on the fold thread.
  void settle(Entry entry, std::function<void(Result<Outcome>)> done);

  /// See HttpServer.
  Result<void> use_certificate(const KeyPair& server);

  std::string url() const;
  uint16_t port() const;
  /// Ends watches, finishes requests, until `deadline`.
  void stop(Millis deadline);

 private:
  struct Impl;
  explicit ApiServer(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace shiplog::api
