#include "services/http/client.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <deque>
#include <vector>

#include "services/http/client_connection.h"
#include "services/http/proxy_route.h"
#include "services/http/tls_context.h"

namespace shiplog {
namespace {

using Call = std::shared_ptr<ClientCall>;
using Connection = std::shared_ptr<ClientConnection>;

Result<ClientEndpoint> parse_url(const ClientTarget& target) {
  const auto wrong = [&](const char* why) {
    return Error{ErrorCode::kBadRequest, "server url \"" + target.url + "\": " + why};
  };
  ClientEndpoint endpoint;
  std::string_view rest = target.url;
  bool tls = true;
  if (rest.starts_with("https://")) {
    rest.remove_prefix(8);
  } else if (rest.starts_with("http://")) {
    rest.remove_prefix(7);
    tls = false;
  } else {
    return wrong("it must begin with https:// or http://");
  }
  const size_t slash = std::min(rest.find('/'), rest.size());
  endpoint.authority = rest.substr(0, slash);
  endpoint.path_prefix = rest.substr(slash);
  while (endpoint.path_prefix.ends_with('/')) endpoint.path_prefix.pop_back();
  if (endpoint.path_prefix.find_first_of("?# \r\n") != std::string::npos) return wrong("the path is malformed");
  rest = rest.substr(0, slash);
  if (rest.find_first_of("@ \r\n?#") != std::string_view::npos) return wrong("the host is malformed");
  if (rest.starts_with('[')) {
    const size_t close = rest.find(']');
    if (close == std::string_view::npos) return wrong("the IPv6 address lacks its ']'");
    endpoint.host = rest.substr(1, close - 1);
    rest.remove_prefix(close + 1);
  } else {
    const size_t colon = std::min(rest.find(':'), rest.size());
    endpoint.host = rest.substr(0, colon);
    rest.remove_prefix(colon);
  }
  if (endpoint.host.empty()) return wrong("there is no host");
  endpoint.port = tls ? "443" : "80";
  if (!rest.empty()) {
    uint16_t port = 0;
    const char* const end = rest.data() + rest.size();
    if (rest[0] != ':' || std::from_chars(rest.data() + 1, end, port).ptr != end || port == 0) {
      return wrong("the port is not a number from 1 to 65535");
    }
    endpoint.port = std::to_string(port);
  }
  endpoint.name = (tls ? "https://" : "http://") + endpoint.authority;
  endpoint.server_name = target.server_name.empty() ? endpoint.host : target.server_name;
  endpoint.insecure = target.insecure;
  SHIPLOG_TRY(endpoint.proxy, proxy_route_of(target));
  if (tls) {
    auto context = client_tls(target);
    if (!context) return context.error().context(endpoint.name);
    endpoint.tls = context.value();
  }
  return endpoint;
}

bool printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) > ' ' && c != 127; });
}

bool one_line(std::string_view text) {
  return text.find_first_of(std::string_view{"\r\n\0", 3}) == std::string_view::npos;
}

}  // namespace

/// Which connection carries which call. Lives on one strand.
class HttpClient::Pool final : public ClientConnection::Owner, public std::enable_shared_from_this<Pool> {
 public:
  Pool(IoThreads& io, ClientEndpoint endpoint, std::string bearer_token, Options options)
      : strand{io},
        endpoint_{std::make_shared<const ClientEndpoint>(std::move(endpoint))},
        bearer_token_{std::move(bearer_token)},
        options_{std::move(options)} {}

  const net::Strand strand;
  std::atomic<uint64_t> opened{0};
  std::atomic<bool> closing{false};  // shut() has been posted

  const Options& options() const { return options_; }
  const std::string& name() const { return endpoint_->name; }

  Result<std::string> write_request(const HttpRequest& request) const {
    const std::string target = request.target.empty() ? encode_target(request.path, request.query) : request.target;
    if (request.method.empty() || !printable(request.method) || !target.starts_with('/') || !printable(target)) {
      return Error{ErrorCode::kBadRequest, name() + ": \"" + request.method + " " + target + "\" is no request line"};
    }
    std::string out;
    out.reserve(512 + target.size() + request.body.size());
    out +=
        request.method + " " + endpoint_->path_prefix + target + " HTTP/1.1\r\nHost: " + endpoint_->authority + "\r\n";
    for (const auto& [key, value] : request.headers.all()) {
      if (key.empty() || !printable(key) || !one_line(value)) {
        return Error{ErrorCode::kBadRequest, name() + ": the header " + key + " cannot be written"};
      }
      if (equal_ignoring_case(key, "Host") || equal_ignoring_case(key, "Content-Length")) continue;
      out += key + ": " + value + "\r\n";
    }
    if (!request.headers.contains("User-Agent")) out += "User-Agent: " + options_.user_agent + "\r\n";
    if (!bearer_token_.empty() && !request.headers.contains("Authorization")) {
      out += "Authorization: Bearer " + bearer_token_ + "\r\n";
    }
    const bool may_have_body = request.method != "GET" && request.method != "HEAD" && request.method != "DELETE";
    if (!request.body.empty() || may_have_body)
      out += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
    out += "\r\n" + request.body;
    return out;
  }

  void submit(const Call& call, Millis timeout) {
    if (closed_) return call->fail(Error{ErrorCode::kUnavailable, name() + ": the client has been closed"});
    call->timer.arm(timeout, [weak = weak_from_this(), weak_call = std::weak_ptr{call}, timeout] {
      const auto pool = weak.lock();
      const auto late = weak_call.lock();
      if (!pool || !late) return;
      const bool unsent = std::ranges::find(pool->waiting_, late) != pool->waiting_.end();
      pool->end(late, Error{unsent ? ErrorCode::kTooManyRequests : ErrorCode::kTimeout,
                            pool->name() + ": no answer within " + std::to_string(timeout.value) +
                                " ms (was waiting for " + late->waiting_for + ")"});
    });
    assign(call);
  }

  /// Ends a call before its time.
  void end(const Call& call, const Error& error) {
    std::erase(waiting_, call);
    for (const Connection& connection : std::vector<Connection>{busy_}) {
      if (connection->call() == call) return connection->abort(error);
    }
    call->fail(error);
  }

  void shut() {
    if (closed_) return;
    closed_ = true;
    const Error error{ErrorCode::kUnavailable, name() + ": the client has been closed"};
    for (const Connection& connection : std::vector<Connection>{idle_}) connection->abort(error);
    for (const Connection& connection : std::vector<Connection>{busy_}) connection->abort(error);
    const auto waiting = std::move(waiting_);
    waiting_.clear();
    for (const Call& call : waiting) call->fail(error);
  }

  void ready(const Connection& connection) override {
    std::erase(busy_, connection);
    if (connection->for_stream() || closed_)
      return connection->abort(Error{ErrorCode::kUnavailable, "no longer needed"});
    if (!waiting_.empty()) {
      const Call next = waiting_.front();
      waiting_.pop_front();
      busy_.push_back(connection);
      return connection->carry(next);
    }
    idle_.push_back(connection);
    connection->rest(options_.idle_timeout);
  }

  void gone(const Connection& connection, Call again) override {
    std::erase(idle_, connection);
    std::erase(busy_, connection);
    (connection->for_stream() ? streams_ : connections_) -= 1;
    if (closed_) {
      if (again) again->fail(Error{ErrorCode::kUnavailable, name() + ": the client has been closed"});
      return;
    }
    if (again) {
      again->repeatable = false;
      waiting_.push_front(std::move(again));
    }
    if (!waiting_.empty() && connections_ < options_.max_connections) {
      const Call next = waiting_.front();
      waiting_.pop_front();
      open(next);
    }
  }

 private:
  void assign(const Call& call) {
    if (call->own_connection) {
      if (streams_ >= options_.max_streams) {
        return call->fail(Error{ErrorCode::kTooManyRequests,
                                name() + ": " + std::to_string(options_.max_streams) + " streams are open already"});
      }
      return open(call);
    }
    if (!idle_.empty()) {
      const Connection connection = idle_.back();
      idle_.pop_back();
      busy_.push_back(connection);
      return connection->carry(call);
    }
    if (connections_ < options_.max_connections) return open(call);
    waiting_.push_back(call);
  }

  void open(const Call& call) {
    (call->own_connection ? streams_ : connections_) += 1;
    ++opened;
    const auto connection =
        std::make_shared<ClientConnection>(strand, endpoint_, weak_from_this(), call->own_connection);
    busy_.push_back(connection);
    connection->open(call, options_.connect_timeout);
  }

  std::shared_ptr<const ClientEndpoint> endpoint_;
  std::string bearer_token_;
  Options options_;
  bool closed_ = false;
  size_t connections_ = 0;
  size_t streams_ = 0;
  std::vector<Connection> idle_;  // the most recently used at the back
  std::vector<Connection> busy_;
  std::deque<Call> waiting_;
};

HttpClient::HttpClient(std::shared_ptr<IoThreads> io, std::shared_ptr<Pool> pool)
    : io_{std::move(io)}, pool_{std::move(pool)} {}

HttpClient::~HttpClient() { close(); }

void HttpClient::close() {
  if (pool_->closing.exchange(true)) return;
  pool_->strand.post([pool = pool_] { pool->shut(); });
}

Result<std::unique_ptr<HttpClient>> HttpClient::create(std::shared_ptr<IoThreads> io, const ClientTarget& target) {
  return create(std::move(io), target, Options{});
}

Result<std::unique_ptr<HttpClient>> HttpClient::create(std::shared_ptr<IoThreads> io, const ClientTarget& target,
                                                       const Options& options) {
  SHIPLOG_TRY(auto endpoint, parse_url(target));
  if (!one_line(target.bearer_token))
    return Error{ErrorCode::kBadRequest, endpoint.name + ": the token has a line break"};
  endpoint.denied_networks = options.denied_networks;
  endpoint.dial = options.dial;
  auto pool = std::make_shared<Pool>(*io, std::move(endpoint), target.bearer_token, options);
  return std::unique_ptr<HttpClient>{new HttpClient{std::move(io), std::move(pool)}};
}

const std::string& HttpClient::name() const { return pool_->name(); }

uint64_t HttpClient::connections_opened() const { return pool_->opened.load(); }

void HttpClient::request(HttpRequest request, Millis timeout, OnResponse done) {
  this->request(std::move(request), timeout, std::move(done), Expected{});
}

void HttpClient::request(HttpRequest request, Millis timeout, OnResponse done, Expected expected) {
  auto call = std::make_shared<ClientCall>(pool_->strand);
  call->max_response_bytes =
      expected.max_response_bytes == 0 ? pool_->options().max_response_bytes : expected.max_response_bytes;
  call->lease = std::move(expected.lease);
  call->on_response = std::move(done);
  call->head_request = request.method == "HEAD";
  call->repeatable = request.method == "GET" || request.method == "HEAD";
  auto bytes = pool_->write_request(request);
  if (bytes) call->bytes = std::move(bytes.value());
  // The call ends on the strand, its timer with it: no reference stays here.
  pool_->strand.post([pool = pool_, call = std::move(call), timeout, bytes = std::move(bytes)] {
    if (!bytes) return call->fail(bytes.error());
    pool->submit(call, timeout);
  });
}

void HttpClient::upgrade(HttpRequest request, Millis timeout, OnUpgraded done) {
  auto call = std::make_shared<ClientCall>(pool_->strand);
  call->max_response_bytes = pool_->options().max_response_bytes;
  call->own_connection = true;
  call->on_upgraded = std::move(done);
  auto bytes = pool_->write_request(request);
  if (bytes) call->bytes = std::move(bytes.value());
  pool_->strand.post([pool = pool_, call = std::move(call), timeout, bytes = std::move(bytes)] {
    if (!bytes) return call->fail(bytes.error());
    pool->submit(call, timeout);
  });
}

std::shared_ptr<HttpClient::Stream> HttpClient::stream(HttpRequest request, OnHead on_head, OnData on_data,
                                                       OnEnd on_end) {
  auto call = std::make_shared<ClientCall>(pool_->strand);
  call->own_connection = true;
  call->on_head = std::move(on_head);
  call->on_data = std::move(on_data);
  call->on_end = std::move(on_end);
  return start(request, std::move(call), pool_->options().stream_head_timeout);
}

std::shared_ptr<HttpClient::Stream> HttpClient::stream(HttpRequest request, PacedStream paced) {
  auto call = std::make_shared<ClientCall>(pool_->strand);
  call->own_connection = paced.own_connection;
  call->repeatable = !paced.own_connection && (request.method == "GET" || request.method == "HEAD");
  call->on_head = std::move(paced.on_head);
  call->on_part = std::move(paced.on_part);
  call->idle_timeout = paced.idle_timeout;
  call->on_end = std::move(paced.on_end);
  return start(request, std::move(call), paced.head_timeout);
}

std::shared_ptr<HttpClient::Stream> HttpClient::start(const HttpRequest& request, std::shared_ptr<ClientCall> call,
                                                      Millis head_timeout) {
  struct Handle final : Stream {
    void cancel() override {
      if (call.expired()) return;  // it has ended, and perhaps the threads, too
      pool->strand.post([to = pool, ended = call] {
        if (const Call call_now = ended.lock())
          to->end(call_now, Error{ErrorCode::kUnavailable, to->name() + ": cancelled by the caller"});
      });
    }
    std::shared_ptr<Pool> pool;
    std::weak_ptr<ClientCall> call;
  };
  call->max_response_bytes = pool_->options().max_response_bytes;
  call->streaming = true;
  call->head_request = request.method == "HEAD";
  auto bytes = pool_->write_request(request);
  if (bytes) call->bytes = std::move(bytes.value());
  auto handle = std::make_shared<Handle>();
  handle->pool = pool_;
  handle->call = call;
  pool_->strand.post([pool = pool_, call = std::move(call), head_timeout, bytes = std::move(bytes)] {
    if (!bytes) return call->fail(bytes.error());
    pool->submit(call, head_timeout);
  });
  return handle;
}

}  // namespace shiplog
