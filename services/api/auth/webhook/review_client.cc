#include "services/api/auth/webhook/review_client.h"

#include <utility>

#include "events/base/json.h"
#include "services/http/kubeconfig.h"

namespace shiplog::api {
namespace {

constexpr size_t kMostUnderWay = 512;
constexpr size_t kMostAnswerBytes = size_t{1} << 20;
constexpr int kTries = 2;

bool may_pass(const Result<HttpResponse>& response) {
  if (!response) return response.error().code == ErrorCode::kUnavailable;
  return response.value().status == 429 || response.value().status >= 500;
}

Result<Value> answer_in(const Result<HttpResponse>& response) {
  if (!response) return response.error();
  const int status = response.value().status;
  if (status < 200 || status > 299) {
    return Error{ErrorCode::kUnavailable, "the webhook answered " + std::to_string(status)};
  }
  auto answer = parse_json(response.value().body);
  // What it sent is not quoted: it may repeat what it was asked.
  if (!answer || !answer.value().is_object()) {
    return Error{ErrorCode::kUnavailable, "the webhook's answer is no JSON object"};
  }
  return answer;
}

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

ReviewClient::ReviewClient(std::unique_ptr<HttpClient> client, std::string path, Millis timeout)
    : client_{std::move(client)}, path_{std::move(path)}, timeout_{timeout} {}

Result<std::shared_ptr<ReviewClient>> ReviewClient::from_kubeconfig(const std::string& file, Millis timeout) {
  SHIPLOG_TRY(const Kubeconfig read, read_kubeconfig({file}));
  SHIPLOG_TRY(KubeconfigContext context, context_of(read));
  if (!context.target.url.starts_with("https://")) {
    return Error{ErrorCode::kInvalid, file + ": the server must begin with https://: users' rights depend on it"};
  }
  std::string path = cut_path(context.target.url);
  HttpClient::Options options;
  options.max_connections = 64;
  options.max_response_bytes = kMostAnswerBytes;
  options.user_agent = "shiplogd";
  SHIPLOG_TRY(auto client, HttpClient::create(std::make_shared<IoThreads>(1), context.target, options));
  return std::shared_ptr<ReviewClient>{new ReviewClient{std::move(client), std::move(path), timeout}};
}

void ReviewClient::call(const Value& review, std::function<void(Result<Value>)> done) {
  if (under_way_.fetch_add(1) >= kMostUnderWay) {
    under_way_.fetch_sub(1);
    return done(Error{ErrorCode::kTooManyRequests, "too many calls of the webhook are under way"});
  }
  post(to_json(review), kTries, std::move(done));
}

void ReviewClient::post(std::string body, int tries, std::function<void(Result<Value>)> done) {
  HttpRequest request;
  request.method = "POST";
  request.target = path_;
  request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
  request.body = body;
  client_->request(std::move(request), timeout_,
                   [self = shared_from_this(), body = std::move(body), tries,
                    done = std::move(done)](const Result<HttpResponse>& response) mutable {
                     if (may_pass(response) && tries > 1)
                       return self->post(std::move(body), tries - 1, std::move(done));
                     self->under_way_.fetch_sub(1);
                     done(answer_in(response));
                   });
}

}  // namespace shiplog::api
