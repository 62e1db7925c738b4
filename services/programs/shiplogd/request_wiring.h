#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include "services/api/api_server.h"
#include "services/programs/journals.h"
#include "services/programs/requests/consumer.h"
#include "services/requests/endpoint.h"
#include "services/requests/executor.h"

namespace shiplog {

/// What serves produced requests in a process with an API server: over HTTP, and from topics where the journal is on
/// Kafka.
class RequestWiring {
 public:
  struct Options {
    api::Store* record = nullptr;
    api::KindRegistry* kinds = nullptr;
    Executor* executor = nullptr;
    Random* random = nullptr;
  };
  explicit RequestWiring(const Options& options);
  ~RequestWiring();

  /// ServerOptions::requests. Until start(), requests are answered with 503.
  bool serve(const api::RequestContextPtr& context);

  /// Once the journal is at a fold version that settles requests. `topics`: nullopt with a journal that is a file.
  void start(api::ApiServer& server, std::optional<RequestTopics> topics);
  /// Before the server stops: no more records are consumed, also if start() comes later, on another thread.
  void stop_consuming();
  /// After it.
  void stop();

 private:
  Options options_;
  std::atomic<api::ApiServer*> server_{nullptr};
  std::shared_ptr<requests::RequestExecutor> executor_;
  std::unique_ptr<requests::RequestsEndpoint> endpoint_;

  std::mutex mutex_;  // guards those below
  std::unique_ptr<requests::RequestsConsumer> consumer_;
  bool stopping_ = false;
};

}  // namespace shiplog
