#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "events/base/networks.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "services/http/byte_budget.h"
#include "services/http/byte_stream.h"
#include "services/http/client_target.h"
#include "services/http/http.h"
#include "services/http/io_threads.h"

namespace shiplog {

struct ClientCall;

/// A client of one API server, with a pool of kept-alive connections. Any HTTP status is an answer and no error.
/// Errors of all functions: kUnavailable, naming the server and the cause (refused, name not found, certificate not
/// trusted or for another name, cut off), kTimeout, kTooLarge (the answer), kBadRequest (a request that cannot be
/// written), kForbidden (a denied network), kTooManyRequests (no connection was free: not sent). After kUnavailable or
/// kTimeout a change may or may not have happened. Only GET and HEAD are sent again, once, when a kept connection turns
/// out to be dead. Threads: all functions from any thread. Callbacks run on an I/O thread, must not block, run once.
class HttpClient {
 public:
  /// Makes a connection to the server in place of a TCP connect, and calls back once, on any thread: with a socket,
  /// which is the client's from then on; or nullopt, so that it connects itself. TLS and HTTP follow either way.
  using Dial = std::function<void(std::function<void(Result<std::optional<int>>)>)>;

  struct Options {
    size_t max_connections = 16;                    ///< for request(); what is over waits its turn, within its time
    size_t max_streams = 256;                       ///< each has a connection of its own; more get kTooManyRequests
    size_t max_response_bytes = 256 * 1024 * 1024;  ///< of request(); streams pass any amount
    Millis connect_timeout{5'000};                  ///< TCP and TLS together
    Millis stream_head_timeout{30'000};             ///< from stream() to the answer's header
    Millis idle_timeout{60'000};  ///< a connection kept this long without use is closed; keep it below the servers' own
    std::string user_agent = "shiplog";
    /// Never connected to, whatever name leads there: checked for each connection, after the name is resolved. nullptr:
    /// none. The error is kForbidden and names the network.
    std::shared_ptr<const Networks> denied_networks = nullptr;
    Dial dial = nullptr;
  };

  /// A streamed answer that is under way. Dropping it does not end the stream.
  class Stream {
   public:
    virtual ~Stream() = default;
    /// Ends it soon: on_end is called with kUnavailable, unless it was already.
    virtual void cancel() = 0;
  };

  using OnResponse = std::function<void(Result<HttpResponse>)>;
  using OnHead = std::function<void(const HttpResponse&)>;  ///< status and headers; the body is empty
  using OnData = std::function<void(std::string_view)>;     ///< the bytes as they arrive; cut anywhere
  using OnEnd = std::function<void(Result<void>)>;          ///< ok: the answer ended as it should
  /// The next bytes, whole or cut anywhere. No more are received before `more` is called (on any thread), so that a
  /// slow reader slows down the server; the end may follow before.
  using OnPart = std::function<void(std::string bytes, std::function<void()> more)>;

  /// A streamed answer whose reader sets the pace.
  struct PacedStream {
    OnHead on_head;
    OnPart on_part;
    OnEnd on_end;
    Millis head_timeout{30'000};  ///< from the call to the answer's header
    Millis idle_timeout{0};       ///< from then on, between bytes that were asked for; 0: any
    bool own_connection = true;   ///< else one of the pool is occupied until the answer has ended
  };

  /// The result of upgrade(). `stream` nullptr: the server stays with HTTP, and `response` is its whole answer.
  struct Upgraded {
    HttpResponse response;
    std::shared_ptr<ByteStream> stream;
  };
  using OnUpgraded = std::function<void(Result<Upgraded>)>;

  /// Error: kBadRequest, the url or a certificate cannot be read.
  static Result<std::unique_ptr<HttpClient>> create(std::shared_ptr<IoThreads> io, const ClientTarget& target,
                                                    const Options& options);
  static Result<std::unique_ptr<HttpClient>> create(std::shared_ptr<IoThreads> io, const ClientTarget& target);
  /// close().
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// The target's path prefix, Host, Authorization, User-Agent and Content-Length are added.
  /// Limits of one answer.
  struct Expected {
    size_t max_response_bytes = 0;               ///< 0: the option's
    std::shared_ptr<ByteLease> lease = nullptr;  ///< grows with the body, beyond its budget kTooLarge; nullptr: none
  };
  void request(HttpRequest request, Millis timeout, OnResponse done);
  void request(HttpRequest request, Millis timeout, OnResponse done, Expected expected);
  /// Sends a request for another protocol (its headers Connection and Upgrade name it), on a connection of
  /// its own, which counts as a stream until it is closed.
  void upgrade(HttpRequest request, Millis timeout, OnUpgraded done);
  std::shared_ptr<Stream> stream(HttpRequest request, OnHead on_head, OnData on_data, OnEnd on_end);
  std::shared_ptr<Stream> stream(HttpRequest request, PacedStream paced);

  /// Everything under way ends with kUnavailable, soon, and so does what is sent from then on. For a client that its
  /// own callbacks hold. Threads: any.
  void close();

  /// "https://10.0.0.1:6443", as it stands in front of every error's message.
  const std::string& name() const;
  /// Connections opened since the start.
  uint64_t connections_opened() const;

 private:
  class Pool;
  explicit HttpClient(std::shared_ptr<IoThreads> io, std::shared_ptr<Pool> pool);
  std::shared_ptr<Stream> start(const HttpRequest& request, std::shared_ptr<ClientCall> call, Millis head_timeout);
  std::shared_ptr<IoThreads> io_;
  std::shared_ptr<Pool> pool_;
};

}  // namespace shiplog
