#include "services/http/connection.h"

namespace shiplog {

net::TlsContext ServerState::current_tls() {
  const std::lock_guard lock{mutex};
  return tls;
}

bool ServerState::enter(const std::shared_ptr<HttpConnection>& connection) {
  const std::lock_guard lock{mutex};
  if (stopping || connections.size() >= options.max_connections) return false;
  // One host must not take the places of all others.
  const auto here = by_address.try_emplace(connection->address(), 0).first;
  if (here->second >= options.max_connections_per_address) return false;
  ++here->second;
  connections.emplace(connection.get(), connection);
  return true;
}

void ServerState::leave(HttpConnection* connection) {
  const std::lock_guard lock{mutex};
  if (connections.erase(connection) > 0) {
    const auto here = by_address.find(connection->address());
    if (--here->second == 0) by_address.erase(here);
  }
  if (connections.empty()) emptied.notify_all();
}

void ServerState::trouble(const HttpPeer& peer, const Error& error) const {
  if (options.on_trouble) options.on_trouble(peer, error);
}

}  // namespace shiplog
