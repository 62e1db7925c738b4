#include "services/http/client_connection.h"

#include <algorithm>
#include <utility>

#include <unistd.h>

#include "services/http/proxy_route.h"
#include "services/http/upgraded_stream.h"

namespace shiplog {
namespace {

constexpr size_t kResponseInputBytes = 16 * 1024;
constexpr size_t kMaxHeaderBytes = 256 * 1024;

}  // namespace

void ClientCall::fail(const Error& error) {
  if (finished) return;
  finished = true;
  timer.cancel();
  const auto response = std::move(on_response);
  const auto end = std::move(on_end);
  const auto upgrade = std::move(on_upgraded);
  on_head = nullptr;
  on_data = nullptr;
  on_part = nullptr;
  if (response) response(error);
  if (end) end(error);
  if (upgrade) upgrade(error);
}

void ClientCall::succeed(HttpResponse answer, std::shared_ptr<ByteStream> upgraded) {
  if (finished) return;
  finished = true;
  timer.cancel();
  const auto response = std::move(on_response);
  const auto end = std::move(on_end);
  const auto upgrade = std::move(on_upgraded);
  on_head = nullptr;
  on_data = nullptr;
  on_part = nullptr;
  if (end) end(ok());
  if (upgrade) return upgrade(HttpClient::Upgraded{std::move(answer), std::move(upgraded)});
  if (response) response(std::move(answer));
}

ClientConnection::ClientConnection(net::Strand strand, std::shared_ptr<const ClientEndpoint> endpoint,
                                   std::weak_ptr<Owner> owner, bool for_stream)
    : strand_{std::move(strand)},
      endpoint_{std::move(endpoint)},
      owner_{std::move(owner)},
      for_stream_{for_stream},
      transport_{std::make_unique<net::Transport>(strand_)},
      timer_{strand_} {}

void ClientConnection::open(std::shared_ptr<ClientCall> call, Millis connect_timeout) {
  call_ = std::move(call);
  call_->waiting_for = "the connection";
  timer_.arm(connect_timeout, [weak = weak_from_this(), connect_timeout] {
    const auto self = weak.lock();
    if (!self) return;
    self->lost(
        Error{ErrorCode::kTimeout, "connecting took longer than " + std::to_string(connect_timeout.value) + " ms"});
  });
  reach_server();
}

void ClientConnection::reach_server() {
  const auto& proxy = endpoint_->proxy;
  if (proxy == nullptr) return endpoint_->dial ? dial() : connect();
  connect_through(*proxy, *transport_, {endpoint_->host, endpoint_->port, endpoint_->denied_networks},
                  shared_from_this(), [self = shared_from_this()](const Result<void>& done) { self->reached(done); });
}

void ClientConnection::connect() {
  transport_->connect(endpoint_->host, endpoint_->port, endpoint_->denied_networks,
                      [self = shared_from_this()](const Result<void>& done) { self->reached(done); });
}

/// The answer may come on any thread, and after the connection was given up.
void ClientConnection::dial() {
  endpoint_->dial([strand = strand_, weak = weak_from_this()](Result<std::optional<int>> dialed) {
    strand.post([weak, dialed = std::move(dialed)] {
      const auto self = weak.lock();
      if (self == nullptr || self->closed_) {
        if (dialed && dialed.value()) ::close(*dialed.value());
        return;
      }
      if (!dialed) return self->lost(dialed.error());
      if (!dialed.value()) return self->connect();
      const auto adopted = self->transport_->adopt(*dialed.value());
      if (!adopted) ::close(*dialed.value());
      self->reached(adopted);
    });
  });
}

void ClientConnection::reached(const Result<void>& done) {
  if (closed_) return;
  if (!done) return lost(done.error());
  shake_hands();
}

void ClientConnection::shake_hands() {
  if (!endpoint_->tls) return connected();
  transport_->handshake_as_client(endpoint_->tls, endpoint_->server_name, endpoint_->insecure,
                                  [self = shared_from_this()](const Result<void>& shaken) {
                                    if (self->closed_) return;
                                    if (!shaken) return self->lost(shaken.error());
                                    self->connected();
                                  });
}

void ClientConnection::connected() {
  timer_.cancel();
  const auto call = std::move(call_);
  carry(call);
  read();
}

void ClientConnection::carry(std::shared_ptr<ClientCall> call) {
  call_ = std::move(call);
  call_->waiting_for = "the answer";
  head_given_ = false;
  held_ = false;
  parser_ =
      std::make_unique<ResponseParser>(call_->head_request, ParseLimits{kMaxHeaderBytes, 0, call_->max_response_bytes});
  leased_ = 0;
  written_ = 0;
  writing_ = true;
  write_on();
}

/// The timer stays armed while calls are carried: most connections rest often, and never for long.
void ClientConnection::rest(Millis idle) {
  rests_until_ = Steady::now() + std::chrono::milliseconds{idle.value};
  if (!looks_at_ || *looks_at_ > rests_until_) look_at_rest(idle);
}

void ClientConnection::look_at_rest(Millis after) {
  looks_at_ = Steady::now() + std::chrono::milliseconds{after.value};
  timer_.arm(after, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->looks_at_.reset();
    if (self->call_ != nullptr) return;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(self->rests_until_ - Steady::now());
    left.count() > 0 ? self->look_at_rest(Millis{left.count()}) : self->close(nullptr);
  });
}

void ClientConnection::abort(const Error& error) {
  if (closed_) return;
  const auto call = call_;
  close(nullptr);
  if (call) call->fail(error);
}

void ClientConnection::write_on() {
  const std::string& bytes = call_->bytes;
  while (written_ < bytes.size()) {
    const auto count = transport_->try_write(bytes.data() + written_, bytes.size() - written_);
    // A server may answer and hang up before it has read everything (413): its answer is worth more than our write
    // error, so the reader is left to report the end.
    if (!count) return;
    if (!count.value()) {
      return transport_->when_writable([self = shared_from_this(), call = call_](const Result<void>& writable) {
        // Without its call the request was answered before all of it was sent: the connection is not used again.
        if (self->closed_ || !writable || self->call_ != call) return;
        self->write_on();
      });
    }
    written_ += *count.value();
  }
  writing_ = false;
}

void ClientConnection::read() {
  if (reading_ || closed_) return;
  if (input_.empty()) input_.release();  // a connection that waits holds no buffer
  reading_ = true;
  transport_->when_readable([self = shared_from_this()](const Result<void>& readable) {
    self->reading_ = false;
    if (self->closed_) return;
    if (!readable) return self->call_ ? self->lost(readable.error()) : self->close(nullptr);
    self->receive();
  });
}

void ClientConnection::receive() {
  const size_t unread = input_.unread().size();
  if (unread > kMaxHeaderBytes) return lost(Error{ErrorCode::kUnavailable, "the answer is malformed"});
  const size_t space = input_.reserve(std::max(kResponseInputBytes, unread * 2));
  const auto count = transport_->try_read(input_.space(), space);
  if (count && !count.value()) return read();
  if (!call_) return close(nullptr);  // idle: the server closed, or sends something that was not requested
  if (!count) return lost(count.error());
  if (*count.value() > 0) {
    input_.received(*count.value());
    return parse();
  }
  const bool started = parser_->started();
  if (started && parser_->feed_end() == ParseStep::kDone) return answered();
  lost(Error{ErrorCode::kUnavailable,
             started ? parser_->problem() : "the server closed the connection without an answer"});
}

void ClientConnection::parse() {
  while (true) {
    size_t used = 0;
    const ParseStep step = parser_->feed(input_.unread(), used);
    input_.consume(used);
    deliver();
    if (closed_) return;  // a callback may have ended it
    if (!within_budget()) {
      return lost(Error{ErrorCode::kTooLarge, "the answers under way hold more bytes than allowed together"});
    }
    switch (step) {
      case ParseStep::kNeedMore:
        if (held_) return;  // resume() reads
        return read();
      case ParseStep::kHeader:
        break;
      case ParseStep::kDone:
        if (parser_->response().status / 100 == 1 && parser_->response().status != 101) {
          parser_ = std::make_unique<ResponseParser>(call_->head_request,
                                                     ParseLimits{kMaxHeaderBytes, 0, call_->max_response_bytes});
          if (input_.empty()) return read();
          break;
        }
        if (parser_->response().status == 101) return hand_over();
        return answered();
      case ParseStep::kFailed:
        return lost(Error{parser_->too_large() ? ErrorCode::kTooLarge : ErrorCode::kUnavailable,
                          parser_->too_large() ? "the answer: " + parser_->problem() : parser_->problem()});
    }
  }
}

bool ClientConnection::within_budget() {
  if (call_->lease == nullptr) return true;
  const size_t gathered = parser_->response().body.size();
  if (gathered <= leased_) return true;
  if (!call_->lease->grow(gathered - leased_)) return false;
  leased_ = gathered;
  return true;
}

/// A stream's head and bytes go to its owner as they arrive.
void ClientConnection::deliver() {
  if (!call_->streaming) return;
  const auto call = call_;
  HttpResponse& response = parser_->response();
  if (!head_given_ && parser_->header_complete() && response.status / 100 != 1) {
    head_given_ = true;
    call->timer.cancel();
    limit_silence();
    if (call->on_head) call->on_head(HttpResponse{response.status, response.headers, {}});
  }
  if (!head_given_ || response.body.empty() || closed_) return;
  std::string bytes = std::move(response.body);
  response.body.clear();
  if (call->on_data) call->on_data(bytes);
  if (!call->on_part) return;
  held_ = true;
  call->timer.cancel();
  call->on_part(std::move(bytes), [weak = weak_from_this(), weak_call = std::weak_ptr{call}] {
    const auto self = weak.lock();
    if (self == nullptr) return;
    self->strand_.post([self, weak_call] { self->resume(weak_call.lock()); });
  });
}

void ClientConnection::resume(const std::shared_ptr<ClientCall>& call) {
  if (closed_ || !held_ || call == nullptr || call != call_) return;
  held_ = false;
  limit_silence();
  read();
}

void ClientConnection::limit_silence() {
  const Millis most = call_->idle_timeout;
  if (most.value == 0) return;
  call_->timer.arm(most, [weak = weak_from_this(), weak_call = std::weak_ptr{call_}, most] {
    const auto self = weak.lock();
    const auto call = weak_call.lock();
    if (self == nullptr || call == nullptr || self->call_ != call) return;
    self->abort(Error{ErrorCode::kTimeout, self->endpoint_->name + ": no further bytes of the answer within " +
                                               std::to_string(most.value) + " ms"});
  });
}

void ClientConnection::answered() {
  const auto call = std::move(call_);
  call_ = nullptr;
  held_ = false;
  used_before_ = true;
  HttpResponse response = std::move(parser_->response());
  read();  // notices when the server hangs up meanwhile
  if (!parser_->keep_alive() || !input_.empty()) {
    close(nullptr);
  } else if (writing_) {
    // Either our write is over and only its callback is due, or the server has answered before it had read everything,
    // and then the connection is of no more use.
    rest(Millis{1'000});
  } else {
    ready();
  }
  call->succeed(std::move(response));
}

/// The server speaks another protocol from here on.
void ClientConnection::hand_over() {
  if (!call_->on_upgraded)
    return lost(Error{ErrorCode::kUnavailable, "the server upgraded without a request to do so"});
  const auto self = shared_from_this();
  const auto call = std::exchange(call_, nullptr);
  closed_ = true;
  timer_.cancel();
  constexpr Millis kWriteTimeout{30'000};
  auto stream = upgraded_stream(strand_, std::move(transport_), std::move(input_), kWriteTimeout, [self] {
    if (const auto owner = self->owner_.lock()) owner->gone(self, nullptr);
  });
  call->succeed(std::move(parser_->response()), std::move(stream));
}

void ClientConnection::ready() {
  if (const auto owner = owner_.lock()) owner->ready(shared_from_this());
}

void ClientConnection::lost(const Error& error) {
  if (closed_) return;
  const auto call = call_;
  const bool again = call && !call->finished && call->repeatable && used_before_ && parser_ && !parser_->started() &&
                     error.code == ErrorCode::kUnavailable;
  close(again ? call : nullptr);
  if (call && !again) call->fail(error.context(endpoint_->name));
}

void ClientConnection::close(std::shared_ptr<ClientCall> again) {
  if (closed_) return;
  const auto self = shared_from_this();
  closed_ = true;
  call_ = nullptr;
  timer_.cancel();
  transport_->close();
  if (const auto owner = owner_.lock()) owner->gone(self, std::move(again));
}

}  // namespace shiplog
