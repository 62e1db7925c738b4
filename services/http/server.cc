#include "services/http/server.h"

#include <vector>

#include "services/http/connection.h"
#include "services/http/io_threads.h"
#include "services/http/listener.h"
#include "services/http/tls_context.h"

namespace shiplog {

struct HttpServer::Impl {
  explicit Impl(size_t threads) : io{threads}, state{std::make_shared<ServerState>()} {}

  std::vector<std::shared_ptr<HttpConnection>> connections() const {
    std::vector<std::shared_ptr<HttpConnection>> all;
    const std::lock_guard lock{state->mutex};
    for (const auto& [key, weak] : state->connections) {
      if (auto connection = weak.lock()) all.push_back(std::move(connection));
    }
    return all;
  }

  bool wait_until_empty(Millis deadline) const {
    std::unique_lock lock{state->mutex};
    return state->emptied.wait_for(lock, std::chrono::milliseconds{deadline.value},
                                   [this] { return state->connections.empty(); });
  }

  IoThreads io;
  std::shared_ptr<ServerState> state;
  std::unique_ptr<net::Listener> listener;
};

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_{std::move(impl)} {}

HttpServer::~HttpServer() { stop(Millis{0}); }

Result<std::unique_ptr<HttpServer>> HttpServer::start(Options options, Handler handler) {
  auto impl = std::make_unique<Impl>(options.threads);
  ServerState& state = *impl->state;
  state.options = std::move(options);
  state.handler = std::move(handler);
  if (!state.options.certificate_pem.empty()) {
    SHIPLOG_TRY(state.tls,
                server_tls(state.options.certificate_pem, state.options.key_pem, state.options.client_ca_pem));
  }
  SHIPLOG_TRY(impl->listener, net::Listener::open(impl->io, state.options.host, state.options.port));
  impl->listener->start([shared = impl->state](const net::Strand& strand, std::unique_ptr<net::Transport> transport) {
    ++shared->accepted;
    const auto connection = std::make_shared<HttpConnection>(shared, strand, std::move(transport));
    if (shared->enter(connection)) return connection->start();
    ++shared->refused;
    shared->trouble({}, Error{ErrorCode::kTooManyRequests, "a connection was refused: the limit is reached"});
  });
  return std::unique_ptr<HttpServer>{new HttpServer{std::move(impl)}};
}

Result<void> HttpServer::use_certificate(const std::string& certificate_pem, const std::string& key_pem) {
  ServerState& state = *impl_->state;
  if (!state.current_tls()) return Error{ErrorCode::kBadRequest, "the server is plain HTTP"};
  SHIPLOG_TRY(auto tls, server_tls(certificate_pem, key_pem, state.options.client_ca_pem));
  const std::lock_guard lock{state.mutex};
  state.tls = std::move(tls);
  return ok();
}

uint16_t HttpServer::bound_port() const { return impl_->listener->port(); }

std::string HttpServer::url() const {
  const ServerState& state = *impl_->state;
  const bool is_ipv6 = state.options.host.find(':') != std::string::npos;
  return std::string{!state.options.certificate_pem.empty() ? "https://" : "http://"} +
         (is_ipv6 ? "[" + state.options.host + "]" : state.options.host) + ":" + std::to_string(bound_port());
}

HttpServer::Stats HttpServer::stats() const {
  const ServerState& state = *impl_->state;
  Stats stats;
  stats.in_flight = state.in_flight.load();
  stats.streams = state.streams.load();
  stats.accepted = state.accepted.load();
  stats.requests = state.requests.load();
  stats.refused = state.refused.load();
  const std::lock_guard lock{impl_->state->mutex};
  stats.connections = state.connections.size();
  return stats;
}

void HttpServer::stop(Millis deadline) {
  impl_->listener->close();
  {
    const std::lock_guard lock{impl_->state->mutex};
    impl_->state->stopping = true;
  }
  for (const auto& connection : impl_->connections()) connection->stop();
  if (impl_->wait_until_empty(deadline)) return;
  for (const auto& connection : impl_->connections()) connection->kill();
  impl_->wait_until_empty(Millis{5000});  // a handler that blocks would keep its connection
}

}  // namespace shiplog
