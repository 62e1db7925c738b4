#include "services/api/auditing/audit_webhook_sink.h"

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>

#include "events/base/json.h"
#include "services/api/auditing/audit_event.h"
#include "services/http/client.h"
#include "services/http/kubeconfig.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

constexpr Millis kTimeout{30'000};
constexpr int kTries = 5;
constexpr double kFactor = 1.5, kJitter = 0.2;

bool may_succeed_later(int status) { return status == 429 || status >= 500; }

class AuditWebhookSink final : public AuditSink {
 public:
  AuditWebhookSink(std::unique_ptr<HttpClient> client, std::string path, Millis backoff, Random& random)
      : client_{std::move(client)}, path_{std::move(path)}, backoff_{backoff}, random_{random} {}

  Result<void> deliver(const std::vector<Value>& events) override {
    const std::string body = to_json(event_list(events));
    auto wait = static_cast<double>(backoff_.value);
    for (int tries = 1;; ++tries) {
      const auto answered = post(body);
      std::string failure;
      bool temporary = true;
      if (!answered) {
        failure = answered.error().message;
        temporary = answered.error().code != ErrorCode::kBadRequest && answered.error().code != ErrorCode::kForbidden;
      } else {
        const int status = answered.value().status;
        if (status >= 200 && status < 300) return ok();
        failure = client_->name() + path_ + ": the answer was " + std::to_string(status);
        temporary = may_succeed_later(status);
      }
      if (!temporary || tries == kTries) return Error{ErrorCode::kUnavailable, failure};
      log::warn("audit.webhook_retried", {log::kv("reason", failure), log::kv("tries", tries)});
      if (!sleep(wait * (1 + kJitter * chance()))) return Error{ErrorCode::kUnavailable, failure};
      wait *= kFactor;
    }
  }

  void interrupt() override {
    const std::lock_guard lock{mutex_};
    interrupted_ = true;
    wake_.notify_all();
  }

 private:
  double chance() { return static_cast<double>(random_.next() % 1000) / 1000; }

  /// False: interrupted.
  bool sleep(double millis) {
    std::unique_lock lock{mutex_};
    return !wake_.wait_for(lock, std::chrono::duration<double, std::milli>{millis}, [&] { return interrupted_; });
  }

  Result<HttpResponse> post(const std::string& body) {
    HttpRequest request;
    request.method = "POST";
    request.path = path_;
    request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
    request.body = body;
    auto answer = std::make_shared<std::promise<Result<HttpResponse>>>();
    auto answered = answer->get_future();
    client_->request(std::move(request), kTimeout,
                     [answer](Result<HttpResponse> response) { answer->set_value(std::move(response)); });
    return answered.get();
  }

  std::unique_ptr<HttpClient> client_;
  std::string path_;
  Millis backoff_;
  Random& random_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool interrupted_ = false;
};

/// The path of a URL, which is cut off it.
std::string cut_path(std::string& url) {
  const size_t scheme = url.find("://");
  const size_t slash = url.find('/', scheme == std::string::npos ? 0 : scheme + 3);
  if (slash == std::string::npos) return "/";
  std::string path = url.substr(slash);
  url.resize(slash);
  return path;
}

}  // namespace

Result<std::unique_ptr<AuditSink>> make_audit_webhook(const std::string& kubeconfig, Millis backoff, Random& random) {
  SHIPLOG_TRY(const Kubeconfig read, read_kubeconfig({kubeconfig}));
  SHIPLOG_TRY(KubeconfigContext context, context_of(read));
  std::string path = cut_path(context.target.url);
  HttpClient::Options options;
  options.user_agent = "shiplogd";
  options.max_response_bytes = 1024 * 1024;
  SHIPLOG_TRY(auto client, HttpClient::create(std::make_shared<IoThreads>(1), context.target, options));
  return std::unique_ptr<AuditSink>{
      std::make_unique<AuditWebhookSink>(std::move(client), std::move(path), backoff, random)};
}

}  // namespace shiplog::api
