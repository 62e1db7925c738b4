#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "events/base/result.h"
#include "services/http/http.h"
#include "services/http/spdy/header_block.h"

namespace shiplog::spdy {

// The frames of SPDY/3.1. Of what a peer sends, SETTINGS, WINDOW_UPDATE and unknown control frames are left out: those
// who speak this protocol today (Kubernetes' clients) send no windows and heed none.

/// Statuses of RST_STREAM and GOAWAY.
enum class ResetStatus : uint32_t { kProtocolError = 1, kInvalidStream = 2, kRefusedStream = 3, kCancel = 5 };
enum class GoAwayStatus : uint32_t { kOk = 0, kProtocolError = 1, kInternalError = 2 };

struct SynStream {
  uint32_t stream = 0;
  bool fin = false;
  HttpHeaders headers;
};
struct SynReply {
  uint32_t stream = 0;
  bool fin = false;
  HttpHeaders headers;
};
struct ExtraHeaders {
  uint32_t stream = 0;
  bool fin = false;
  HttpHeaders headers;
};
struct RstStream {
  uint32_t stream = 0;
  uint32_t status = 0;
};
struct Ping {
  uint32_t id = 0;
};
struct GoAway {
  uint32_t last_stream = 0;
  uint32_t status = 0;
};
/// Some of the bytes of a DATA frame; `fin` with its last ones.
struct Data {
  uint32_t stream = 0;
  bool fin = false;
  std::string bytes;
};
using Frame = std::variant<SynStream, SynReply, ExtraHeaders, RstStream, Ping, GoAway, Data>;

/// Bytes of a peer into frames. DATA frames are passed on as they arrive, so their length takes no memory.
/// After an error nothing more can be read: the header blocks of a connection depend on each other.
class SpdyReader {
 public:
  static constexpr size_t kLongestControlFrame = 64 * 1024;

  void feed(std::string_view bytes);
  /// The next frame; nullopt: more bytes are needed. Errors: kBadRequest, the protocol was broken; kTooLarge, a control
  /// frame or a header block is longer than allowed.
  Result<std::optional<Frame>> next();

 private:
  std::optional<Frame> rest_of_data();
  Result<std::optional<Frame>> control(uint16_t type, uint8_t flags, std::string_view body);

  HeaderInflater inflater_;
  std::string input_;
  size_t read_ = 0;           ///< of input_
  uint32_t data_stream_ = 0;  ///< of a DATA frame that is being passed on
  uint32_t data_left_ = 0;
  bool data_fin_ = false;
  bool in_data_ = false;
};

/// Frames into bytes, in the order in which they are sent.
class SpdyWriter {
 public:
  std::string syn_stream(uint32_t stream, const HttpHeaders& headers, bool fin = false);
  std::string syn_reply(uint32_t stream, const HttpHeaders& headers, bool fin = false);
  static std::string data(uint32_t stream, std::string_view bytes, bool fin);
  static std::string rst_stream(uint32_t stream, ResetStatus status);
  static std::string ping(uint32_t id);
  static std::string go_away(uint32_t last_stream, GoAwayStatus status);

 private:
  HeaderDeflater deflater_;
};

}  // namespace shiplog::spdy
