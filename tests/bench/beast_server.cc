#include "tests/bench/beast_server.h"

#include <thread>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

namespace shiplog::bench {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;

struct BeastServer::Impl {
  asio::io_context context{2};
  asio::ssl::context tls{asio::ssl::context::tls_server};
  bool encrypted = false;
  std::string body;
  tcp::acceptor acceptor{context, tcp::endpoint{asio::ip::make_address("127.0.0.1"), 0}};
  std::vector<std::thread> threads;

  template <class Stream>
  asio::awaitable<void> answer_all(Stream& stream, beast::tcp_stream& socket) {
    beast::flat_buffer buffer;
    while (true) {
      socket.expires_after(std::chrono::seconds{60});
      beast::http::request<beast::http::string_body> request;
      co_await beast::http::async_read(stream, buffer, request, asio::use_awaitable);
      beast::http::response<beast::http::string_body> response{beast::http::status::ok, request.version()};
      response.set(beast::http::field::content_type, "application/json");
      response.keep_alive(request.keep_alive());
      response.body() = body;
      response.prepare_payload();
      co_await beast::http::async_write(stream, response, asio::use_awaitable);
    }
  }

  asio::awaitable<void> serve(tcp::socket socket) {
    beast::tcp_stream stream{std::move(socket)};
    try {
      if (!encrypted) {
        co_await answer_all(stream, stream);
      } else {
        asio::ssl::stream<beast::tcp_stream&> secured{stream, tls};
        co_await secured.async_handshake(asio::ssl::stream_base::server, asio::use_awaitable);
        co_await answer_all(secured, stream);
      }
    } catch (const std::exception&) {  // the client has closed
    }
  }

  asio::awaitable<void> accept() {
    while (true) {
      tcp::socket socket = co_await acceptor.async_accept(asio::make_strand(context), asio::use_awaitable);
      socket.set_option(tcp::no_delay{true});
      const auto executor = socket.get_executor();
      asio::co_spawn(executor, serve(std::move(socket)), asio::detached);
    }
  }
};

BeastServer::BeastServer(const KeyPair& certificate, std::string body) : impl_{std::make_unique<Impl>()} {
  impl_->body = std::move(body);
  impl_->encrypted = !certificate.certificate_pem.empty();
  if (impl_->encrypted) {
    SSL_CTX_set_mode(impl_->tls.native_handle(), SSL_MODE_RELEASE_BUFFERS);
    impl_->tls.use_certificate_chain(asio::buffer(certificate.certificate_pem));
    impl_->tls.use_private_key(asio::buffer(certificate.key_pem), asio::ssl::context::pem);
  }
  asio::co_spawn(impl_->context, impl_->accept(), asio::detached);
  for (int index = 0; index < 2; ++index) impl_->threads.emplace_back([impl = impl_.get()] { impl->context.run(); });
}

BeastServer::~BeastServer() {
  impl_->context.stop();
  for (std::thread& thread : impl_->threads) thread.join();
}

uint16_t BeastServer::port() const { return impl_->acceptor.local_endpoint().port(); }

}  // namespace shiplog::bench
