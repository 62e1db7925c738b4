#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "events/base/networks.h"
#include "events/base/result.h"
#include "services/http/http.h"
#include "services/http/strand.h"

struct ssl_ctx_st;  // OpenSSL's SSL_CTX

/// Internal to services/http.
namespace shiplog::net {

using TlsContext = std::shared_ptr<ssl_ctx_st>;

/// One TCP connection, with or without TLS, read and written without blocking: try, and wait for readiness when nothing
/// could be done. So a connection that waits holds no buffer, and what can be done at once takes no detour through a
/// queue. Use on its strand only; callbacks run on it, never inside the call that started them. One wait for reading
/// and one for writing may be under way at the same time.
/// Errors: kUnavailable; the message states what the peer or the network did.
class Transport {
 public:
  using Done = std::function<void(Result<void>)>;

  struct Impl;
  explicit Transport(const Strand& strand);
  explicit Transport(std::shared_ptr<Impl> impl);
  /// Closes, unless close_gently() was called.
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  /// Error: also kForbidden, the host is in one of these networks. Of several addresses those are left out.
  void connect(const std::string& host, const std::string& port, std::shared_ptr<const Networks> denied, Done done);
  void handshake_as_server(const TlsContext& tls, Done done);
  /// Verifies the server's certificate for `name` (DNS name or IP address) unless `insecure`. Over a connection that
  /// has TLS already, to a proxy, the new session runs inside of that one.
  void handshake_as_client(const TlsContext& tls, const std::string& name, bool insecure, Done done);

  /// `done` runs when try_read() may return something: bytes, the end, or an error.
  void when_readable(Done done);
  /// How many bytes were read; 0: the peer has finished sending; nullopt: nothing yet, call when_readable().
  Result<std::optional<size_t>> try_read(char* into, size_t size);
  void when_writable(Done done);
  /// How many bytes were written; nullopt: none for now, call when_writable() and then again with the same bytes.
  Result<std::optional<size_t>> try_write(const char* from, size_t size);

  /// Notifies the peer that nothing more follows; reading continues. Nothing is written afterwards.
  void finish_sending();
  /// At once; what is under way calls back with an error.
  void close();
  /// Notifies the peer that nothing more follows, then reads and drops what it still sends, until it closes too or
  /// `linger` is over. Closing with unread bytes would reset the connection, and the peer could lose our last answer.
  void close_gently(Millis linger);

  /// Address, and after a TLS handshake the verified client certificate's names.
  HttpPeer peer() const;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace shiplog::net
