#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "events/base/result.h"

namespace shiplog::cel {

/// An IPv4 or IPv6 address without a zone. Source: Go's net/netip, whose errors it words as users know them.
struct NetAddress {
  std::array<uint8_t, 16> bytes{};  ///< IPv4: the first four
  bool v4 = false;
  bool operator==(const NetAddress&) const = default;

  int bits() const { return v4 ? 32 : 128; }
  bool is_unspecified() const;
  bool is_loopback() const;
  bool is_multicast() const;
  bool is_link_local_multicast() const;
  bool is_link_local_unicast() const;
  bool is_global_unicast() const;
  std::string text() const;  ///< canonical: RFC 5952
};

/// Error: kInvalid, in Kubernetes' words; also for IPv4-mapped addresses and those with a zone.
Result<NetAddress> parse_net_address(std::string_view text);

/// "192.168.0.1/24": the address may have bits beyond the prefix.
struct NetPrefix {
  NetAddress address;
  int length = 0;
  bool operator==(const NetPrefix&) const = default;

  bool contains(const NetAddress& other) const;
  bool contains(const NetPrefix& other) const;
  NetPrefix masked() const;
  std::string text() const;
};

/// Error: kInvalid, in Kubernetes' words.
Result<NetPrefix> parse_net_prefix(std::string_view text);

}  // namespace shiplog::cel
