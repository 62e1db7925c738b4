#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shiplog {

/// An address or a network, as bytes: four or sixteen.
struct IpRange {
  std::array<uint8_t, 16> bytes{};
  size_t size = 0;  ///< 4 or 16
  unsigned prefix = 0;

  bool contains(const IpRange& other) const;
};

/// nullopt: the text is no address ("10.0.0.1", "fd00::1").
std::optional<IpRange> parse_ip(std::string_view text);
/// nullopt: the text is no network ("10.0.0.0/24", "fd00::/112").
std::optional<IpRange> parse_cidr(std::string_view text);

/// The canonical text of an address, without its prefix.
std::string ip_text(const IpRange& address);
/// How many addresses a network has; at most 2^32.
uint64_t ip_count(const IpRange& network);
/// The address `index` places after the first one of the network, which may be given by any of its addresses.
IpRange ip_at(const IpRange& network, uint32_t index);

}  // namespace shiplog
