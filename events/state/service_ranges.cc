#include "events/state/service_ranges.h"

#include <algorithm>
#include <charconv>

namespace shiplog {
namespace {

constexpr unsigned kLeastBits = 3;  // 8 addresses, as kube-apiserver requires
constexpr unsigned kMostBits = 20;

std::optional<int64_t> port_from(std::string_view text) {
  int64_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || port < 1 || port > 65535) {
    return std::nullopt;
  }
  return port;
}

}  // namespace

const IpRange* ServiceRanges::network(const std::string& family) const {
  const auto found =
      std::ranges::find_if(networks, [&](const IpRange& network) { return family_of(network) == family; });
  return found == networks.end() ? nullptr : &*found;
}

std::string family_of(const IpRange& range) { return range.size == 4 ? "IPv4" : "IPv6"; }

Result<std::vector<IpRange>> parse_service_networks(const std::vector<std::string>& networks) {
  std::vector<IpRange> parsed;
  for (const std::string& text : networks) {
    const auto network = parse_cidr(text);
    if (!network) {
      return Error{ErrorCode::kInvalid, "\"" + text + "\" is not a network such as 10.96.0.0/12 or fd00:10:96::/112"};
    }
    const auto bits = static_cast<unsigned>(network->size * 8) - network->prefix;
    if (bits < kLeastBits || bits > kMostBits) {
      return Error{ErrorCode::kInvalid, "\"" + text + "\" has a prefix that is too " +
                                            (bits < kLeastBits ? "long: at least 8" : "short: at most 1048576") +
                                            " addresses are possible"};
    }
    parsed.push_back(*network);
  }
  if (parsed.empty() || parsed.size() > 2 || (parsed.size() == 2 && parsed[0].size == parsed[1].size)) {
    return Error{ErrorCode::kInvalid, "one network is expected, or an IPv4 and an IPv6 network"};
  }
  return parsed;
}

Result<std::pair<int64_t, int64_t>> parse_node_ports(const std::vector<std::string>& ports) {
  const Error wrong{ErrorCode::kInvalid, "a range of ports such as 30000-32767 is expected"};
  if (ports.size() != 1) return wrong;
  const size_t dash = ports[0].find('-');
  if (dash == std::string::npos) return wrong;
  const auto first = port_from(std::string_view{ports[0]}.substr(0, dash));
  const auto last = port_from(std::string_view{ports[0]}.substr(dash + 1));
  if (!first || !last || *first > *last) return wrong;
  return std::pair{*first, *last};
}

ServiceRanges service_ranges_from(const std::vector<std::string>& networks, const std::vector<std::string>& ports) {
  ServiceRanges ranges{.networks = {*parse_cidr("10.96.0.0/12")}, .first_port = 30000, .last_port = 32767};
  if (auto parsed = parse_service_networks(networks)) ranges.networks = std::move(parsed).value();
  if (const auto parsed = parse_node_ports(ports)) {
    ranges.first_port = parsed.value().first;
    ranges.last_port = parsed.value().second;
  }
  return ranges;
}

std::string own_service_ip(const ServiceRanges& ranges) { return ip_text(ip_at(ranges.networks.front(), 1)); }

}  // namespace shiplog
