#include "services/http/client_connection.h"

#include <algorithm>

namespace shiplog {
namespace {

constexpr size_t kInputBytes = 16 * 1024;
constexpr size_t kMaxHeaderBytes = 256 * 1024;

}  // namespace

void ClientCall::fail(const Error& error) {
  if (finished) return;
  finished = true;
  timer.cancel();
  const auto response = std::move(on_response);
  const auto end = std::move(on_end);
  on_head = nullptr;
  on_data = nullptr;
  if (response) response(error);
  if (end) end(error);
}

void ClientCall::succeed(HttpResponse answer) {
  if (finished) return;
  finished = true;
  timer.cancel();
  const auto response = std::move(on_response);
  const auto end = std::move(on_end);
  on_head = nullptr;
  on_data = nullptr;
  if (response) response(std::move(answer));
  if (end) end(ok());
}

ClientConnection::ClientConnection(net::Strand strand, std::shared_ptr<const ClientEndpoint> endpoint,
                                   std::weak_ptr<Owner> owner, bool for_stream)
    : strand_{std::move(strand)},
      endpoint_{std::move(endpoint)},
      owner_{std::move(owner)},
      for_stream_{for_stream},
      transport_{strand_},
      timer_{strand_},
      input_(kInputBytes) {}

void ClientConnection::open(std::shared_ptr<ClientCall> call, Millis connect_timeout) {
  call_ = std::move(call);
  call_->waiting_for = "the connection";
  timer_.arm(connect_timeout, [weak = weak_from_this(), connect_timeout] {
    const auto self = weak.lock();
    if (!self) return;
    self->lost(
        Error{ErrorCode::kTimeout, "connecting took longer than " + std::to_string(connect_timeout.value) + " ms"});
  });
  transport_.connect(endpoint_->host, endpoint_->port, endpoint_->denied_networks,
                     [self = shared_from_this()](const Result<void>& done) {
                       if (self->closed_) return;
                       if (!done) return self->lost(done.error());
                       if (!self->endpoint_->tls) return self->connected();
                       self->transport_.handshake_as_client(self->endpoint_->tls, self->endpoint_->server_name,
                                                            self->endpoint_->insecure,
                                                            [self](const Result<void>& shaken) {
                                                              if (self->closed_) return;
                                                              if (!shaken) return self->lost(shaken.error());
                                                              self->connected();
                                                            });
                     });
}

void ClientConnection::connected() {
  timer_.cancel();
  const auto call = std::move(call_);
  carry(call);
  read();
}

void ClientConnection::carry(std::shared_ptr<ClientCall> call) {
  timer_.cancel();
  call_ = std::move(call);
  call_->waiting_for = "the answer";
  head_given_ = false;
  parser_ =
      std::make_unique<ResponseParser>(call_->head_request, ParseLimits{kMaxHeaderBytes, 0, call_->max_response_bytes});
  leased_ = 0;
  written_ = 0;
  writing_ = true;
  write_on();
}

void ClientConnection::rest(Millis idle) {
  timer_.arm(idle, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->close(nullptr);
  });
}

void ClientConnection::abort(const Error& error) {
  if (closed_) return;
  const auto call = call_;
  close(nullptr);
  if (call) call->fail(error);
}

void ClientConnection::write_on() {
  // The call's bytes are held by `call` until the write is over, however the call ends.
  transport_.write_some(call_->bytes.data() + written_, call_->bytes.size() - written_,
                        [self = shared_from_this(), call = call_](const Result<size_t>& count) {
                          if (self->closed_) return;
                          // A server may answer and hang up before it has read everything (413): its answer is worth
                          // more than our write error, so the reader is left to report the end.
                          if (!count) return;
                          self->written_ += count.value();
                          if (self->written_ < call->bytes.size()) return self->write_on();
                          self->writing_ = false;
                          if (self->call_ == nullptr) self->ready();  // the answer was faster
                        });
}

void ClientConnection::read() {
  if (reading_ || closed_) return;
  if (begin_ == end_) begin_ = end_ = 0;
  if (end_ == input_.size() && begin_ > 0) {
    std::copy(input_.begin() + static_cast<std::ptrdiff_t>(begin_), input_.begin() + static_cast<std::ptrdiff_t>(end_),
              input_.begin());
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == input_.size()) {
    if (input_.size() > kMaxHeaderBytes) return lost(Error{ErrorCode::kUnavailable, "the answer is malformed"});
    input_.resize(input_.size() * 2);
  }
  reading_ = true;
  transport_.read_some(input_.data() + end_, input_.size() - end_,
                       [self = shared_from_this()](const Result<size_t>& count) { self->received(count); });
}

void ClientConnection::received(const Result<size_t>& count) {
  reading_ = false;
  if (closed_) return;
  if (!call_) return close(nullptr);  // resting: the server hung up, or says something nobody asked for
  if (!count) return lost(count.error());
  if (count.value() > 0) {
    end_ += count.value();
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
    const ParseStep step = parser_->feed({input_.data() + begin_, end_ - begin_}, used);
    begin_ += used;
    deliver();
    if (closed_) return;  // a callback may have ended it
    if (!within_budget()) {
      return lost(Error{ErrorCode::kTooLarge, "the answers under way hold more bytes than allowed together"});
    }
    switch (step) {
      case ParseStep::kNeedMore:
        return read();
      case ParseStep::kHeader:
        break;
      case ParseStep::kDone:
        if (parser_->response().status / 100 == 1 && parser_->response().status != 101) {
          parser_ = std::make_unique<ResponseParser>(call_->head_request,
                                                     ParseLimits{kMaxHeaderBytes, 0, call_->max_response_bytes});
          if (begin_ == end_) return read();
          break;
        }
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

/// A stream's head and bytes go to its owner as they come.
void ClientConnection::deliver() {
  if (!call_->streaming) return;
  const auto call = call_;
  HttpResponse& response = parser_->response();
  if (!head_given_ && parser_->header_complete() && response.status / 100 != 1) {
    head_given_ = true;
    call->timer.cancel();
    if (call->on_head) call->on_head(HttpResponse{response.status, response.headers, {}});
  }
  if (!head_given_ || response.body.empty() || closed_) return;
  const std::string bytes = std::move(response.body);
  response.body.clear();
  if (call->on_data) call->on_data(bytes);
}

void ClientConnection::answered() {
  const auto call = std::move(call_);
  call_ = nullptr;
  used_before_ = true;
  HttpResponse response = std::move(parser_->response());
  read();  // notices when the server hangs up meanwhile
  if (!parser_->keep_alive() || begin_ != end_) {
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
  transport_.close();
  if (const auto owner = owner_.lock()) owner->gone(self, std::move(again));
}

}  // namespace shiplog
