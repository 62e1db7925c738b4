#include "services/programs/shiplogctl/connection.h"

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>

#include "events/base/json.h"
#include "events/base/utf8.h"
#include "services/http/client.h"
#include "services/http/environment_proxy.h"

namespace shiplog::ctl {
namespace {

/// A value that another thread delivers once.
template <class T>
class DeliveredValue {
 public:
  void set(T value) {
    const std::lock_guard lock{mutex_};
    value_ = std::move(value);
    changed_.notify_all();
  }
  T get() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return value_.has_value(); });
    return std::move(*value_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<T> value_;
};

/// A streamed response, passed from the network thread to the calling thread.
struct Streamed {
  std::mutex mutex;
  std::condition_variable changed;
  std::string pending;
  int status = 0;
  std::optional<Result<void>> end;
};

ErrorCode code_of(int status, std::string_view reason) {
  switch (status) {
    case 400:
      return ErrorCode::kBadRequest;
    case 401:
      return ErrorCode::kUnauthorized;
    case 403:
      return ErrorCode::kForbidden;
    case 404:
      return ErrorCode::kNotFound;
    case 405:
      return ErrorCode::kMethodNotAllowed;
    case 409:
      return reason == "AlreadyExists" ? ErrorCode::kAlreadyExists : ErrorCode::kConflict;
    case 410:
      return ErrorCode::kGone;
    case 413:
      return ErrorCode::kTooLarge;
    case 422:
      return ErrorCode::kInvalid;
    case 429:
      return ErrorCode::kTooManyRequests;
    case 503:
      return ErrorCode::kUnavailable;
    case 504:
      return ErrorCode::kTimeout;
    default:
      return ErrorCode::kInternal;
  }
}

HttpRequest request_of(std::string method, const std::string& path, const Value& body, const char* content_type) {
  HttpRequest request;
  request.method = std::move(method);
  request.path = path;
  request.headers.set("Accept", "application/json");
  request.headers.set("Content-Type", content_type);
  request.body = to_json(body);
  return request;
}

}  // namespace

struct ServerConnection::Impl {
  std::shared_ptr<IoThreads> io = std::make_shared<IoThreads>(1);
  std::unique_ptr<HttpClient> client;
  std::mutex mutex;  // guards what follows
  std::function<Result<std::string>()> renew;
  std::string renewed;  // the token, in place of the client's

  void authorize(HttpRequest& request) {
    const std::lock_guard lock{mutex};
    if (!renewed.empty()) request.headers.set("Authorization", "Bearer " + renewed);
  }

  /// For a request that was refused: whether there is another token by now.
  Result<bool> renew_after(const HttpRequest& refused) {
    const std::lock_guard lock{mutex};
    if (!renew) return false;
    const std::string* used = refused.headers.find("Authorization");
    if (!renewed.empty() && (used == nullptr || *used != "Bearer " + renewed)) return true;  // by another thread
    SHIPLOG_TRY(renewed, renew());
    return true;
  }
};

ServerConnection::ServerConnection(std::string what, ClientTarget target, ImpersonatedUser as,
                                   std::shared_ptr<Impl> impl)
    : what_{std::move(what)}, target_{std::move(target)}, as_{std::move(as)}, impl_{std::move(impl)} {}
ServerConnection::ServerConnection(ServerConnection&&) noexcept = default;
ServerConnection::~ServerConnection() = default;

Result<ServerConnection> ServerConnection::open(std::string what, const ClientTarget& target, ImpersonatedUser as) {
  auto impl = std::make_shared<Impl>();
  HttpClient::Options options;
  options.user_agent = "shiplogctl";
  options.max_connections = 64;  // requests to members that do not answer must not delay the others
  auto client = HttpClient::create(impl->io, through_environment_proxy(target, std::getenv), options);
  if (!client) return client.error().context("cannot connect to " + what);
  impl->client = std::move(client).value();
  return ServerConnection{std::move(what), target, std::move(as), std::move(impl)};
}

ServerConnection ServerConnection::below(std::string what, std::string prefix) const {
  ServerConnection member{std::move(what), target_, as_, impl_};
  member.prefix_ = prefix_ + std::move(prefix);
  member.patience_ = patience_;
  return member;
}

void ServerConnection::renew_token_with(std::function<Result<std::string>()> renew) {
  const std::lock_guard lock{impl_->mutex};
  impl_->renew = std::move(renew);
}

void ServerConnection::impersonate(HttpRequest& request) const {
  if (as_.user.empty()) return;
  request.headers.set("Impersonate-User", as_.user);
  for (const std::string& group : as_.groups) request.headers.add("Impersonate-Group", group);
  if (!as_.uid.empty()) request.headers.set("Impersonate-Uid", as_.uid);
}

Error ServerConnection::unreachable(const Error& error) const {
  std::string hint;
  const auto contains = [&](std::string_view text) { return error.message.find(text) != std::string::npos; };
  if (contains("ertificate") || contains("TLS") || contains("tls")) {
    hint = "; the kubeconfig's certificates must be those of this server";
  } else if (error.code == ErrorCode::kUnavailable) {
    hint = "; check that it is running and that the kubeconfig points to it";
  } else if (error.code == ErrorCode::kTimeout) {
    hint = "; check that no proxy or firewall drops the connection";
  }
  return {error.code, "cannot reach " + what_ + ": " + error.message + hint};
}

Error ServerConnection::refused(const HttpResponse& response) const {
  std::string message;
  std::string reason;
  if (const auto body = parse_json(response.body)) {
    message = body.value()["message"].str();
    reason = body.value()["reason"].str();
  } else {
    message = printable(response.body.substr(0, response.body.find('\n')), 300);
  }
  if (message.empty()) message = "HTTP " + std::to_string(response.status) + " " + reason_phrase(response.status);
  if (response.status == 401)
    message = what_ + " does not accept the credentials (" + message + "): use another kubeconfig";
  return {code_of(response.status, reason), message};
}

Result<Value> ServerConnection::call(HttpRequest request) {
  const std::string path = request.path;
  request.path = prefix_ + request.path;
  impersonate(request);
  const auto ask = [&] {
    impl_->authorize(request);
    const auto answer = std::make_shared<DeliveredValue<Result<HttpResponse>>>();
    impl_->client->request(request, patience_,
                           [answer](Result<HttpResponse> received) { answer->set(std::move(received)); });
    return answer->get();
  };
  auto response = ask();
  if (response && response.value().status == 401) {
    SHIPLOG_TRY(const bool renewed, impl_->renew_after(request));
    if (renewed) response = ask();
  }
  if (!response) return unreachable(response.error());
  if (response.value().status < 200 || response.value().status > 299) return refused(response.value());
  auto body = parse_json(response.value().body);
  if (!body) {
    return Error{ErrorCode::kCorrupt, what_ + " answered " + path + " with a body that is not JSON: is " + target_.url +
                                          " a Kubernetes API server?"};
  }
  return std::move(body).value();
}

Result<Value> ServerConnection::get(const std::string& path, const HttpRequest::Query& query,
                                    const std::string& accept) {
  HttpRequest request;
  request.path = path;
  request.query = query;
  request.headers.set("Accept", accept.empty() ? "application/json" : accept);
  return call(std::move(request));
}

Result<Value> ServerConnection::create(const std::string& path, const Value& object) {
  return call(request_of("POST", path, object, "application/json"));
}

Result<Value> ServerConnection::replace(const std::string& path, const Value& object) {
  return call(request_of("PUT", path, object, "application/json"));
}

Result<Value> ServerConnection::merge_patch(const std::string& path, const Value& patch) {
  return call(request_of("PATCH", path, patch, "application/merge-patch+json"));
}

Result<Value> ServerConnection::remove(const std::string& path) {
  HttpRequest request;
  request.method = "DELETE";
  request.path = path;
  request.headers.set("Accept", "application/json");
  return call(std::move(request));
}

Result<void> ServerConnection::lines(const std::string& path, const HttpRequest::Query& query,
                                     const std::function<bool(std::string_view)>& on_line, const std::string& accept) {
  HttpRequest request;
  request.path = prefix_ + path;
  request.query = query;
  request.headers.set("Accept", accept.empty() ? "application/json" : accept);
  impersonate(request);
  impl_->authorize(request);
  auto passed_on = lines_once(request, on_line);
  if (passed_on || passed_on.error().code != ErrorCode::kUnauthorized) return passed_on;
  SHIPLOG_TRY(const bool renewed, impl_->renew_after(request));
  if (!renewed) return passed_on;
  impl_->authorize(request);
  return lines_once(std::move(request), on_line);
}

Result<void> ServerConnection::lines_once(HttpRequest request, const std::function<bool(std::string_view)>& on_line) {
  const auto streamed = std::make_shared<Streamed>();
  const auto stream = impl_->client->stream(
      std::move(request),
      [streamed](const HttpResponse& head) {
        const std::lock_guard lock{streamed->mutex};
        streamed->status = head.status;
      },
      [streamed](std::string_view data) {
        const std::lock_guard lock{streamed->mutex};
        streamed->pending += data;
        streamed->changed.notify_all();
      },
      [streamed](Result<void> end) {
        const std::lock_guard lock{streamed->mutex};
        streamed->end = std::move(end);
        streamed->changed.notify_all();
      });
  std::string text;
  bool ended = false;
  while (!ended) {
    int status = 0;
    {
      std::unique_lock lock{streamed->mutex};
      streamed->changed.wait(lock, [&] { return !streamed->pending.empty() || streamed->end; });
      text += streamed->pending;
      streamed->pending.clear();
      ended = streamed->end.has_value();
      status = streamed->status;
    }
    if (status < 200 || status > 299) continue;  // the body of an error is read completely
    for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      const std::string line = text.substr(0, end);
      text.erase(0, end + 1);
      if (!on_line(line)) {
        stream->cancel();
        return ok();
      }
    }
  }
  if (!streamed->end->has_value()) return unreachable(streamed->end->error());
  if (streamed->status < 200 || streamed->status > 299) return refused({streamed->status, {}, text});
  return ok();
}

}  // namespace shiplog::ctl
