#include "services/runtime/members/https_members.h"

#include <utility>
#include <vector>

#include "events/base/base64.h"
#include "events/base/json.h"

namespace shiplog {
namespace {

/// More under way at once would only queue up in the member.
constexpr size_t kRequestsPerMember = 8;

MemberResponse response_from(HttpResponse answer) {
  MemberResponse response;
  response.status = answer.status;
  if (answer.body.empty()) return response;
  auto parsed = parse_json(answer.body);
  response.body = parsed ? std::move(parsed).value() : Value{answer.body};
  return response;
}

}  // namespace

std::string MemberResponse::message() const {
  if (body.is_string()) return body.str();
  if (const auto text = body["message"].as_string(); !text.empty()) return std::string{text};
  return "HTTP status " + std::to_string(status);
}

/// Cuts the stream into lines on the network's thread and hands events over to the executor's.
class HttpsMembers::Watch final : public MemberWatch {
 public:
  struct Shared {
    Executor* executor = nullptr;
    std::function<void(const Value&)> on_event;
    std::function<void(Result<void>)> on_end;
    bool ended = false;  // executor only
    std::string rest;    // network thread only
    int status = 0;
  };

  explicit Watch(std::shared_ptr<Shared> shared) : shared_{std::move(shared)} {}
  ~Watch() override {
    shared_->ended = true;
    if (stream_) stream_->cancel();
  }

  static void feed(const std::shared_ptr<Shared>& shared, std::string_view data) {
    shared->rest += data;
    size_t begin = 0;
    auto events = std::make_shared<std::vector<Value>>();
    for (size_t end = shared->rest.find('\n'); end != std::string::npos; end = shared->rest.find('\n', begin)) {
      auto event = parse_json(std::string_view{shared->rest}.substr(begin, end - begin));
      if (event && event.value().is_object()) events->push_back(std::move(event).value());
      begin = end + 1;
    }
    shared->rest.erase(0, begin);
    if (events->empty()) return;
    shared->executor->post([shared, events] {
      for (const Value& event : *events) {
        if (shared->ended) return;
        shared->on_event(event);
      }
    });
  }

  static void finish(const std::shared_ptr<Shared>& shared, Result<void> end) {
    shared->executor->post([shared, end = std::move(end)] {
      if (std::exchange(shared->ended, true)) return;
      shared->on_end(end);
    });
  }

  std::shared_ptr<Shared> shared_;
  std::shared_ptr<HttpClient::Stream> stream_;
};

HttpsMembers::HttpsMembers(Options options) : options_{std::move(options)} {}

HttpsMembers::~HttpsMembers() { *alive_ = false; }

Result<std::shared_ptr<HttpClient>> HttpsMembers::client_for(const std::string& cluster) {
  const State& state = *options_.state;
  const Cluster* view = state.cluster(cluster);
  if (view == nullptr) return Error{ErrorCode::kNotFound, "there is no cluster " + cluster};
  const Value& object = state.value_of({type::kCluster, "", cluster});
  const ObjectKey secret_key{type::kSecret, view->secret_namespace, view->secret_name};
  const Object* secret = state.find(secret_key);
  if (secret == nullptr) {
    return Error{ErrorCode::kNotFound, "cluster " + cluster + ": its credentials, secret " + view->secret_namespace +
                                           "/" + view->secret_name + ", do not exist"};
  }
  Member& member = members_[cluster];
  const std::string insecure = object["spec"]["insecureSkipTLSVerification"].as_bool() ? "yes" : "no";
  if (member.client && member.url == view->api_endpoint && member.secret == secret->revision &&
      member.insecure == insecure) {
    return member.client;
  }

  Value opened = secret->value;
  if (options_.open) {
    SHIPLOG_TRY(opened, options_.open(std::move(opened)));
  }
  ClientTarget target;
  target.url = view->api_endpoint;
  target.insecure = insecure == "yes";
  const std::pair<const char*, std::string*> fields[] = {{"caBundle", &target.ca_pem},
                                                         {"token", &target.bearer_token},
                                                         {"client-certificate-data", &target.certificate_pem},
                                                         {"client-key-data", &target.key_pem}};
  for (const auto& [name, into] : fields) {
    const Value& field = opened["data"][name];
    if (field.is_empty()) continue;
    auto bytes = base64_decode(field.as_string());
    if (!bytes) return Error{ErrorCode::kInvalid, "cluster " + cluster + ": the secret's " + name + " is not base64"};
    *into = *std::move(bytes);
  }
  HttpClient::Options options;
  options.max_connections = kRequestsPerMember;
  options.user_agent = options_.user_agent;
  auto made = HttpClient::create(options_.io, target, options);
  if (!made) return made.error().context("cluster " + cluster);
  member = {view->api_endpoint, insecure, secret->revision, std::move(made).value()};
  return member.client;
}

void HttpsMembers::request(const std::string& cluster, MemberRequest request,
                           std::function<void(Result<MemberResponse>)> done) {
  auto client = client_for(cluster);
  if (!client) {
    options_.executor->post([done = std::move(done), error = client.error()] { done(error); });
    return;
  }
  HttpRequest http;
  http.method = request.method;
  http.target = request.path;
  http.headers.set("Accept", "application/json");
  if (!request.body.is_null()) {
    http.body = to_json(request.body);
    http.headers.set("Content-Type", request.content_type);
  }
  // The client is kept while its request is under way: a change of credentials must not cut it off.
  client.value()->request(std::move(http), request.timeout,
                          [executor = options_.executor, alive = alive_, cluster, kept = client.value(),
                           done = std::move(done)](Result<HttpResponse> answer) {
                            auto shared = std::make_shared<Result<MemberResponse>>(
                                answer ? Result<MemberResponse>{response_from(std::move(answer).value())}
                                       : Result<MemberResponse>{answer.error().context("cluster " + cluster)});
                            executor->post([alive, kept, done, shared] {
                              if (*alive) done(std::move(*shared));
                            });
                          });
}

std::unique_ptr<MemberWatch> HttpsMembers::watch(const std::string& cluster, std::string path,
                                                 std::function<void(const Value&)> on_event,
                                                 std::function<void(Result<void>)> on_end) {
  auto shared = std::make_shared<Watch::Shared>();
  shared->executor = options_.executor;
  shared->on_event = std::move(on_event);
  shared->on_end = std::move(on_end);
  auto watch = std::make_unique<Watch>(shared);
  auto client = client_for(cluster);
  if (!client) {
    Watch::finish(shared, client.error());
    return watch;
  }
  HttpRequest http;
  http.target = path + (path.find('?') == std::string::npos ? "?" : "&") + "watch=true&allowWatchBookmarks=true";
  http.headers.set("Accept", "application/json");
  watch->stream_ = client.value()->stream(
      std::move(http), [shared](const HttpResponse& head) { shared->status = head.status; },
      [shared](std::string_view data) {
        if (shared->status == 200) Watch::feed(shared, data);
      },
      [shared, cluster, kept = client.value()](Result<void> end) {
        if (end && shared->status != 200) {
          end = Error{ErrorCode::kUnavailable,
                      "cluster " + cluster + ": watch answered with HTTP status " + std::to_string(shared->status)};
        }
        // `kept` goes with this callback: not on the network's thread, which its destructor may wait for.
        shared->executor->post([kept] {});
        Watch::finish(shared, std::move(end));
      });
  return watch;
}

}  // namespace shiplog
