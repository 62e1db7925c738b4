#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ids.h"
#include "events/base/value.h"

namespace shiplog {

namespace type {
inline constexpr const char* kService = "services";
}  // namespace type

/// The addresses that a Service holds.
struct ServiceAddresses {
  std::set<std::string> cluster_ips;  ///< without "None"
  std::set<int64_t> node_ports;       ///< also spec.healthCheckNodePort
  bool operator==(const ServiceAddresses&) const = default;
};
ServiceAddresses service_addresses(const Value& service);

/// Which live Services hold which addresses. More than one may hold the same: before fold version 4 that was not
/// checked.
class ServiceIndex {
 public:
  static bool wants(std::string_view type) { return type == type::kService; }
  /// A Service has changed; null: it did not, or does not, exist.
  void update(const ObjectKey& key, const Value& before, const Value& after);
  bool operator==(const ServiceIndex&) const = default;

  /// A Service other than `but` holds it.
  bool ip_taken(const std::string& ip, const ObjectKey& but = {}) const { return taken(ips_, ip, but); }
  bool port_taken(int64_t port, const ObjectKey& but = {}) const { return taken(ports_, port, but); }

 private:
  template <class Key>
  static bool taken(const std::map<Key, std::set<ObjectKey>>& held, const Key& key, const ObjectKey& but) {
    const auto found = held.find(key);
    return found != held.end() && found->second.size() > found->second.count(but);
  }

  std::map<std::string, std::set<ObjectKey>> ips_;
  std::map<int64_t, std::set<ObjectKey>> ports_;
};

}  // namespace shiplog
