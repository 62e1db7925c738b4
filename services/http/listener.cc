#include "services/http/listener.h"

#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include "services/http/io_context.h"
#include "services/http/network_error.h"
#include "services/http/socket_transport.h"

namespace shiplog::net {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

struct Listener::Impl : std::enable_shared_from_this<Impl> {
  explicit Impl(std::shared_ptr<IoThreads::Impl> threads)
      : io{std::move(threads)}, acceptor{asio::make_strand(io->next_context())}, pause{acceptor.get_executor()} {}

  void next() {
    acceptor.async_accept(
        asio::make_strand(io->next_context()), [self = shared_from_this()](const error_code& ec, Socket socket) {
          if (!self->acceptor.is_open()) return;
          if (ec) {
            // Mostly "too many open files": connections wait in the backlog until some have been closed.
            self->pause.expires_after(std::chrono::milliseconds{50});
            return self->pause.async_wait([self](const error_code& cancelled) {
              if (!cancelled && self->acceptor.is_open()) self->next();
            });
          }
          const Strand strand{std::make_shared<Strand::Impl>(self->io, socket.get_executor())};
          auto transport = std::make_shared<std::unique_ptr<Transport>>(accepted_transport(std::move(socket)));
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
    return Error{ErrorCode::kIo, "cannot listen on " + where + ": " + network_error(ec).message};
  };
  error_code ec;
  tcp::resolver resolver{io.impl()->next_context()};
  const auto found =
      resolver.resolve(host, std::to_string(port), tcp::resolver::passive | tcp::resolver::numeric_service, ec);
  if (ec || found.empty()) return Error{ErrorCode::kIo, "cannot listen on " + where + ": cannot resolve the host"};
  const tcp::endpoint endpoint = found.begin()->endpoint();

  auto impl = std::make_shared<Impl>(io.impl());
  if (impl->acceptor.open(endpoint.protocol(), ec)) return failed(ec);
  if (impl->acceptor.set_option(tcp::acceptor::reuse_address{true}, ec)) return failed(ec);
  if (impl->acceptor.bind(endpoint, ec)) return failed(ec);
  if (impl->acceptor.listen(tcp::acceptor::max_listen_connections, ec)) return failed(ec);
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
    static_cast<void>(impl->acceptor.close(ignored));
    impl->pause.cancel();
  });
}

}  // namespace shiplog::net
