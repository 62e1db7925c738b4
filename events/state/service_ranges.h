#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "events/base/ip_range.h"
#include "events/base/result.h"

namespace shiplog {

/// Where the addresses of Services come from: the options --service-cluster-ip-range and --service-node-port-range.
struct ServiceRanges {
  std::vector<IpRange> networks;  ///< one, or one of each family; the first is that of Services that do not choose
  int64_t first_port = 0, last_port = 0;

  /// The network of a family ("IPv4" or "IPv6"); nullptr: there is none.
  const IpRange* network(const std::string& family) const;
};

/// "IPv4" or "IPv6".
std::string family_of(const IpRange& range);

/// From the options' values. Errors: kInvalid, naming what is wrong.
Result<std::vector<IpRange>> parse_service_networks(const std::vector<std::string>& networks);
Result<std::pair<int64_t, int64_t>> parse_node_ports(const std::vector<std::string>& ports);
/// From checked values; those that cannot be parsed are as by default.
ServiceRanges service_ranges_from(const std::vector<std::string>& networks, const std::vector<std::string>& ports);

/// The address of the Service "kubernetes" of the namespace default: the first one, which no other Service is given.
std::string own_service_ip(const ServiceRanges& ranges);

}  // namespace shiplog
