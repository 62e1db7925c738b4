#include "services/http/websocket/message_stream.h"

#include <utility>

namespace shiplog::websocket {
namespace {

class Tunnel final : public ByteStream, public std::enable_shared_from_this<Tunnel> {
 public:
  explicit Tunnel(std::shared_ptr<MessageStream> messages) : messages_{std::move(messages)} {}

  void read(Received received) override {
    messages_->read([self = shared_from_this(),
                     received = std::move(received)](Result<std::optional<WebSocketMessage>> message) mutable {
      if (!message) return received(message.error());
      if (!message.value()) return received(std::string{});
      if (message.value()->opcode != Opcode::kBinary) {
        self->messages_->close(CloseCode::kProtocolError, "a tunnel takes binary messages only");
        return received(Error{ErrorCode::kBadRequest, "WebSocket: a tunnel takes binary messages only"});
      }
      // "" would mean the end.
      if (message.value()->payload.empty()) return self->read(std::move(received));
      received(std::move(message.value()->payload));
    });
  }
  void write(std::string bytes, Done done) override { messages_->write(Opcode::kBinary, bytes, std::move(done)); }
  void close() override { messages_->close(CloseCode::kNormal); }

 private:
  std::shared_ptr<MessageStream> messages_;
};

CloseCode code_of(const Error& error) {
  return error.code == ErrorCode::kTooLarge ? CloseCode::kTooBig : CloseCode::kProtocolError;
}

}  // namespace

void MessageStream::read(Received received) {
  while (true) {
    auto next = reader_.next();
    if (!next) {
      close(code_of(next.error()), next.error().message);
      return received(std::move(next));
    }
    if (!next.value()) break;
    WebSocketMessage& message = *next.value();
    switch (message.opcode) {
      case Opcode::kContinuation:
      case Opcode::kText:
      case Opcode::kBinary:
        return received(std::move(next));
      case Opcode::kPing:
        // Answers are queued by the byte stream: a client that sends pings and takes no answers is closed by its write
        // timeout, and until then this one waits before it reads on.
        return write(Opcode::kPong, message.payload,
                     [self = shared_from_this(), received = std::move(received)](const Result<void>& written) mutable {
                       if (!written) return received(written.error());
                       self->read(std::move(received));
                     });
      case Opcode::kPong:
        break;
      case Opcode::kClose:
        close(CloseCode::kNormal);
        return received(std::optional<WebSocketMessage>{});
    }
  }
  if (closed_) return received(Error{ErrorCode::kUnavailable, "WebSocket: the connection was closed"});
  bytes_->read([self = shared_from_this(), received = std::move(received)](Result<std::string> bytes) mutable {
    if (!bytes) return received(bytes.error());
    if (bytes.value().empty()) {
      return received(Error{ErrorCode::kUnavailable, "WebSocket: the client closed the connection without a message"});
    }
    self->reader_.feed(bytes.value());
    self->read(std::move(received));
  });
}

void MessageStream::write(Opcode opcode, std::string_view payload, ByteStream::Done done) {
  if (closed_) return done(Error{ErrorCode::kUnavailable, "WebSocket: the connection was closed"});
  bytes_->write(frame(opcode, payload), std::move(done));
}

void MessageStream::close(CloseCode code, std::string_view reason) {
  if (std::exchange(closed_, true)) return;
  bytes_->write(close_frame(code, reason), [](const Result<void>&) {});
  bytes_->close();
}

std::shared_ptr<ByteStream> tunnel(std::shared_ptr<MessageStream> messages) {
  return std::make_shared<Tunnel>(std::move(messages));
}

}  // namespace shiplog::websocket
