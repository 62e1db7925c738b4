#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "events/base/result.h"
#include "events/base/time.h"
#include "services/http/byte_stream.h"
#include "services/http/http.h"

namespace shiplog {

/// The answer to one request: either send(), or start(), write() as often as need be, end(). A call out of that
/// order, or after closed(), does nothing (write's `done` gets an error). A writer that is destroyed without an answer
/// sends 500; one destroyed in the middle of a stream breaks the connection, so that the client sees the cut. Threads:
/// all functions from any thread. Callbacks run on an I/O thread and must not block.
class ResponseWriter {
 public:
  using Done = std::function<void(Result<void>)>;

  virtual ~ResponseWriter() = default;
  /// The whole answer. Content-Length and Date are added.
  virtual void send(HttpResponse response) = 0;
  /// Begins a streamed answer (chunked).
  virtual void start(int status, HttpHeaders headers) = 0;
  /// `done` is called when the kernel accepts the bytes: write the next chunk then, and a slow client delays no other
  /// and fills no memory. Error: kUnavailable, the client has disconnected. Chunks written meanwhile go out together.
  virtual void write(std::string chunk, Done done) = 0;
  virtual void end() = 0;
  /// Answers 101 Switching Protocols with `headers`, which name the new protocol; then the connection is the stream's.
  /// Error: kUnavailable, the client has disconnected, has been answered, or cannot upgrade (HTTP/1.0).
  using Upgraded = std::function<void(Result<std::shared_ptr<ByteStream>>)>;
  virtual void upgrade(HttpHeaders headers, Upgraded then) = 0;
  /// Called once if the client disconnects, or the server stops, before the answer is complete; at once if it already
  /// has.
  virtual void on_close(std::function<void()> callback) = 0;
  virtual bool closed() const = 0;
};

/// An HTTP/1.1 server, with TLS and optional client certificates, or plain.
/// Threads: all functions from any thread but an I/O thread of its own.
class HttpServer {
 public:
  /// Called on an I/O thread; must not block. Requests of one connection are handled one after the other.
  using Handler = std::function<void(HttpRequest, std::shared_ptr<ResponseWriter>)>;
  /// Makes the answer to a request that the server itself refuses (400, 408, 413, 414, 417, 429, 431, 500, 501, 504).
  /// `request` has what was read of it: maybe no target yet.
  using Refusal = std::function<HttpResponse(const HttpRequest& request, int status, const std::string& message)>;

  struct Options {
    std::string host = "127.0.0.1";
    uint16_t port = 0;  ///< 0: a free one
    size_t threads = 2;

    std::string certificate_pem;  ///< with its chain; empty: plain HTTP
    std::string key_pem;
    std::string client_ca_pem;  ///< empty: no certificate is requested from clients

    size_t max_connections = 10000;  ///< more are closed at once
    size_t max_connections_per_address = 5000;
    size_t max_in_flight = 2000;  ///< requests without an answer yet, streams not counted; more get 429
    size_t max_header_bytes = 64 * 1024;
    size_t max_target_bytes = 16 * 1024;
    size_t max_body_bytes = 3 * 1024 * 1024;

    Millis header_timeout{10'000};   ///< TLS handshake, and a request's first byte to its header's last
    Millis body_timeout{60'000};     ///< the whole body
    Millis idle_timeout{180'000};    ///< between requests
    Millis request_timeout{65'000};  ///< from the handler's call to an answer or the start of a stream; then 504
    Millis write_timeout{30'000};    ///< for the client to take the next 64 KB, or all there is if that is less
    Millis linger{2'000};            ///< for a client to finish sending after our last word

    Refusal refusal;  ///< empty: plain text
    /// Told about connections that failed (handshake refused, timed out, too many): for logs. On an I/O thread.
    std::function<void(const HttpPeer&, const Error&)> on_trouble;
  };

  struct Stats {
    size_t connections = 0;  ///< now
    size_t in_flight = 0;    ///< now, streams not counted
    size_t streams = 0;      ///< now
    uint64_t accepted = 0;   ///< connections since the start
    uint64_t requests = 0;   ///< passed to the handler since the start
    uint64_t refused = 0;    ///< requests and connections refused since the start
  };

  /// Listens and serves. Errors: kIo, cannot listen, naming the address; kBadRequest, certificates that cannot be read.
  static Result<std::unique_ptr<HttpServer>> start(Options options, Handler handler);
  /// stop(Millis{0})
  ~HttpServer();

  /// Connections from now on are served with this certificate. Errors: kBadRequest, it cannot be read, or the server is
  /// plain.
  Result<void> use_certificate(const std::string& certificate_pem, const std::string& key_pem);

  uint16_t bound_port() const;
  /// "https://127.0.0.1:6443"
  std::string url() const;
  Stats stats() const;

  /// Accepts no more, ends streams in an orderly way, lets requests finish until `deadline`, then closes what is left.
  /// The handler is not called afterwards. May be called again.
  void stop(Millis deadline);

 private:
  struct Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shiplog
