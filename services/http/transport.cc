#include "services/http/transport.h"

#include <cerrno>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include "services/http/network_error.h"
#include "services/http/socket_transport.h"
#include "services/http/tls_session.h"
#include "services/http/x509.h"

namespace shiplog::net {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Resolver = asio::ip::basic_resolver<tcp, Executor>;
using Wait = TlsSession::Wait;

namespace {

/// For a connection of its own: not blocking, and a peer that has vanished is noticed after about half a minute, also
/// on a watch without events.
void configure(Socket& socket) {
  error_code ignored;
  static_cast<void>(socket.native_non_blocking(true, ignored));
  static_cast<void>(socket.set_option(tcp::no_delay{true}, ignored));
  const int on = 1;
  const int idle_seconds = 15;
  const int interval_seconds = 5;
  const int probes = 3;
  const int fd = socket.native_handle();
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_seconds, sizeof idle_seconds);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_seconds, sizeof interval_seconds);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

}  // namespace

struct Transport::Impl : std::enable_shared_from_this<Impl> {
  explicit Impl(const Executor& executor) : socket{executor}, resolver{executor}, linger{executor} {}
  explicit Impl(Socket accepted)
      : socket{std::move(accepted)}, resolver{socket.get_executor()}, linger{socket.get_executor()} {
    configure(socket);
  }

  void close_now() {
    error_code ignored;
    resolver.cancel();
    linger.cancel();
    if (tls) tls->close();
    static_cast<void>(socket.close(ignored));
  }

  void wait(Wait what, Done done) {
    const auto kind = what == Wait::kWritable ? Socket::wait_write : Socket::wait_read;
    socket.async_wait(kind, [done = std::move(done)](const error_code& ec) {
      if (ec) return done(network_error(ec));
      done(ok());
    });
  }

  /// After the end of what the peer sends there is nothing to wait for.
  void end_received() {
    ended = true;
    if (closing_gently) close_now();
  }

  void connect_to(std::vector<tcp::endpoint> endpoints, Done done) {
    const auto kept = std::make_shared<std::vector<tcp::endpoint>>(std::move(endpoints));
    asio::async_connect(
        socket, *kept,
        [self = shared_from_this(), kept, done = std::move(done)](const error_code& ec, const tcp::endpoint&) {
          if (ec) return done(network_error(ec));
          configure(self->socket);
          done(ok());
        });
  }

  void handshake(Done done) {
    const auto step = tls->handshake();
    if (!step) return done(step.error());
    if (step.value().wait == Wait::kNone) return done(ok());
    wait(step.value().wait, [self = shared_from_this(), done = std::move(done)](const Result<void>& ready) {
      if (!ready) return done(ready.error());
      self->handshake(done);
    });
  }

  void finish_sending() {
    const auto step = tls ? tls->shutdown() : Result<TlsSession::Step>{TlsSession::Step{}};
    if (!step) return;  // the reader learns why
    if (step.value().wait != Wait::kNone) {
      return wait(step.value().wait, [self = shared_from_this()](const Result<void>& ready) {
        if (ready) self->finish_sending();
      });
    }
    error_code ignored;
    if (!carrier) static_cast<void>(socket.shutdown(Socket::shutdown_send, ignored));
  }

  void shut_down() {
    const auto step = tls ? tls->shutdown() : Result<TlsSession::Step>{TlsSession::Step{}};
    if (!step) return close_now();
    if (step.value().wait != Wait::kNone) {
      return wait(step.value().wait, [self = shared_from_this()](const Result<void>& ready) {
        if (ready) self->shut_down();
      });
    }
    error_code ignored;
    static_cast<void>(socket.shutdown(Socket::shutdown_send, ignored));
    drain();
  }

  void drain() {
    constexpr size_t kRest = 4096;
    constexpr int kReadsPerTurn = 16;
    char rest[kRest];
    for (int turn = 0; turn < kReadsPerTurn && socket.is_open(); ++turn) {
      const ssize_t count = ::recv(socket.native_handle(), rest, sizeof rest, 0);
      if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) return close_now();
      if (count < 0) break;
    }
    wait(Wait::kReadable, [self = shared_from_this()](const Result<void>& ready) {
      if (ready) self->drain();
    });
  }

  Result<std::optional<size_t>> read(char* into, size_t size) {
    if (!tls) {
      const ssize_t count = ::recv(socket.native_handle(), into, size, 0);
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) return std::optional<size_t>{};
      if (count < 0) return network_error(errno);
      return std::optional{static_cast<size_t>(count)};
    }
    SHIPLOG_TRY(const TlsSession::Step step, tls->read(into, size));
    read_waits_for = step.wait == Wait::kNone ? Wait::kReadable : step.wait;
    if (step.wait != Wait::kNone) return std::optional<size_t>{};
    return std::optional{step.bytes};
  }

  Socket socket;
  std::unique_ptr<TlsSession> carrier;  // of a proxy, that the connection to the server runs in
  std::unique_ptr<TlsSession> tls;
  Resolver resolver;
  SteadyTimer linger;
  Wait read_waits_for = Wait::kReadable;
  Wait write_waits_for = Wait::kWritable;
  bool closing_gently = false;
  bool ended = false;
};

Transport::Transport(const Strand& strand) : impl_{std::make_shared<Impl>(strand.impl().executor)} {}
Transport::Transport(std::shared_ptr<Impl> impl) : impl_{std::move(impl)} {}

std::unique_ptr<Transport> accepted_transport(Socket socket) {
  return std::make_unique<Transport>(std::make_shared<Transport::Impl>(std::move(socket)));
}

Transport::~Transport() {
  if (!impl_->closing_gently) impl_->close_now();
}

void Transport::connect(const std::string& host, const std::string& port, std::shared_ptr<const Networks> denied,
                        Done done) {
  impl_->resolver.async_resolve(
      host, port, Resolver::numeric_service,
      [impl = impl_, host, denied = std::move(denied), done = std::move(done)](
          const error_code& ec, const Resolver::results_type& endpoints) {
        if (ec == asio::error::operation_aborted) return done(network_error(ec));
        if (ec) return done(Error{ErrorCode::kUnavailable, "cannot resolve the name " + host + ": " + ec.message()});
        std::vector<tcp::endpoint> allowed;
        std::string refused;
        for (const auto& entry : endpoints) {
          const std::string address = entry.endpoint().address().to_string();
          const std::string network = denied == nullptr ? "" : denied->holding(address);
          if (network.empty()) {
            allowed.push_back(entry.endpoint());
          } else {
            refused = address + ", in the denied network " + network;
          }
        }
        if (allowed.empty()) {
          return done(Error{ErrorCode::kForbidden, "not called: " + host + " leads to " + refused});
        }
        impl->connect_to(std::move(allowed), done);
      });
}

void Transport::handshake_as_server(const TlsContext& tls, Done done) {
  impl_->tls = std::make_unique<TlsSession>(tls.get(), impl_->socket.native_handle());
  impl_->tls->accept();
  asio::post(impl_->socket.get_executor(),
             [impl = impl_, done = std::move(done)]() mutable { impl->handshake(std::move(done)); });
}

void Transport::handshake_as_client(const TlsContext& tls, const std::string& name, bool insecure, Done done) {
  if (impl_->tls) impl_->carrier = std::move(impl_->tls);
  impl_->tls = impl_->carrier ? std::make_unique<TlsSession>(tls.get(), *impl_->carrier)
                              : std::make_unique<TlsSession>(tls.get(), impl_->socket.native_handle());
  impl_->tls->connect(name, insecure);
  asio::post(impl_->socket.get_executor(),
             [impl = impl_, done = std::move(done)]() mutable { impl->handshake(std::move(done)); });
}

void Transport::when_readable(Done done) {
  if (impl_->tls && impl_->tls->holds_input()) {
    return asio::post(impl_->socket.get_executor(), [done = std::move(done)] { done(ok()); });
  }
  impl_->wait(impl_->read_waits_for, std::move(done));
}

Result<std::optional<size_t>> Transport::try_read(char* into, size_t size) {
  if (!impl_->socket.is_open()) return Error{ErrorCode::kUnavailable, "the connection was closed"};
  auto count = impl_->read(into, size);
  if (!count || count.value() == size_t{0}) impl_->end_received();
  return count;
}

void Transport::when_writable(Done done) { impl_->wait(impl_->write_waits_for, std::move(done)); }

Result<std::optional<size_t>> Transport::try_write(const char* from, size_t size) {
  if (!impl_->socket.is_open()) return Error{ErrorCode::kUnavailable, "the connection was closed"};
  if (!impl_->tls) {
    const ssize_t count = ::send(impl_->socket.native_handle(), from, size, MSG_NOSIGNAL);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return std::optional<size_t>{};
    if (count < 0) return network_error(errno);
    return std::optional{static_cast<size_t>(count)};
  }
  SHIPLOG_TRY(const TlsSession::Step step, impl_->tls->write(from, size));
  impl_->write_waits_for = step.wait == Wait::kNone ? Wait::kWritable : step.wait;
  if (step.wait != Wait::kNone) return std::optional<size_t>{};
  return std::optional{step.bytes};
}

void Transport::finish_sending() { impl_->finish_sending(); }

void Transport::close() { impl_->close_now(); }

void Transport::close_gently(Millis linger) {
  if (impl_->closing_gently) return;
  impl_->closing_gently = true;
  if (impl_->ended) return impl_->close_now();
  impl_->linger.expires_after(std::chrono::milliseconds{linger.value});
  impl_->linger.async_wait([impl = impl_](const error_code& ec) {
    if (!ec) impl->close_now();
  });
  impl_->shut_down();
}

HttpPeer Transport::peer() const {
  HttpPeer peer;
  error_code ec;
  const tcp::endpoint endpoint = impl_->socket.remote_endpoint(ec);
  if (!ec) {
    asio::ip::address address = endpoint.address();
    // A dual-stack listener sees IPv4 clients as ::ffff:a.b.c.d; users think of them as a.b.c.d.
    if (address.is_v6() && address.to_v6().is_v4_mapped()) {
      address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
    }
    peer.address = address.to_string();
  }
  if (!impl_->tls) return peer;
  ssl_st* ssl = impl_->tls->native();
  X509* certificate = ::SSL_get0_peer_certificate(ssl);
  if (certificate == nullptr) return peer;
  peer.stranger = ::SSL_get_verify_result(ssl) != X509_V_OK;
  if (peer.stranger) return peer;
  CertificateInfo info = x509::info_of(certificate);
  peer.certified = true;
  peer.common_name = std::move(info.common_name);
  peer.organizations = std::move(info.organizations);
  return peer;
}

}  // namespace shiplog::net
