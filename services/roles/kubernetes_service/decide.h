#pragma once

#include <cstdint>
#include <string>

#include "events/decision.h"

namespace shiplog::kubernetes_service {

/// Where an API server is reached.
struct ServerAddress {
  std::string ip;
  uint16_t port = 0;
};

/// Whether an address that is there is replaced by that of this server.
enum class Addresses { kKeep, kReplace };

/// Keeps the Service "kubernetes" of namespace default with its Endpoints and EndpointSlice, where clients inside of a
/// cluster look for the API server (NSP-7). Pure. There is one key, the Service.
///
/// - Owns: these three objects. What other writers have set in them stays until an API server starts; but they are
///   made again when they are deleted, and filled again when no address is left.
/// - Trigger: a change of one of the three. An API server that starts replaces the addresses by its own (kReplace), so
///   of several the one that started last is named.
/// - Failures: none of its own. Refused when one of them has moved on: it is decided again.
Decided decide(const State& state, const ServerAddress& server, Addresses addresses);

bool is_kubernetes_service(const ObjectKey& key);
ObjectKey kubernetes_service_key();

}  // namespace shiplog::kubernetes_service
