#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "events/base/networks.h"
#include "events/base/result.h"
#include "events/base/time.h"
#include "services/http/http.h"
#include "services/http/io_threads.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

/// Sockets with and without TLS: the only place that knows Asio. Internal to services/http.
namespace shiplog::net {

using TlsContext = std::shared_ptr<ssl_ctx_st>;

/// What runs on one strand never runs at the same time on two threads. Copies are the same strand.
class Strand {
 public:
  explicit Strand(IoThreads& io);
  /// At once when already on the strand, else soon.
  void dispatch(std::function<void()> work) const;
  void post(std::function<void()> work) const;

  struct Impl;
  explicit Strand(std::shared_ptr<Impl> impl) : impl_{std::move(impl)} {}
  Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<Impl> impl_;
};

/// One alarm. Use on its strand only. `due` is not called after cancel(), arm() or destruction.
class Timer {
 public:
  explicit Timer(const Strand& strand);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  void arm(Millis after, std::function<void()> due);
  void cancel();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

/// One TCP connection, maybe with TLS. Use on its strand only; callbacks come on it, never from inside the call that
/// started them. One read and one write may be under way at the same time. Buffers must live until the callback.
/// Errors: kUnavailable, saying what the peer or the network did.
class Transport {
 public:
  using Done = std::function<void(Result<void>)>;
  using Moved = std::function<void(Result<size_t>)>;

  struct Impl;
  explicit Transport(const Strand& strand);
  explicit Transport(std::shared_ptr<Impl> impl) : impl_{std::move(impl)} {}
  /// Closes, unless close_gently() is at it.
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// Error: also kForbidden, the host is in one of these networks. Of several addresses those are left out.
  void connect(const std::string& host, const std::string& port, std::shared_ptr<const Networks> denied, Done done);
  /// Once the peer has sent something, or has closed the connection. Needs no memory until then.
  void when_readable(Done done);
  void handshake_as_server(const TlsContext& tls, Done done);
  /// Verifies the server's certificate for `name` (DNS name or IP address) unless `insecure`.
  void handshake_as_client(const TlsContext& tls, const std::string& name, bool insecure, Done done);

  /// 0 bytes: the peer has finished sending.
  void read_some(char* into, size_t size, Moved moved);
  void write_some(const char* from, size_t size, Moved moved);

  /// At once; what is under way calls back with an error.
  void close();
  /// Tells the peer that nothing more comes, then reads and drops what it still sends, until it closes too or `linger`
  /// is over. Closing with unread bytes would reset the connection and could take our last answer with it.
  void close_gently(Millis linger);

  /// Address, and after a TLS handshake the verified client certificate's names.
  HttpPeer peer() const;

 private:
  std::shared_ptr<Impl> impl_;
};

/// Accepts connections, each on a strand of its own.
class Listener {
 public:
  using Accepted = std::function<void(Strand, std::unique_ptr<Transport>)>;

  /// Port 0 takes a free one. Error: kIo, naming the address and why.
  static Result<std::unique_ptr<Listener>> open(IoThreads& io, const std::string& host, uint16_t port);
  ~Listener();

  uint16_t port() const;
  /// Calls back on the new connection's strand, or any thread of `io` when that is the same.
  void start(Accepted accepted);
  void close();

 private:
  struct Impl;
  explicit Listener(std::shared_ptr<Impl> impl) : impl_{std::move(impl)} {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace shiplog::net
