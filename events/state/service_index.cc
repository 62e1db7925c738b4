#include "events/state/service_index.h"

namespace shiplog {
namespace {

template <class Held, class Addresses>
void drop(Held& held, const Addresses& addresses, const ObjectKey& key) {
  for (const auto& address : addresses) {
    const auto found = held.find(address);
    if (found == held.end()) continue;
    found->second.erase(key);
    if (found->second.empty()) held.erase(found);
  }
}

}  // namespace

ServiceAddresses service_addresses(const Value& service) {
  ServiceAddresses addresses;
  const Value& spec = service["spec"];
  const auto add_ip = [&](const Value& ip) {
    if (!ip.is_empty() && ip.as_string() != "None") addresses.cluster_ips.insert(ip.str());
  };
  add_ip(spec["clusterIP"]);
  for (const Value& ip : spec["clusterIPs"].items()) add_ip(ip);
  const auto add_port = [&](const Value& port) {
    if (port.as_int() != 0) addresses.node_ports.insert(port.as_int());
  };
  add_port(spec["healthCheckNodePort"]);
  for (const Value& port : spec["ports"].items()) add_port(port["nodePort"]);
  return addresses;
}

void ServiceIndex::update(const ObjectKey& key, const Value& before, const Value& after) {
  if (before["spec"] == after["spec"]) return;
  const ServiceAddresses old = service_addresses(before);
  const ServiceAddresses now = service_addresses(after);
  if (old == now) return;
  drop(ips_, old.cluster_ips, key);
  drop(ports_, old.node_ports, key);
  for (const std::string& ip : now.cluster_ips) ips_[ip].insert(key);
  for (const int64_t port : now.node_ports) ports_[port].insert(key);
}

}  // namespace shiplog
