#include "services/http/spdy/session.h"

#include <algorithm>
#include <utility>

namespace shiplog::spdy {
namespace {

/// A client that makes the session answer (PING, refused streams) and takes no answers is not read from any more.
constexpr size_t kMostUnsent = 64 * 1024;

Error closed() { return Error{ErrorCode::kUnavailable, "SPDY: the connection was closed"}; }

}  // namespace

// --- one stream ----------------------------------------------------------------------------------------------------

void SpdyStream::read(Received received) {
  if (received_) return received(Error{ErrorCode::kInternal, "SPDY: a read of this stream is under way"});
  received_ = std::move(received);
  deliver();
}

void SpdyStream::deliver() {
  if (!received_) return;
  if (!held_.empty()) {
    std::string bytes = std::exchange(held_, {});
    const size_t size = bytes.size();
    std::exchange(received_, nullptr)(std::move(bytes));
    if (const auto session = session_.lock()) session->consumed(size);
    return;
  }
  if (broken_) return std::exchange(received_, nullptr)(Error{ErrorCode::kUnavailable, "SPDY: the stream was reset"});
  if (remote_done_) return std::exchange(received_, nullptr)(std::string{});
}

void SpdyStream::write(std::string_view bytes, ByteStream::Done done) {
  const auto session = session_.lock();
  if (session == nullptr || session->ended_ || broken_ || local_done_) return done(closed());
  session->bytes_->write(SpdyWriter::data(id_, bytes, false), std::move(done));
}

void SpdyStream::finish() {
  const auto session = session_.lock();
  if (session == nullptr || broken_ || std::exchange(local_done_, true)) return;
  session->send(SpdyWriter::data(id_, {}, true));
  if (remote_done_) session->drop(id_);
}

void SpdyStream::reset(ResetStatus status) {
  const auto session = session_.lock();
  if (session == nullptr || std::exchange(broken_, true)) return;
  session->send(SpdyWriter::rst_stream(id_, status));
  session->drop(id_);
}

// --- the connection ------------------------------------------------------------------------------------------------

std::shared_ptr<SpdySession> SpdySession::start(std::shared_ptr<ByteStream> bytes, SessionLimits limits,
                                                OnStream on_stream, OnEnd on_end) {
  std::shared_ptr<SpdySession> session{
      new SpdySession{std::move(bytes), limits, std::move(on_stream), std::move(on_end)}};
  session->read();
  return session;
}

void SpdySession::close() {
  if (ended_) return;
  bytes_->write(SpdyWriter::go_away(last_stream_, GoAwayStatus::kOk), [](const Result<void>&) {});
  end(closed());
}

void SpdySession::read() {
  if (reading_ || ended_ || held_bytes_ > limits_.held_bytes || unsent_bytes_ > kMostUnsent) return;
  reading_ = true;
  bytes_->read([self = shared_from_this()](Result<std::string> bytes) {
    self->reading_ = false;
    if (self->ended_) return;
    if (!bytes) return self->end(bytes.error());
    if (bytes.value().empty()) return self->end(closed());
    self->received(bytes.value());
    self->read();
  });
}

void SpdySession::received(std::string_view bytes) {
  reader_.feed(bytes);
  while (!ended_) {
    auto frame = reader_.next();
    if (!frame) {
      bytes_->write(SpdyWriter::go_away(last_stream_, GoAwayStatus::kProtocolError), [](const Result<void>&) {});
      return end(frame.error());
    }
    if (!frame.value()) return;
    handle(std::move(*frame.value()));
  }
}

void SpdySession::handle(Frame frame) {
  if (auto* syn = std::get_if<SynStream>(&frame)) return open(std::move(*syn));
  if (auto* data = std::get_if<Data>(&frame)) return take(std::move(*data));
  if (const auto* reset = std::get_if<RstStream>(&frame)) return drop(reset->stream);
  if (const auto* headers = std::get_if<ExtraHeaders>(&frame)) {
    if (headers->fin) finish_remote(headers->stream);
    return;
  }
  if (const auto* ping = std::get_if<Ping>(&frame)) {
    if (ping->id % 2 == 1) send(SpdyWriter::ping(ping->id));  // even ones answer pings of a server
    return;
  }
  if (std::holds_alternative<GoAway>(frame)) going_away_ = true;
  // A SYN_REPLY would answer a stream of the server, which opens none.
}

void SpdySession::open(SynStream frame) {
  if (frame.stream % 2 == 0 || frame.stream <= last_stream_) {
    return send(SpdyWriter::rst_stream(frame.stream, ResetStatus::kProtocolError));
  }
  last_stream_ = frame.stream;
  if (going_away_ || streams_.size() >= limits_.streams) {
    return send(SpdyWriter::rst_stream(frame.stream, ResetStatus::kRefusedStream));
  }
  auto stream = std::make_shared<SpdyStream>(weak_from_this(), frame.stream, std::move(frame.headers));
  stream->remote_done_ = frame.fin;
  streams_.emplace(frame.stream, stream);
  // Replied to first: what the stream is answered with must come after it.
  send(writer_.syn_reply(frame.stream, {}));
  const OnStream on_stream = on_stream_;  // it may close the session
  if (!on_stream(stream)) stream->reset(ResetStatus::kRefusedStream);
}

void SpdySession::take(Data frame) {
  const auto found = streams_.find(frame.stream);
  if (found == streams_.end()) return;  // of a stream that was reset: what was on its way is dropped
  const auto stream = found->second;
  if (!stream->remote_done_) {
    held_bytes_ += frame.bytes.size();
    stream->held_ += frame.bytes;
  }
  if (frame.fin) stream->remote_done_ = true;
  if (!frame.bytes.empty() || frame.fin) stream->deliver();
  drop_if_done(stream);
}

void SpdySession::finish_remote(uint32_t id) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  const auto stream = found->second;
  stream->remote_done_ = true;
  stream->deliver();
  drop_if_done(stream);
}

void SpdySession::drop_if_done(const std::shared_ptr<SpdyStream>& stream) {
  if (stream->remote_done_ && stream->local_done_) drop(stream->id_);
}

void SpdySession::drop(uint32_t id) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  const auto stream = found->second;
  streams_.erase(found);
  if (!(stream->remote_done_ && stream->local_done_)) stream->broken_ = true;
  const size_t held = std::exchange(stream->held_, {}).size();
  stream->deliver();
  consumed(held);
}

void SpdySession::send(std::string frame) {
  if (ended_) return;
  const size_t size = frame.size();
  unsent_bytes_ += size;
  bytes_->write(std::move(frame), [self = shared_from_this(), size](const Result<void>& written) {
    self->unsent_bytes_ -= size;
    if (written) self->read();
  });
}

void SpdySession::consumed(size_t bytes) {
  held_bytes_ -= std::min(bytes, held_bytes_);
  read();
}

void SpdySession::end(const Error& error) {
  if (std::exchange(ended_, true)) return;
  bytes_->close();
  const auto streams = std::exchange(streams_, {});
  for (const auto& [id, stream] : streams) {
    stream->broken_ = true;
    stream->deliver();
  }
  if (const auto ended = std::exchange(on_end_, nullptr)) ended(error);
  on_stream_ = nullptr;
}

}  // namespace shiplog::spdy
