#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "events/base/result.h"

namespace shiplog::websocket {

enum class Opcode : uint8_t { kContinuation = 0, kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10 };

/// Of close messages (RFC 6455 section 7.4.1).
enum class CloseCode : uint16_t { kNormal = 1000, kProtocolError = 1002, kTooBig = 1009, kInternal = 1011 };

/// A whole message: a data message, of however many frames, or a control frame.
struct WebSocketMessage {
  Opcode opcode = Opcode::kBinary;
  std::string payload;
};

/// Bytes of a client into messages. A frame that breaks the protocol is an error, after which nothing more is read.
class MessageReader {
 public:
  explicit MessageReader(size_t longest_message) : longest_{longest_message} {}

  void feed(std::string_view bytes) { input_.append(bytes); }
  /// The next message; nullopt: more bytes are needed. Errors: kBadRequest, the protocol was broken; kTooLarge, the
  /// message is longer than allowed.
  Result<std::optional<WebSocketMessage>> next();

 private:
  struct Head {
    bool final = false;
    Opcode opcode = Opcode::kContinuation;
    size_t payload = 0;
    size_t size = 0;  ///< of the head itself
  };
  Result<std::optional<Head>> head() const;
  std::string take(const Head& head);

  size_t longest_;
  std::string input_;
  std::optional<WebSocketMessage> partial_;  ///< of a message in several frames
};

/// One unmasked frame, as a server sends it.
std::string frame(Opcode opcode, std::string_view payload);
std::string close_frame(CloseCode code, std::string_view reason);

}  // namespace shiplog::websocket
