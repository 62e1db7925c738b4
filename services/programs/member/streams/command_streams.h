#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "events/base/value.h"
#include "services/http/byte_stream.h"
#include "services/http/server.h"
#include "services/runtime/executor.h"

namespace shiplog::member {

/// Which streams a client of exec or attach has asked for.
struct StreamChoice {
  bool standard_in = false;
  bool standard_out = false;
  bool standard_error = false;
  bool tty = false;
};

/// The most bytes of output that are sent as one message or frame.
inline constexpr size_t kLongestPiece = 32 * 1024;

/// The client's end of one exec or attach. Threads: the executor's.
class CommandStreams {
 public:
  using Received = std::function<void(Result<std::string>)>;
  enum class Output { kStandardOut, kStandardError };

  virtual ~CommandStreams() = default;
  /// The next bytes of standard input; "" at its end, at once if the client has none. One read at a time.
  /// Error: kUnavailable, the client has disconnected.
  virtual void read(Received received) = 0;
  /// `done` is called when the bytes are on their way: write the next ones then. Bytes for a stream that the client
  /// has not asked for are dropped. Error: kUnavailable.
  virtual void write(Output output, std::string bytes, ByteStream::Done done) = 0;
  /// Sends the outcome, a metav1.Status, and closes the connection.
  virtual void finish(const Value& status) = 0;
  /// Called once, when the client has disconnected before finish().
  virtual void on_gone(std::function<void()> gone) = 0;
};

using CommandReady = std::function<void(Result<std::shared_ptr<CommandStreams>>)>;

/// Answers the request with an upgrade to WebSocket or SPDY, whichever it asks for, and calls `ready` on the executor
/// once the client's streams are there. A request that cannot be upgraded is answered, and `ready` gets the error.
void open_command_streams(const HttpRequest& request, const std::shared_ptr<ResponseWriter>& writer,
                          StreamChoice choice, Executor& executor, CommandReady ready);

/// The stream, whose callbacks run on the executor.
std::shared_ptr<ByteStream> on_executor(std::shared_ptr<ByteStream> stream, Executor& executor);

/// Answers 400 in kube-apiserver's words.
void refuse_upgrade(ResponseWriter& writer, const std::string& message);

/// The protocols that the client names in X-Stream-Protocol-Version, most wanted first.
std::vector<std::string> stream_protocols(const HttpRequest& request);
bool is_spdy_upgrade(const HttpRequest& request);

}  // namespace shiplog::member
