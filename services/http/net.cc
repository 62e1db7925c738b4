#include "services/http/net.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include "events/base/check.h"
#include "services/http/x509.h"

namespace shiplog {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

// --- IoThreads ---------------------------------------------------------------------------------------------------

/// Whoever may still use an executor keeps this alive; what was waiting is dropped as soon as the last thread is done.
struct IoThreads::Impl {
  struct Context : asio::io_context {
    using asio::io_context::io_context;
    void drop_handlers() { shutdown(); }
  };

  explicit Impl(size_t count) : context{static_cast<int>(count)}, guard{context.get_executor()}, running{count} {}

  void serve() {
    context.run();
    std::unique_lock lock{mutex};
    const bool last = --running == 0;
    finished.notify_all();
    lock.unlock();
    if (last) context.drop_handlers();
  }

  Context context;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> guard;
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable finished;
  size_t running;
};

IoThreads::IoThreads(size_t threads) : impl_{std::make_shared<Impl>(std::max<size_t>(threads, 1))} {
  const size_t count = impl_->running;
  for (size_t i = 0; i < count; ++i) impl_->threads.emplace_back([impl = impl_] { impl->serve(); });
}

IoThreads::~IoThreads() {
  impl_->guard.reset();
  const auto self = std::find_if(impl_->threads.begin(), impl_->threads.end(), [](const std::thread& thread) {
    return thread.get_id() == std::this_thread::get_id();
  });
  if (self == impl_->threads.end()) {
    // Callbacks that are due anyway (a client that was just destroyed tells its callers) still come.
    std::unique_lock lock{impl_->mutex};
    impl_->finished.wait_for(lock, std::chrono::seconds{1}, [this] { return impl_->running == 0; });
  }
  impl_->context.stop();
  for (std::thread& thread : impl_->threads) {
    // A callback may drop the last reference: its thread cannot wait for itself, and holds what it needs.
    if (thread.get_id() == std::this_thread::get_id()) {
      thread.detach();
    } else {
      thread.join();
    }
  }
}

void IoThreads::post(std::function<void()> work) { asio::post(impl_->context, std::move(work)); }

namespace net {
namespace {

using Executor = asio::strand<asio::io_context::executor_type>;
using Socket = asio::basic_stream_socket<tcp, Executor>;
using TlsStream = asio::ssl::stream<Socket&>;
using Resolver = asio::ip::basic_resolver<tcp, Executor>;
using SteadyTimer =
    asio::basic_waitable_timer<std::chrono::steady_clock, asio::wait_traits<std::chrono::steady_clock>, Executor>;

/// A peer that vanished without a word is noticed after about half a minute, also on a silent watch.
void tune(Socket& socket) {
  error_code ignored;
  socket.set_option(tcp::no_delay{true}, ignored);
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

/// TLS alerts by which a server turns down our certificate or the lack of one.
bool is_certificate_alert(int reason) {
  switch (reason) {
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return true;
    default:
      return false;
  }
}

Error error_of(const error_code& ec) {
  if (ec == asio::ssl::error::stream_truncated || ec == asio::error::eof) {
    return {ErrorCode::kUnavailable, "the connection was closed by the other side"};
  }
  if (ec == asio::error::operation_aborted) return {ErrorCode::kUnavailable, "the connection was closed"};
  if (ec.category() == asio::error::get_ssl_category()) {
    const int reason = ERR_GET_REASON(static_cast<unsigned long>(ec.value()));
    const char* words = ::ERR_reason_error_string(static_cast<unsigned long>(ec.value()));
    const std::string what = words != nullptr ? words : ec.message();
    if (is_certificate_alert(reason)) {
      return {ErrorCode::kUnavailable, "the other side refused our certificate: " + what};
    }
    if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST) {
      return {ErrorCode::kUnavailable, "the other side does not speak TLS: " + what};
    }
    return {ErrorCode::kUnavailable, "TLS: " + what};
  }
  std::string words = ec.message();
  if (!words.empty() && words[0] >= 'A' && words[0] <= 'Z') words[0] = static_cast<char>(words[0] - 'A' + 'a');
  return {ErrorCode::kUnavailable, words};
}

std::string list_of(const CertificateInfo& info) {
  std::string names;
  for (const auto* group : {&info.dns_names, &info.ip_addresses}) {
    for (const std::string& name : *group) names += (names.empty() ? "" : ", ") + name;
  }
  return names.empty() ? "no name at all" : names;
}

/// Why a server's certificate failed its check, in words that say what to do about it.
std::string certificate_problem(int code, X509* certificate, const std::string& name) {
  const CertificateInfo info = certificate != nullptr ? certificate_info(certificate) : CertificateInfo{};
  switch (code) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "the server's certificate is not valid for the name " + name + ", only for " + list_of(info);
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "the server's certificate has expired (" + info.subject + ", valid until " + rfc3339(info.not_after) + ")";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "the server's certificate is not valid before " + rfc3339(info.not_before) + " (" + info.subject + ")";
    default:
      return "the server's certificate is not trusted: " + std::string{::X509_verify_cert_error_string(code)} + " (" +
             info.subject + ", issued by " + info.issuer + ")";
  }
}

}  // namespace

// --- Strand and Timer --------------------------------------------------------------------------------------------

struct Strand::Impl {
  Impl(std::shared_ptr<IoThreads::Impl> threads, Executor on) : io{std::move(threads)}, executor{std::move(on)} {}
  // First, to go last. After the threads have ended, what is posted is dropped.
  std::shared_ptr<IoThreads::Impl> io;
  Executor executor;
};

Strand::Strand(IoThreads& io) : impl_{std::make_shared<Impl>(io.impl(), asio::make_strand(io.impl()->context))} {}
void Strand::dispatch(std::function<void()> work) const { asio::dispatch(impl_->executor, std::move(work)); }
void Strand::post(std::function<void()> work) const { asio::post(impl_->executor, std::move(work)); }

struct Timer::Impl {
  explicit Impl(const Executor& executor) : timer{executor} {}
  SteadyTimer timer;
  uint64_t armed = 0;  // an alarm that was already on its way when it was cancelled carries an old number
};

Timer::Timer(const Strand& strand) : impl_{std::make_shared<Impl>(strand.impl().executor)} {}
Timer::~Timer() { cancel(); }

void Timer::arm(Millis after, std::function<void()> due) {
  const uint64_t number = ++impl_->armed;
  impl_->timer.expires_after(std::chrono::milliseconds{after.value});
  impl_->timer.async_wait([impl = impl_, number, due = std::move(due)](const error_code& ec) {
    if (!ec && impl->armed == number) due();
  });
}

void Timer::cancel() {
  ++impl_->armed;
  impl_->timer.cancel();
}

// --- Transport ---------------------------------------------------------------------------------------------------

struct Transport::Impl : std::enable_shared_from_this<Impl> {
  explicit Impl(const Executor& executor) : socket{executor}, resolver{executor}, linger{executor} {}
  explicit Impl(Socket accepted)
      : socket{std::move(accepted)}, resolver{socket.get_executor()}, linger{socket.get_executor()} {}

  void close_now() {
    error_code ignored;
    resolver.cancel();
    linger.cancel();
    socket.close(ignored);
  }

  /// After the end of what the peer sends, a further read would wait for ever: Asio has seen its last event.
  void end_received() {
    ended = true;
    if (closing_gently) close_now();
  }

  void half_close() {
    error_code ignored;
    socket.shutdown(Socket::shutdown_send, ignored);
    drain();
  }

  void drain() {
    constexpr size_t kRest = 4096;
    rest.resize(kRest);
    socket.async_read_some(asio::buffer(rest), [self = shared_from_this()](const error_code& ec, size_t) {
      if (ec) return self->close_now();
      self->drain();
    });
  }

  void connect_to(std::vector<tcp::endpoint> endpoints, Done done) {
    const auto kept = std::make_shared<std::vector<tcp::endpoint>>(std::move(endpoints));
    asio::async_connect(
        socket, *kept,
        [self = shared_from_this(), kept, done = std::move(done)](const error_code& ec, const tcp::endpoint&) {
          if (ec) return done(error_of(ec));
          tune(self->socket);
          done(ok());
        });
  }

  Socket socket;
  std::optional<TlsStream> tls;
  Resolver resolver;
  SteadyTimer linger;
  bool closing_gently = false;
  bool ended = false;
  std::string problem;     // with the server's certificate
  std::vector<char> rest;  // what a peer sends after our last word
};

Transport::Transport(const Strand& strand) : impl_{std::make_shared<Impl>(strand.impl().executor)} {}

Transport::~Transport() {
  if (!impl_->closing_gently) impl_->close_now();
}

void Transport::connect(const std::string& host, const std::string& port, std::shared_ptr<const Networks> denied,
                        Done done) {
  impl_->resolver.async_resolve(
      host, port, Resolver::numeric_service,
      [impl = impl_, host, denied = std::move(denied), done = std::move(done)](
          const error_code& ec, const Resolver::results_type& endpoints) {
        if (ec == asio::error::operation_aborted) return done(error_of(ec));
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

void Transport::when_readable(Done done) {
  impl_->socket.async_wait(Socket::wait_read, [impl = impl_, done = std::move(done)](const error_code& ec) {
    if (ec) return done(error_of(ec));
    done(ok());
  });
}

void Transport::handshake_as_server(const TlsContext& tls, Done done) {
  impl_->tls.emplace(impl_->socket, ::SSL_new(tls.get()));
  impl_->tls->async_handshake(TlsStream::server, [impl = impl_, done = std::move(done)](const error_code& ec) {
    if (ec) return done(error_of(ec));
    done(ok());
  });
}

void Transport::handshake_as_client(const TlsContext& tls, const std::string& name, bool insecure, Done done) {
  impl_->tls.emplace(impl_->socket, ::SSL_new(tls.get()));
  SSL* ssl = impl_->tls->native_handle();
  error_code not_an_address;
  asio::ip::make_address(name, not_an_address);
  const bool is_address = !not_an_address;
  if (!is_address) SSL_set_tlsext_host_name(ssl, name.c_str());
  if (insecure) {
    impl_->tls->set_verify_mode(asio::ssl::verify_none);
  } else {
    X509_VERIFY_PARAM* expect = ::SSL_get0_param(ssl);
    ::X509_VERIFY_PARAM_set_hostflags(expect,
                                      X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    const int set = is_address ? ::X509_VERIFY_PARAM_set1_ip_asc(expect, name.c_str())
                               : ::X509_VERIFY_PARAM_set1_host(expect, name.c_str(), name.size());
    SHIPLOG_CHECK(set == 1, "OpenSSL takes the name that the certificate is checked against");
    impl_->tls->set_verify_mode(asio::ssl::verify_peer);
    impl_->tls->set_verify_callback([impl = impl_.get(), name](bool good, asio::ssl::verify_context& context) {
      X509_STORE_CTX* store = context.native_handle();
      if (!good && impl->problem.empty()) {
        impl->problem =
            certificate_problem(::X509_STORE_CTX_get_error(store), ::X509_STORE_CTX_get_current_cert(store), name);
      }
      return good;
    });
  }
  impl_->tls->async_handshake(TlsStream::client, [impl = impl_, done = std::move(done)](const error_code& ec) {
    if (ec && !impl->problem.empty()) return done(Error{ErrorCode::kUnavailable, impl->problem});
    if (ec) return done(error_of(ec).context("TLS handshake failed"));
    done(ok());
  });
}

void Transport::read_some(char* into, size_t size, Moved moved) {
  auto finish = [impl = impl_, moved = std::move(moved)](const error_code& ec, size_t count) {
    if (ec) impl->end_received();
    if (ec == asio::error::eof) return moved(size_t{0});
    if (ec) return moved(error_of(ec));
    moved(count);
  };
  if (impl_->tls) return impl_->tls->async_read_some(asio::buffer(into, size), std::move(finish));
  impl_->socket.async_read_some(asio::buffer(into, size), std::move(finish));
}

void Transport::write_some(const char* from, size_t size, Moved moved) {
  auto finish = [impl = impl_, moved = std::move(moved)](const error_code& ec, size_t count) {
    if (ec) return moved(error_of(ec));
    moved(count);
  };
  if (impl_->tls) return impl_->tls->async_write_some(asio::buffer(from, size), std::move(finish));
  impl_->socket.async_write_some(asio::buffer(from, size), std::move(finish));
}

void Transport::close() { impl_->close_now(); }

void Transport::close_gently(Millis linger) {
  if (impl_->closing_gently) return;
  impl_->closing_gently = true;
  if (impl_->ended) return impl_->close_now();
  impl_->linger.expires_after(std::chrono::milliseconds{linger.value});
  impl_->linger.async_wait([impl = impl_](const error_code& ec) {
    if (!ec) impl->close_now();
  });
  if (!impl_->tls) return impl_->half_close();
  impl_->tls->async_shutdown([impl = impl_](const error_code& ec) {
    if (ec == asio::ssl::error::stream_truncated) return impl->close_now();
    impl->half_close();  // the peer has answered, or is still sending us its data
  });
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
  SSL* ssl = impl_->tls->native_handle();
  X509* certificate = ::SSL_get0_peer_certificate(ssl);
  if (certificate == nullptr) return peer;
  peer.stranger = ::SSL_get_verify_result(ssl) != X509_V_OK;
  if (peer.stranger) return peer;
  CertificateInfo info = certificate_info(certificate);
  peer.certified = true;
  peer.common_name = std::move(info.common_name);
  peer.organizations = std::move(info.organizations);
  return peer;
}

// --- Listener ----------------------------------------------------------------------------------------------------

struct Listener::Impl : std::enable_shared_from_this<Impl> {
  explicit Impl(std::shared_ptr<IoThreads::Impl> threads)
      : io{std::move(threads)}, acceptor{asio::make_strand(io->context)}, pause{acceptor.get_executor()} {}

  void next() {
    acceptor.async_accept(
        asio::make_strand(io->context), [self = shared_from_this()](const error_code& ec, Socket socket) {
          if (!self->acceptor.is_open()) return;
          if (ec) {
            // Mostly "too many open files": connections wait in the backlog until some have been closed.
            self->pause.expires_after(std::chrono::milliseconds{50});
            return self->pause.async_wait([self](const error_code& cancelled) {
              if (!cancelled && self->acceptor.is_open()) self->next();
            });
          }
          tune(socket);
          const Strand strand{std::make_shared<Strand::Impl>(self->io, socket.get_executor())};
          auto transport = std::make_shared<std::unique_ptr<Transport>>(
              std::make_unique<Transport>(std::make_shared<Transport::Impl>(std::move(socket))));
          strand.dispatch([self, strand, transport] { self->accepted(strand, std::move(*transport)); });
          self->next();
        });
  }

  std::shared_ptr<IoThreads::Impl> io;
  asio::basic_socket_acceptor<tcp, Executor> acceptor;
  SteadyTimer pause;
  Accepted accepted;
  uint16_t port = 0;
};

Result<std::unique_ptr<Listener>> Listener::open(IoThreads& io, const std::string& host, uint16_t port) {
  const std::string where = host + ":" + std::to_string(port);
  const auto failed = [&](const error_code& ec) {
    return Error{ErrorCode::kIo, "cannot listen on " + where + ": " + error_of(ec).message};
  };
  error_code ec;
  tcp::resolver resolver{io.impl()->context};
  const auto found =
      resolver.resolve(host, std::to_string(port), tcp::resolver::passive | tcp::resolver::numeric_service, ec);
  if (ec || found.empty()) return Error{ErrorCode::kIo, "cannot listen on " + where + ": cannot resolve the host"};
  const tcp::endpoint endpoint = found.begin()->endpoint();

  auto impl = std::make_shared<Impl>(io.impl());
  impl->acceptor.open(endpoint.protocol(), ec);
  if (ec) return failed(ec);
  impl->acceptor.set_option(tcp::acceptor::reuse_address{true}, ec);
  if (ec) return failed(ec);
  impl->acceptor.bind(endpoint, ec);
  if (ec) return failed(ec);
  impl->acceptor.listen(tcp::acceptor::max_listen_connections, ec);
  if (ec) return failed(ec);
  impl->port = impl->acceptor.local_endpoint(ec).port();
  if (ec) return failed(ec);
  return std::unique_ptr<Listener>{new Listener{std::move(impl)}};
}

Listener::~Listener() { close(); }

uint16_t Listener::port() const { return impl_->port; }

void Listener::start(Accepted accepted) {
  impl_->accepted = std::move(accepted);
  asio::post(impl_->acceptor.get_executor(), [impl = impl_] { impl->next(); });
}

void Listener::close() {
  asio::post(impl_->acceptor.get_executor(), [impl = impl_] {
    error_code ignored;
    impl->acceptor.close(ignored);
    impl->pause.cancel();
  });
}

}  // namespace net
}  // namespace shiplog
