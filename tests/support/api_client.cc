#include "tests/support/api_client.h"

#include <atomic>
#include <future>
#include <mutex>

#include <gtest/gtest.h>

#include "events/base/json.h"
#include "services/http/client.h"
#include "services/http/kubeconfig.h"

namespace shiplog::e2e {
namespace {

/// What the callbacks of a stream write to; they may run after the watch is destroyed.
struct Received {
  mutable std::mutex mutex;
  std::string rest;
  std::vector<Value> events;
  bool ended = false;
};

class HttpWatch final : public WatchStream {
 public:
  HttpWatch(HttpClient& client, const std::string& target, const std::string& accept) {
    HttpRequest request;
    request.target = target;
    request.headers.set("Accept", accept);
    stream_ = client.stream(
        std::move(request),
        [received = received_](const HttpResponse& head) {
          if (head.status == 200) return;
          const std::lock_guard lock{received->mutex};
          received->events.push_back(Value::object({{"type", "HTTP"}, {"status", head.status}}));
        },
        [received = received_](std::string_view data) {
          const std::lock_guard lock{received->mutex};
          received->rest += data;
          for (size_t end = received->rest.find('\n'); end != std::string::npos; end = received->rest.find('\n')) {
            if (auto event = parse_json(std::string_view{received->rest}.substr(0, end))) {
              received->events.push_back(std::move(event).value());
            }
            received->rest.erase(0, end + 1);
          }
        },
        [received = received_](Result<void>) {
          const std::lock_guard lock{received->mutex};
          received->ended = true;
        });
  }
  ~HttpWatch() override { stream_->cancel(); }
  std::vector<Value> events() const override {
    const std::lock_guard lock{received_->mutex};
    return received_->events;
  }
  bool ended() const override {
    const std::lock_guard lock{received_->mutex};
    return received_->ended;
  }

 private:
  std::shared_ptr<Received> received_ = std::make_shared<Received>();
  std::shared_ptr<HttpClient::Stream> stream_;
};

}  // namespace

std::ostream& operator<<(std::ostream& stream, const Answer& answer) {
  if (answer.status == 0) return stream << "no answer: " << answer.error << "\n";
  return stream << "HTTP " << answer.status << "\n" << answer.body.substr(0, 4000) << "\n";
}

bool WatchStream::wait_for(size_t count, std::chrono::milliseconds patience) const {
  return eventually([&] { return events().size() >= count; }, patience);
}

struct ApiClient::Impl {
  std::shared_ptr<IoThreads> io = std::make_shared<IoThreads>(1);
  std::unique_ptr<HttpClient> client;
};

ApiClient::ApiClient(const std::string& kubeconfig) : impl_{std::make_unique<Impl>()} {
  const auto config = read_kubeconfig({kubeconfig});
  if (!config) {
    ADD_FAILURE() << config.error().message;
    return;
  }
  const auto context = context_of(config.value());
  if (!context) {
    ADD_FAILURE() << context.error().message;
    return;
  }
  auto client = HttpClient::create(impl_->io, context.value().target);
  if (!client) {
    ADD_FAILURE() << client.error().message;
    return;
  }
  impl_->client = std::move(client).value();
}

ApiClient::~ApiClient() = default;

Answer ApiClient::call(const std::string& method, const std::string& target, std::string body, HttpHeaders headers,
                       std::chrono::milliseconds patience) const {
  Answer answer;
  if (!impl_->client) {
    answer.error = "no client";
    return answer;
  }
  HttpRequest request;
  request.method = method;
  request.target = target;
  request.body = std::move(body);
  request.headers = std::move(headers);
  if (!request.headers.contains("Accept")) request.headers.set("Accept", "application/json");
  if (!request.body.empty() && !request.headers.contains("Content-Type")) {
    request.headers.set("Content-Type", "application/json");
  }
  const auto done = std::make_shared<std::promise<Result<HttpResponse>>>();
  impl_->client->request(std::move(request), Millis{patience.count()},
                         [done](Result<HttpResponse> response) { done->set_value(std::move(response)); });
  auto response = done->get_future().get();
  if (!response) {
    answer.error = response.error().message;
    return answer;
  }
  answer.status = response.value().status;
  answer.headers = response.value().headers;
  answer.body = response.value().body;
  if (auto parsed = parse_json(answer.body)) answer.json = std::move(parsed).value();
  return answer;
}

Answer ApiClient::get(const std::string& target, const std::string& accept) const {
  return call("GET", target, {}, {{"Accept", accept}});
}
Answer ApiClient::post(const std::string& target, const Value& object) const {
  return call("POST", target, to_json(object));
}
Answer ApiClient::put(const std::string& target, const Value& object) const {
  return call("PUT", target, to_json(object));
}
Answer ApiClient::patch(const std::string& target, const std::string& type, const Value& patch) const {
  return call("PATCH", target, to_json(patch), {{"Content-Type", "application/" + type + "-patch+json"}});
}
Answer ApiClient::remove(const std::string& target) const { return call("DELETE", target); }

std::unique_ptr<WatchStream> ApiClient::watch(const std::string& target, const std::string& accept) const {
  return std::make_unique<HttpWatch>(*impl_->client, target, accept);
}

Value json(std::string_view text) {
  auto parsed = parse_json(text);
  if (parsed) return std::move(parsed).value();
  ADD_FAILURE() << parsed.error().message << " in " << text;
  return {};
}

}  // namespace shiplog::e2e
