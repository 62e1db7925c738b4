#include "events/fold/staged.h"
#include "events/state/service_index.h"

namespace shiplog {
namespace {

Refusal address_taken(const std::string& address) {
  Refusal refusal{ErrorCode::kConflict, "provided IP or port is already allocated: " + address};
  refusal.address_taken = true;
  return refusal;
}

/// What a Service requests that it does not have yet is free, in the state and among the Services of the same entry.
Applied check_service(const ServiceIndex& index, const ObjectKey& key, const Value& before, const Value& after,
                      ServiceAddresses& promised) {
  const ServiceAddresses had = service_addresses(before);
  const ServiceAddresses wants = service_addresses(after);
  for (const std::string& ip : wants.cluster_ips) {
    if (had.cluster_ips.contains(ip)) continue;
    if (index.ip_taken(ip, key) || !promised.cluster_ips.insert(ip).second) return address_taken(ip);
  }
  for (const int64_t port : wants.node_ports) {
    if (had.node_ports.contains(port)) continue;
    if (index.port_taken(port, key) || !promised.node_ports.insert(port).second) {
      return address_taken(std::to_string(port));
    }
  }
  return std::nullopt;
}

}  // namespace

Applied Staged::check_services() const {
  if (state_.fold_version() < 4) return std::nullopt;
  ServiceAddresses promised;
  for (const Touched& staged : touched_) {
    if (staged.key.type != type::kService || staged.value.is_null()) continue;
    const Value& before = state_.value_of(staged.key);
    if (before["spec"] == staged.value["spec"]) continue;
    if (Applied refused = check_service(state_.services(), staged.key, before, staged.value, promised)) return refused;
  }
  return std::nullopt;
}

}  // namespace shiplog
