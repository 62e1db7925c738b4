#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "services/http/byte_stream.h"
#include "services/http/spdy/frames.h"

namespace shiplog::spdy {

struct SessionLimits {
  size_t streams = 64;             ///< open at a time; more are refused
  size_t held_bytes = 256 * 1024;  ///< received and not read yet, of all streams; beyond, the peer must wait
};

class SpdySession;

/// One stream that the client has opened. Threads: as its session.
class SpdyStream {
 public:
  using Received = std::function<void(Result<std::string>)>;

  SpdyStream(std::weak_ptr<SpdySession> session, uint32_t id, HttpHeaders headers)
      : session_{std::move(session)}, id_{id}, headers_{std::move(headers)} {}

  const HttpHeaders& headers() const { return headers_; }
  /// The next bytes; "" when the client has finished sending. One read at a time.
  /// Error: kUnavailable, the stream was reset or the connection is closed.
  void read(Received received);
  /// `done` is called when the kernel has accepted the bytes. Error: kUnavailable.
  void write(std::string_view bytes, ByteStream::Done done);
  /// Nothing more will be written.
  void finish();
  void reset(ResetStatus status);

 private:
  friend class SpdySession;
  void deliver();

  std::weak_ptr<SpdySession> session_;
  uint32_t id_;
  HttpHeaders headers_;
  std::string held_;   ///< received and not read yet
  Received received_;  ///< of the read under way
  bool remote_done_ = false;
  bool local_done_ = false;
  bool broken_ = false;
};

/// The server's end of a SPDY/3.1 connection. Threads: calls and the callbacks of the byte stream must not overlap.
class SpdySession : public std::enable_shared_from_this<SpdySession> {
 public:
  /// Called for every stream that the client opens; false refuses it.
  using OnStream = std::function<bool(const std::shared_ptr<SpdyStream>&)>;
  /// Called once, when the connection has ended, for whatever reason.
  using OnEnd = std::function<void(const Error&)>;

  static std::shared_ptr<SpdySession> start(std::shared_ptr<ByteStream> bytes, SessionLimits limits, OnStream on_stream,
                                            OnEnd on_end);
  /// Sends GOAWAY and closes the connection after what was written.
  void close();
  size_t open_streams() const { return streams_.size(); }

 private:
  friend class SpdyStream;
  SpdySession(std::shared_ptr<ByteStream> bytes, SessionLimits limits, OnStream on_stream, OnEnd on_end)
      : bytes_{std::move(bytes)}, limits_{limits}, on_stream_{std::move(on_stream)}, on_end_{std::move(on_end)} {}

  void read();
  void received(std::string_view bytes);
  void handle(Frame frame);
  void open(SynStream frame);
  void take(Data frame);
  void finish_remote(uint32_t id);
  void drop_if_done(const std::shared_ptr<SpdyStream>& stream);
  void drop(uint32_t id);
  void send(std::string frame);
  void end(const Error& error);
  void consumed(size_t bytes);

  std::shared_ptr<ByteStream> bytes_;
  SessionLimits limits_;
  OnStream on_stream_;
  OnEnd on_end_;
  SpdyReader reader_;
  SpdyWriter writer_;
  std::map<uint32_t, std::shared_ptr<SpdyStream>> streams_;
  uint32_t last_stream_ = 0;
  size_t held_bytes_ = 0;    ///< of all streams
  size_t unsent_bytes_ = 0;  ///< of frames that the session itself answers with
  bool reading_ = false;
  bool going_away_ = false;
  bool ended_ = false;
};

}  // namespace shiplog::spdy
