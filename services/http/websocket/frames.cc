#include "services/http/websocket/frames.h"

#include <array>

namespace shiplog::websocket {
namespace {

constexpr size_t kLongestControl = 125;
constexpr unsigned char kFinal = 0x80;
constexpr unsigned char kMasked = 0x80;

Error broken(const char* why) { return Error{ErrorCode::kBadRequest, std::string{"WebSocket: "} + why}; }

unsigned char byte_at(std::string_view bytes, size_t index) { return static_cast<unsigned char>(bytes[index]); }

bool is_control(Opcode opcode) { return static_cast<uint8_t>(opcode) >= static_cast<uint8_t>(Opcode::kClose); }

bool is_known(unsigned opcode) { return opcode <= 2 || (opcode >= 8 && opcode <= 10); }

}  // namespace

Result<std::optional<MessageReader::Head>> MessageReader::head() const {
  const std::optional<Head> incomplete;
  if (input_.size() < 2) return incomplete;
  const unsigned char first = byte_at(input_, 0);
  const unsigned char second = byte_at(input_, 1);
  if ((first & 0x70U) != 0) return broken("a reserved bit is set, and no extension was agreed on");
  if (!is_known(first & 0x0fU)) return broken("unknown opcode");
  if ((second & kMasked) == 0) return broken("a frame of a client must be masked");
  Head head{(first & kFinal) != 0, static_cast<Opcode>(first & 0x0fU), second & 0x7fU, 2};
  if (is_control(head.opcode) && (!head.final || head.payload > kLongestControl)) {
    return broken("a control frame must be one frame of at most 125 bytes");
  }
  const size_t length_bytes = head.payload == 126 ? 2 : head.payload == 127 ? 8 : 0;
  if (input_.size() < head.size + length_bytes) return incomplete;
  if (length_bytes > 0) {
    uint64_t length = 0;
    for (size_t index = 0; index < length_bytes; ++index) length = (length << 8U) | byte_at(input_, 2 + index);
    const size_t held = partial_ ? partial_->payload.size() : 0;
    if (length > longest_ || held + length > longest_) {
      return Error{ErrorCode::kTooLarge,
                   "WebSocket: a message has more than the " + std::to_string(longest_) + " bytes that are allowed"};
    }
    head.payload = static_cast<size_t>(length);
    head.size += length_bytes;
  }
  head.size += 4;  // the mask
  return std::optional<Head>{head};
}

std::string MessageReader::take(const Head& head) {
  std::array<char, 4> mask{};
  input_.copy(mask.data(), mask.size(), head.size - mask.size());
  std::string payload = input_.substr(head.size, head.payload);
  for (size_t index = 0; index < payload.size(); ++index) {
    payload[index] = static_cast<char>(payload[index] ^ mask[index % mask.size()]);
  }
  input_.erase(0, head.size + head.payload);
  return payload;
}

Result<std::optional<WebSocketMessage>> MessageReader::next() {
  const std::optional<WebSocketMessage> incomplete;
  while (true) {
    SHIPLOG_TRY(const auto head, this->head());
    if (!head || input_.size() < head->size + head->payload) return incomplete;
    const bool continues = head->opcode == Opcode::kContinuation;
    if (continues && !partial_) return broken("a frame continues a message that was not begun");
    if (!continues && !is_control(head->opcode) && partial_) return broken("a message begins inside of another one");
    std::string payload = take(*head);
    if (is_control(head->opcode))
      return std::optional<WebSocketMessage>{WebSocketMessage{head->opcode, std::move(payload)}};
    if (!continues) partial_ = WebSocketMessage{head->opcode, {}};
    // Short frames have no length that was checked.
    if (partial_->payload.size() + payload.size() > longest_) {
      return Error{ErrorCode::kTooLarge,
                   "WebSocket: a message has more than the " + std::to_string(longest_) + " bytes that are allowed"};
    }
    partial_->payload += payload;
    if (!head->final) continue;
    std::optional<WebSocketMessage> whole = std::move(partial_);
    partial_.reset();
    return whole;
  }
}

std::string frame(Opcode opcode, std::string_view payload) {
  std::string bytes;
  bytes.reserve(payload.size() + 10);
  bytes += static_cast<char>(kFinal | static_cast<unsigned char>(opcode));
  const uint64_t size = payload.size();
  const size_t length_bytes = size < 126 ? 0 : size <= 0xffff ? 2 : 8;
  bytes += static_cast<char>(length_bytes == 0 ? size : length_bytes == 2 ? 126 : 127);
  for (size_t index = length_bytes; index > 0; --index) {
    bytes += static_cast<char>((size >> (8 * (index - 1))) & 0xffU);
  }
  return bytes.append(payload);
}

std::string close_frame(CloseCode code, std::string_view reason) {
  const auto number = static_cast<uint16_t>(code);
  std::string payload{static_cast<char>(number >> 8U), static_cast<char>(number & 0xffU)};
  payload += reason.substr(0, kLongestControl - 2);
  return frame(Opcode::kClose, payload);
}

}  // namespace shiplog::websocket
