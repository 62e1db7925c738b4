// What a connection sends: responses, streams and upgrades, and the bytes on their way to the socket.
#include <charconv>

#include "services/http/connection.h"
#include "services/http/response_head.h"
#include "services/http/upgraded_stream.h"

namespace shiplog {
namespace {

constexpr size_t kProgressBytes = 64 * 1024;  // within a write timeout
constexpr size_t kGatherBytes = 32 * 1024;    // small pieces are written together up to this size

bool has_no_body(int status) { return status < 200 || status == 204 || status == 304; }

}  // namespace

std::string HttpConnection::head(int status, const HttpHeaders& headers, const std::string& framing) const {
  // A stop reaches one connection after the other; no response after its beginning offers to keep the connection.
  const bool closes = !keep_alive_ || server_->stopping.load();
  const char* connection = closes ? "close" : http11_ ? "" : "keep-alive";
  return response_head(status, headers, framing, connection);
}

void HttpConnection::send(uint64_t exchange, HttpResponse response) {
  if (exchange != exchange_ || phase_ != Phase::kHandling || streaming_ || complete_) return;
  complete_ = true;
  answer_deadline_.reset();
  const bool bodyless = has_no_body(response.status);
  std::string bytes =
      head(response.status, response.headers,
           bodyless ? std::string{} : "Content-Length: " + std::to_string(response.body.size()) + "\r\n");
  const auto finish = [this](const Result<void>& written) {
    if (written) answered();
  };
  if (bodyless || head_request_) return enqueue(std::move(bytes), finish);
  if (response.body.size() > kGatherBytes) {  // not worth a copy
    enqueue(std::move(bytes), nullptr);
    return enqueue(std::move(response.body), finish);
  }
  enqueue(bytes.append(response.body), finish);
}

void HttpConnection::start_stream(uint64_t exchange, int status, HttpHeaders headers) {
  if (exchange != exchange_ || phase_ != Phase::kHandling || streaming_ || complete_) return;
  streaming_ = true;
  answer_deadline_.reset();
  ++server_->streams;
  if (counted_) server_->in_flight.fetch_sub(1);
  counted_ = false;
  // An HTTP/1.0 client knows no chunks: its stream ends with the connection.
  chunked_ = http11_ && !has_no_body(status) && !head_request_;
  if (!http11_) keep_alive_ = false;
  enqueue(head(status, headers, chunked_ ? "Transfer-Encoding: chunked\r\n" : ""), nullptr);
}

void HttpConnection::write_chunk(uint64_t exchange, std::string chunk, ResponseWriter::Done done) {
  if (exchange != exchange_ || phase_ != Phase::kHandling || !streaming_ || complete_) {
    if (done) done(Error{ErrorCode::kUnavailable, "the answer has ended or the client has disconnected"});
    return;
  }
  if (chunk.empty() || (http11_ && !chunked_)) {  // an empty chunk would end the stream; HEAD gets no body
    if (done) strand_.post([done = std::move(done)] { done(ok()); });
    return;
  }
  if (!chunked_) return enqueue(std::move(chunk), std::move(done));
  char size[20];
  const auto end = std::to_chars(size, size + sizeof size, chunk.size(), 16).ptr;
  std::string bytes;
  bytes.reserve(chunk.size() + 24);
  bytes.append(size, end).append("\r\n").append(chunk).append("\r\n");
  enqueue(std::move(bytes), std::move(done));
}

void HttpConnection::end_stream(uint64_t exchange) {
  if (exchange != exchange_ || phase_ != Phase::kHandling || !streaming_ || complete_) return;
  complete_ = true;
  enqueue(chunked_ ? "0\r\n\r\n" : "", [this](const Result<void>& written) {
    if (written) answered();
  });
}

void HttpConnection::when_closed(uint64_t exchange, std::function<void()> callback) {
  if (exchange == exchange_ && phase_ == Phase::kHandling && !over_->load()) {
    on_close_ = std::move(callback);
  } else {
    strand_.post(std::move(callback));
  }
}

void HttpConnection::abandoned(uint64_t exchange) {
  if (exchange != exchange_ || phase_ != Phase::kHandling || complete_) return;
  if (streaming_) return lose(Error{ErrorCode::kInternal, "the handler dropped a stream without ending it"});
  send(exchange, refusal({}, 500, "the handler gave no answer"));
}

void HttpConnection::answered() {
  release_counts();
  over_->store(true);
  on_close_ = nullptr;
  if (!keep_alive_) return finish_gently();
  next_request();
}

void HttpConnection::upgrade(uint64_t exchange, HttpHeaders headers, ResponseWriter::Upgraded then) {
  if (exchange != exchange_ || phase_ != Phase::kHandling || streaming_ || complete_ || !http11_ || stopping_) {
    return then(Error{ErrorCode::kUnavailable, "the request cannot be upgraded, has been answered or has ended"});
  }
  streaming_ = true;
  complete_ = true;
  answer_deadline_.reset();
  ++server_->streams;
  if (counted_) server_->in_flight.fetch_sub(1);
  counted_ = false;
  enqueue(response_head(101, headers, "", "Upgrade"), [this, then = std::move(then)](const Result<void>& written) {
    if (!written) return then(written.error());
    hand_over(then);
  });
}

void HttpConnection::hand_over(const ResponseWriter::Upgraded& then) {
  phase_ = Phase::kUpgraded;
  timer_.cancel();
  const auto stream = upgraded_stream(strand_, std::move(transport_), std::move(input_), server_->options.write_timeout,
                                      [self = shared_from_this()] { self->upgrade_closed(); });
  upgraded_ = stream;
  then(stream);
}

void HttpConnection::upgrade_closed() {
  phase_ = Phase::kClosed;
  release_counts();
  notify_closed();
  leave();
}

void HttpConnection::enqueue(std::string bytes, ResponseWriter::Done done) {
  output_.push_back({std::move(bytes), std::move(done)});
  pump();
}

void HttpConnection::pump() {
  if (write_pending_ || output_.empty() || phase_ == Phase::kClosed || phase_ == Phase::kUpgraded) return;
  writing_ = std::move(output_.front().bytes);
  written_ = granted_ = 0;
  writing_done_.clear();
  writing_done_.push_back(std::move(output_.front().done));
  output_.pop_front();
  while (!output_.empty() && writing_.size() + output_.front().bytes.size() <= kGatherBytes) {
    writing_ += output_.front().bytes;
    writing_done_.push_back(std::move(output_.front().done));
    output_.pop_front();
  }
  write_pending_ = true;
  write_on();
}

void HttpConnection::write_on() {
  while (written_ < writing_.size()) {
    // A byte now and then is no progress: a client that takes an answer that way would hold its memory for hours.
    if (!write_deadline_ || written_ - granted_ >= kProgressBytes) {
      granted_ = written_;
      write_deadline_ =
          std::chrono::steady_clock::now() + std::chrono::milliseconds{server_->options.write_timeout.value};
    }
    const auto count = transport_->try_write(writing_.data() + written_, writing_.size() - written_);
    if (!count) return strand_.post([self = shared_from_this(), error = count.error()] { self->lose(error); });
    if (!count.value()) {
      return transport_->when_writable([self = shared_from_this()](const Result<void>& writable) {
        if (self->phase_ == Phase::kClosed) return;
        if (!writable) return self->lose(writable.error());
        self->write_on();
      });
    }
    written_ += *count.value();
  }
  write_deadline_.reset();
  // Not at once: this may run inside of whatever has queued the bytes.
  strand_.post([self = shared_from_this()] { self->written(); });
}

void HttpConnection::written() {
  if (phase_ == Phase::kClosed) return;
  write_pending_ = false;
  writing_ = {};
  const auto finished = std::move(writing_done_);
  writing_done_.clear();
  for (const auto& done : finished) {
    if (done) done(ok());
  }
  pump();
}

}  // namespace shiplog
