#include "services/http/connection.h"

#include <algorithm>
#include <exception>

#include "services/http/exchange.h"

namespace shiplog {
namespace {

constexpr size_t kRequestInputBytes = 8 * 1024;
constexpr size_t kBodyInputBytes = 64 * 1024;

}  // namespace

HttpConnection::HttpConnection(std::shared_ptr<ServerState> server, net::Strand strand,
                               std::unique_ptr<net::Transport> transport)
    : server_{std::move(server)},
      strand_{std::move(strand)},
      transport_{std::move(transport)},
      timer_{strand_},
      address_{transport_->peer().address} {
  const auto& options = server_->options;
  tick_ = std::min({options.header_timeout, options.body_timeout, options.idle_timeout, options.write_timeout,
                    options.request_timeout});
  peer_ = transport_->peer();
}

void HttpConnection::start() {
  read_deadline_ = std::chrono::steady_clock::now() + std::chrono::milliseconds{server_->options.header_timeout.value};
  tick();
  if (server_->options.certificate_pem.empty()) return next_request();
  // A client that sends nothing gets no TLS session.
  transport_->when_readable([self = shared_from_this()](const Result<void>& readable) {
    if (self->phase_ == Phase::kClosed) return;
    if (!readable) return self->lose(readable.error());
    self->handshake();
  });
}

void HttpConnection::handshake() {
  transport_->handshake_as_server(server_->current_tls(), [self = shared_from_this()](const Result<void>& done) {
    if (self->phase_ == Phase::kClosed) return;
    if (!done) return self->lose(done.error().context("TLS handshake failed"));
    self->peer_ = self->transport_->peer();
    self->next_request();
  });
}

// --- receiving ---------------------------------------------------------------------------------------------------

void HttpConnection::next_request() {
  if (stopping_) return finish_gently();
  phase_ = Phase::kIdle;
  parser_.reset();
  // A connection that never sends anything is held to the header's time, not to the longer one between requests.
  if (exchange_ > 0) {
    read_deadline_ = std::chrono::steady_clock::now() + std::chrono::milliseconds{server_->options.idle_timeout.value};
  }
  parse();
}

void HttpConnection::read() {
  if (reading_ || phase_ == Phase::kClosed) return;
  if (input_.empty()) input_.release();  // a connection that waits holds no buffer
  // While handling, a full buffer is enough of what a client sends ahead of its answer.
  if (phase_ == Phase::kHandling && input_.unread().size() >= kRequestInputBytes) return;
  reading_ = true;
  transport_->when_readable([self = shared_from_this()](const Result<void>& readable) {
    self->reading_ = false;
    if (self->phase_ == Phase::kClosed || self->phase_ == Phase::kUpgraded) return;
    if (!readable) return self->lose(readable.error());
    self->receive();
  });
}

void HttpConnection::receive() {
  const size_t most = server_->options.max_header_bytes + kRequestInputBytes;
  const size_t wanted = phase_ == Phase::kBody && input_.empty() && input_full_ ? kBodyInputBytes
                        : input_.unread().size() < kRequestInputBytes           ? kRequestInputBytes
                                                                      : std::min(input_.unread().size() * 2, most);
  const size_t space = input_.reserve(wanted);
  const auto count = transport_->try_read(input_.space(), space);
  if (!count) return lose(count.error());
  if (!count.value()) return read();
  if (*count.value() == 0) return lose(Error{ErrorCode::kUnavailable, "the client closed the connection"});
  input_full_ = *count.value() == space;
  received(*count.value());
}

void HttpConnection::received(size_t count) {
  input_.received(count);
  if (phase_ == Phase::kHandling) return read();
  if (phase_ == Phase::kRefusing) return;
  parse();
}

void HttpConnection::parse() {
  const auto& options = server_->options;
  if (phase_ == Phase::kIdle) {
    if (input_.empty()) return read();
    phase_ = Phase::kHeader;
    parser_ = std::make_unique<RequestParser>(
        ParseLimits{options.max_header_bytes, options.max_target_bytes, options.max_body_bytes});
    read_deadline_ = std::chrono::steady_clock::now() + std::chrono::milliseconds{options.header_timeout.value};
  }
  while (true) {
    size_t used = 0;
    const ParseStep step = parser_->feed(input_.unread(), used);
    input_.consume(used);
    switch (step) {
      case ParseStep::kNeedMore:
        if (input_.unread().size() > options.max_header_bytes)
          return refuse(400, "a chunk's header or trailer is too long");
        return read();
      case ParseStep::kHeader:
        if (!header_received()) return;
        break;
      case ParseStep::kDone:
        return handle();
      case ParseStep::kFailed:
        return refuse(parser_->status(), parser_->problem());
    }
  }
}

bool HttpConnection::header_received() {
  phase_ = Phase::kBody;
  read_deadline_ = std::chrono::steady_clock::now() + std::chrono::milliseconds{server_->options.body_timeout.value};
  const HttpHeaders& headers = parser_->request().headers;
  if (parser_->http11() && !headers.contains("Host")) {
    refuse(400, "the request has no Host header");
    return false;
  }
  const auto hosts = std::ranges::count_if(
      headers.all(), [](const HttpHeaders::Field& field) { return equal_ignoring_case(field.first, "Host"); });
  if (hosts > 1) {  // a proxy in front may go by the other one
    refuse(400, "the request has more than one Host header");
    return false;
  }
  const std::string* expect = headers.find("Expect");
  if (expect == nullptr) return true;
  if (!equal_ignoring_case(*expect, "100-continue")) {
    refuse(417, "the expectation \"" + *expect + "\" is not understood");
    return false;
  }
  if (parser_->http11() && input_.empty()) enqueue("HTTP/1.1 100 Continue\r\n\r\n", nullptr);
  return true;
}

void HttpConnection::handle() {
  HttpRequest request = std::move(parser_->request());
  ++exchange_;
  http11_ = parser_->http11();
  head_request_ = request.method == "HEAD";
  keep_alive_ = parser_->keep_alive() && !stopping_;
  streaming_ = chunked_ = complete_ = false;
  read_deadline_.reset();
  request.peer = peer_;
  if (const auto parsed = parse_target(request); !parsed) {
    parser_->request() = std::move(request);
    return refuse(400, parsed.error().message);
  }
  phase_ = Phase::kHandling;
  over_ = std::make_shared<std::atomic<bool>>(false);
  if (server_->in_flight.fetch_add(1) >= server_->options.max_in_flight) {
    server_->in_flight.fetch_sub(1);
    ++server_->refused;
    HttpResponse busy = refusal(request, 429, "too many requests are being handled: try again soon");
    busy.headers.set("Retry-After", "1");
    send(exchange_, std::move(busy));
    return read();
  }
  counted_ = true;
  ++server_->requests;
  answer_deadline_ =
      std::chrono::steady_clock::now() + std::chrono::milliseconds{server_->options.request_timeout.value};
  try {
    server_->handler(std::move(request), response_writer(shared_from_this(), exchange_, over_));
  } catch (const std::exception& thrown) {
    send(exchange_, refusal({}, 500, std::string{"the handler failed: "} + thrown.what()));
  }
  read();
}

HttpResponse HttpConnection::refusal(const HttpRequest& request, int status, const std::string& message) {
  if (server_->options.refusal) return server_->options.refusal(request, status, message);
  return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, message + "\n"};
}

void HttpConnection::refuse(int status, const std::string& message) {
  ++server_->refused;
  server_->trouble(peer_, Error{ErrorCode::kBadRequest, "refused with " + std::to_string(status) + ": " + message});
  HttpRequest request = std::move(parser_->request());
  request.peer = peer_;
  if (request.path.empty() && !parse_target(request)) request.path.clear();
  phase_ = Phase::kRefusing;
  read_deadline_.reset();
  keep_alive_ = false;
  const bool head_request = request.method == "HEAD";
  const HttpResponse response = refusal(request, status, message);
  std::string bytes =
      head(response.status, response.headers, "Content-Length: " + std::to_string(response.body.size()) + "\r\n");
  if (!head_request) bytes += response.body;
  enqueue(std::move(bytes), [this](const Result<void>& written) {
    if (written) finish_gently();
  });
}

// --- time and the end --------------------------------------------------------------------------------------------

/// Deadlines move with every request; the timer does not. It expires at the earliest deadline, but at least once in the
/// shortest timeout: a deadline set in between lies after the next waking, so none is met late.
void HttpConnection::tick() {
  Millis wait = tick_;
  const auto now = std::chrono::steady_clock::now();
  for (const auto& deadline : {read_deadline_, answer_deadline_, write_deadline_}) {
    if (!deadline) continue;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - now).count();
    wait = std::min(wait, Millis{std::max<int64_t>(left, 0)});
  }
  timer_.arm(wait, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->expired();
  });
}

void HttpConnection::expired() {
  if (phase_ == Phase::kClosed) return;
  const auto now = std::chrono::steady_clock::now();
  if (write_deadline_ && *write_deadline_ <= now) {
    return lose(Error{ErrorCode::kTimeout, "the client takes its answer too slowly: its connection is closed"});
  }
  if (answer_deadline_ && *answer_deadline_ <= now) {
    ++server_->refused;
    send(exchange_, refusal({}, 504, "the request was not answered in time"));
  }
  if (read_deadline_ && *read_deadline_ <= now) {
    read_deadline_.reset();
    if (phase_ == Phase::kHandshake) return lose(Error{ErrorCode::kTimeout, "the TLS handshake took too long"});
    if (phase_ == Phase::kIdle) return finish_gently();
    refuse(408, "the request did not arrive in time");
  }
  if (phase_ != Phase::kClosed) tick();
}

void HttpConnection::stop() {
  strand_.dispatch([self = shared_from_this()] {
    self->stopping_ = true;
    switch (self->phase_) {
      case Phase::kHandshake:
        return self->lose(Error{ErrorCode::kUnavailable, "the server is stopping"});
      case Phase::kIdle:
      case Phase::kHeader:
        return self->finish_gently();
      case Phase::kHandling:
        self->keep_alive_ = false;
        if (self->streaming_ && !self->complete_) {
          self->notify_closed();
          self->end_stream(self->exchange_);
        }
        return;
      case Phase::kUpgraded:
        if (const auto stream = self->upgraded_.lock()) stream->close();
        return;
      case Phase::kBody:
      case Phase::kRefusing:
      case Phase::kClosed:
        return;
    }
  });
}

void HttpConnection::kill() {
  strand_.dispatch([self = shared_from_this()] {
    self->lose(Error{ErrorCode::kUnavailable, "the server is stopping"});
  });
}

void HttpConnection::release_counts() {
  if (counted_) server_->in_flight.fetch_sub(1);
  if (streaming_) server_->streams.fetch_sub(1);
  counted_ = streaming_ = false;
}

void HttpConnection::notify_closed() {
  if (over_) over_->store(true);
  const auto callback = std::move(on_close_);
  on_close_ = nullptr;
  if (callback) callback();
}

void HttpConnection::finish_gently() {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  timer_.cancel();
  transport_->close_gently(server_->options.linger);
  leave();
}

void HttpConnection::lose(const Error& error) {
  if (phase_ == Phase::kClosed) return;
  if (phase_ == Phase::kUpgraded) {
    if (const auto stream = upgraded_.lock()) stream->close();
    return;
  }
  const Phase was = phase_;
  phase_ = Phase::kClosed;
  timer_.cancel();
  transport_->close();
  release_counts();
  if (was == Phase::kHandshake || error.code == ErrorCode::kTimeout) {
    ++server_->refused;
    server_->trouble(peer_, error);
  }
  notify_closed();
  auto pieces = std::move(output_);
  auto finished = std::move(writing_done_);
  output_.clear();
  writing_done_.clear();
  for (Piece& piece : pieces) finished.push_back(std::move(piece.done));
  for (const auto& done : finished) {
    if (done) done(error);
  }
  leave();
}

void HttpConnection::leave() { server_->leave(this); }

}  // namespace shiplog
