#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "services/http/byte_stream.h"
#include "services/http/websocket/frames.h"

namespace shiplog::websocket {

/// The server's end of a WebSocket. Pings are answered and a close of the client's is completed here.
/// Threads: calls and the callbacks of the byte stream must not overlap.
class MessageStream : public std::enable_shared_from_this<MessageStream> {
 public:
  /// A data message; nullopt: the client has closed in an orderly way.
  using Received = std::function<void(Result<std::optional<WebSocketMessage>>)>;

  MessageStream(std::shared_ptr<ByteStream> bytes, size_t longest_message)
      : bytes_{std::move(bytes)}, reader_{longest_message} {}

  /// The next data message. One read at a time; nothing is received before it is requested.
  /// Errors: kUnavailable, the connection broke; kBadRequest or kTooLarge, the client broke the protocol: it is closed.
  void read(Received received);
  void write(Opcode opcode, std::string_view payload, ByteStream::Done done);
  /// Sends a close message and closes the connection after it.
  void close(CloseCode code, std::string_view reason = "");

 private:
  std::shared_ptr<ByteStream> bytes_;
  MessageReader reader_;
  bool closed_ = false;
};

/// A stream of bytes in the binary messages of a WebSocket: what tunnels another protocol.
std::shared_ptr<ByteStream> tunnel(std::shared_ptr<MessageStream> messages);

}  // namespace shiplog::websocket
