#pragma once

#include <functional>
#include <memory>
#include <string>

#include "events/base/networks.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "services/http/byte_stream.h"
#include "services/http/io_threads.h"

/// A tunnel is a connection that one side has opened so that the other one can use it, once, to reach a server near the
/// first: the side behind NAT opens it and waits. Until then both exchange single bytes:
///
///   waiting side   'p' every kPingEvery ──► 'p' within kPingAnswer, or it is closed
///   to use it      'g' ──► 'g' once the server is connected; or 'x', a reason, and the end
///
/// From 'g' on the bytes of the connection follow.
namespace shiplog {

inline constexpr const char* kTunnelProtocol = "shiplog-tunnel";

struct TunnelTiming {
  Millis ping_every{15'000};
  Millis ping_answer{10'000};
};

/// The end that uses a tunnel. Threads: any.
class WaitingTunnel {
 public:
  /// `gone` is called once, when it has ended without having been taken.
  static std::shared_ptr<WaitingTunnel> start(const std::shared_ptr<IoThreads>& io, std::shared_ptr<ByteStream> stream,
                                              std::function<void()> gone, const TunnelTiming& timing = {});
  virtual ~WaitingTunnel() = default;

  /// A socket that is connected to the server at the other end. Once; `then` runs on an I/O thread. Errors:
  /// kUnavailable, the tunnel or the server is not reachable; kTimeout.
  virtual void take(Millis timeout, std::function<void(Result<int>)> then) = 0;
  virtual void close() = 0;
};

/// Where a tunnel leads.
struct TunnelTarget {
  std::string host, port;
};

/// The end that opened a tunnel: waits until it is used, then connects to the target and passes bytes. `taken` is
/// called when that begins; `ended` once, at the end of everything. A tunnel on which nothing is heard for
/// `longest_silence` is closed while it waits.
void serve_tunnel(const std::shared_ptr<IoThreads>& io, std::shared_ptr<ByteStream> stream, TunnelTarget target,
                  std::function<void()> taken, std::function<void()> ended, Millis longest_silence = Millis{60'000});

}  // namespace shiplog
