#pragma once

#include <functional>
#include <memory>
#include <string>

#include "events/base/result.h"

namespace shiplog {

/// A connection that has left HTTP by "101 Switching Protocols" (SPDY, WebSocket): bytes in both directions. Dropping
/// the last reference closes it. Threads: all functions from any thread; callbacks run on an I/O thread and must not
/// block.
class ByteStream {
 public:
  using Received = std::function<void(Result<std::string>)>;
  using Done = std::function<void(Result<void>)>;

  virtual ~ByteStream() = default;
  /// The next bytes, once there are some; "" when the peer has finished sending. One read at a time: nothing
  /// is received before it is requested, so a slow reader slows down the peer. Error: kUnavailable, it is closed.
  virtual void read(Received received) = 0;
  /// `done` is called when the kernel has accepted them. Writes keep the order of their calls. Errors: kUnavailable,
  /// it is closed; kTimeout, the peer does not read them.
  virtual void write(std::string bytes, Done done) = 0;
  /// Tells the peer, once what was written before is sent, that nothing more follows. It may continue to send: reads
  /// continue. Without support for that, as close().
  virtual void finish() { close(); }
  /// Closes once what was written before is sent. Reads under way end with an error.
  virtual void close() = 0;
};

}  // namespace shiplog
