#include "services/http/spdy/frames.h"

#include <algorithm>
#include <utility>

namespace shiplog::spdy {
namespace {

constexpr uint16_t kVersion = 3;
constexpr uint32_t kControlBit = 0x80000000U;
constexpr uint32_t kStreamMask = 0x7fffffffU;
constexpr uint8_t kFin = 1;
constexpr size_t kHeadBytes = 8;

enum class ControlType : uint16_t {
  kSynStream = 1,
  kSynReply = 2,
  kRstStream = 3,
  kSettings = 4,
  kPing = 6,
  kGoAway = 7,
  kHeaders = 8,
  kWindowUpdate = 9
};

Error broken(const std::string& why) { return Error{ErrorCode::kBadRequest, "SPDY: " + why}; }

uint32_t number_at(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (const char c : bytes.substr(at, 4)) value = (value << 8U) | static_cast<unsigned char>(c);
  return value;
}

void append_number(std::string& to, uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8)
    to += static_cast<char>((number >> static_cast<unsigned>(shift)) & 0xffU);
}

std::string control_frame(ControlType type, uint8_t flags, std::string_view body) {
  std::string bytes;
  bytes.reserve(kHeadBytes + body.size());
  append_number(bytes, kControlBit | uint32_t{kVersion} << 16U | static_cast<uint32_t>(type));
  append_number(bytes, uint32_t{flags} << 24U | static_cast<uint32_t>(body.size()));
  return bytes.append(body);
}

/// How many bytes precede a frame's header block, or how many it has in all.
size_t fixed_bytes(ControlType type) {
  switch (type) {
    case ControlType::kSynStream:
      return 10;
    case ControlType::kSynReply:
    case ControlType::kHeaders:
    case ControlType::kPing:
      return 4;
    case ControlType::kRstStream:
    case ControlType::kGoAway:
      return 8;
    case ControlType::kSettings:
    case ControlType::kWindowUpdate:
      break;
  }
  return 0;
}

bool is_known(uint16_t type) { return (type >= 1 && type <= 4) || (type >= 6 && type <= 9); }

}  // namespace

void SpdyReader::feed(std::string_view bytes) {
  input_.erase(0, std::exchange(read_, 0));
  input_.append(bytes);
}

std::optional<Frame> SpdyReader::rest_of_data() {
  const size_t taken = std::min<size_t>(data_left_, input_.size() - read_);
  if (taken == 0 && data_left_ > 0) return std::nullopt;
  Data data{data_stream_, false, input_.substr(read_, taken)};
  read_ += taken;
  data_left_ -= static_cast<uint32_t>(taken);
  if (data_left_ == 0) {
    data.fin = data_fin_;
    in_data_ = false;
  }
  return Frame{std::move(data)};
}

Result<std::optional<Frame>> SpdyReader::next() {
  const std::optional<Frame> incomplete;
  while (true) {
    if (in_data_) return rest_of_data();
    const std::string_view unread = std::string_view{input_}.substr(read_);
    if (unread.size() < kHeadBytes) return incomplete;
    const uint32_t first = number_at(unread, 0);
    const uint32_t second = number_at(unread, 4);
    const auto flags = static_cast<uint8_t>(second >> 24U);
    const uint32_t length = second & 0xffffffU;
    if ((first & kControlBit) == 0) {
      if (first == 0) return broken("a data frame of stream 0");
      in_data_ = true;
      data_stream_ = first;
      data_left_ = length;
      data_fin_ = (flags & kFin) != 0;
      read_ += kHeadBytes;
      continue;
    }
    if (((first & ~kControlBit) >> 16U) != kVersion) return broken("a control frame of another version than 3");
    if (length > kLongestControlFrame) {
      return Error{ErrorCode::kTooLarge, "SPDY: a control frame has " + std::to_string(length) +
                                             " bytes, more than the " + std::to_string(kLongestControlFrame) +
                                             " that are allowed"};
    }
    if (unread.size() < kHeadBytes + length) return incomplete;
    read_ += kHeadBytes + length;
    SHIPLOG_TRY(auto frame, control(static_cast<uint16_t>(first & 0xffffU), flags, unread.substr(kHeadBytes, length)));
    if (frame) return frame;
  }
}

Result<std::optional<Frame>> SpdyReader::control(uint16_t number, uint8_t flags, std::string_view body) {
  const std::optional<Frame> nothing;
  if (!is_known(number)) return nothing;
  const auto type = static_cast<ControlType>(number);
  if (body.size() < fixed_bytes(type)) return broken("a control frame is too short for its type");
  const uint32_t stream = body.size() < 4 ? 0 : number_at(body, 0) & kStreamMask;
  const bool fin = (flags & kFin) != 0;
  const std::string_view block = body.substr(fixed_bytes(type));
  switch (type) {
    case ControlType::kSynStream:
    case ControlType::kSynReply:
    case ControlType::kHeaders: {
      SHIPLOG_TRY(HttpHeaders headers, inflater_.inflate(block));
      if (stream == 0) return broken("a frame of stream 0");
      if (type == ControlType::kSynStream) return std::optional<Frame>{SynStream{stream, fin, std::move(headers)}};
      if (type == ControlType::kSynReply) return std::optional<Frame>{SynReply{stream, fin, std::move(headers)}};
      return std::optional<Frame>{ExtraHeaders{stream, fin, std::move(headers)}};
    }
    case ControlType::kRstStream:
      return std::optional<Frame>{RstStream{stream, number_at(body, 4)}};
    case ControlType::kPing:
      return std::optional<Frame>{Ping{number_at(body, 0)}};
    case ControlType::kGoAway:
      return std::optional<Frame>{GoAway{stream, number_at(body, 4)}};
    case ControlType::kSettings:
    case ControlType::kWindowUpdate:
      break;
  }
  return nothing;
}

std::string SpdyWriter::syn_stream(uint32_t stream, const HttpHeaders& headers, bool fin) {
  std::string body;
  append_number(body, stream);
  append_number(body, 0);  // associated with no other stream
  body.append(2, '\0');    // priority and slot
  body += deflater_.deflate(headers);
  return control_frame(ControlType::kSynStream, fin ? kFin : 0, body);
}

std::string SpdyWriter::syn_reply(uint32_t stream, const HttpHeaders& headers, bool fin) {
  std::string body;
  append_number(body, stream);
  body += deflater_.deflate(headers);
  return control_frame(ControlType::kSynReply, fin ? kFin : 0, body);
}

std::string SpdyWriter::data(uint32_t stream, std::string_view bytes, bool fin) {
  std::string frame;
  frame.reserve(kHeadBytes + bytes.size());
  append_number(frame, stream);
  append_number(frame, (fin ? uint32_t{kFin} << 24U : 0) | static_cast<uint32_t>(bytes.size()));
  return frame.append(bytes);
}

std::string SpdyWriter::rst_stream(uint32_t stream, ResetStatus status) {
  std::string body;
  append_number(body, stream);
  append_number(body, static_cast<uint32_t>(status));
  return control_frame(ControlType::kRstStream, 0, body);
}

std::string SpdyWriter::ping(uint32_t id) {
  std::string body;
  append_number(body, id);
  return control_frame(ControlType::kPing, 0, body);
}

std::string SpdyWriter::go_away(uint32_t last_stream, GoAwayStatus status) {
  std::string body;
  append_number(body, last_stream);
  append_number(body, static_cast<uint32_t>(status));
  return control_frame(ControlType::kGoAway, 0, body);
}

}  // namespace shiplog::spdy
