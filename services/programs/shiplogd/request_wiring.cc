#include "services/programs/shiplogd/request_wiring.h"

#include <utility>

#include "services/api/pipeline/responses.h"

namespace shiplog {

RequestWiring::RequestWiring(const Options& options) : options_{options} {
  executor_ = std::make_shared<requests::RequestExecutor>(requests::RequestExecutor::Options{
      .submit =
          [this](HttpRequest request, std::shared_ptr<ResponseWriter> writer, api::Submission submission) {
            server_.load()->submit(std::move(request), std::move(writer), std::move(submission));
          },
      .settle =
          [this](Entry entry, std::function<void(Result<Outcome>)> done) {
            server_.load()->settle(std::move(entry), std::move(done));
          },
      .record = options.record,
      .kinds = options.kinds,
      .executor = options.executor,
      .random = options.random});
  endpoint_ = std::make_unique<requests::RequestsEndpoint>(executor_, *options.executor);
}

RequestWiring::~RequestWiring() { stop(); }

bool RequestWiring::serve(const api::RequestContextPtr& context) {
  if (server_.load() == nullptr) {
    api::fail(*context, Error{ErrorCode::kUnavailable,
                              "this server is starting, or processes of an older build are alive: try again later"});
    return true;
  }
  return endpoint_->serve(context);
}

void RequestWiring::start(api::ApiServer& server, std::optional<RequestTopics> topics) {
  server_ = &server;
  if (!topics) return;
  const std::lock_guard lock{mutex_};
  if (stopping_) return;
  consumer_ = std::make_unique<requests::RequestsConsumer>(requests::RequestsConsumer::Options{
      .topics = *std::move(topics), .executor = executor_, .record = options_.record, .random = options_.random});
}

void RequestWiring::stop_consuming() {
  const std::lock_guard lock{mutex_};
  stopping_ = true;
  if (consumer_) consumer_->stop();
}

void RequestWiring::stop() {
  stop_consuming();
  executor_->stop();
}

}  // namespace shiplog
