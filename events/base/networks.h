#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/result.h"

namespace shiplog {

/// A set of IP networks. Looks through what carries an IPv4 address inside of an IPv6 one (mapped and compatible
/// addresses, 6to4, NAT64). Pure.
class Networks {
 public:
  Networks() = default;
  /// Words like "169.254.0.0/16" and "fe80::/10"; an address alone is a network of one. Error: kInvalid, naming the
  /// word.
  static Result<Networks> parse(const std::vector<std::string>& words);

  /// The network, as it was written, that holds an address; empty: none does, or `address` is no IP address.
  std::string holding(std::string_view address) const;
  /// The same for the host of a URL, brackets around an IPv6 address included. A name holds nothing.
  std::string holding_host_of(std::string_view url) const;
  bool empty() const { return networks_.empty(); }

 private:
  using Bytes = std::array<uint8_t, 16>;  // IPv4 addresses as mapped ones
  struct Network {
    std::string text;
    Bytes prefix;
    int bits;
  };
  std::string holding(const Bytes& address) const;
  static bool read(std::string_view text, Bytes& into, bool& v4);

  std::vector<Network> networks_;
};

/// What is denied unless something else is configured: link-local addresses, where cloud providers serve credentials.
inline constexpr const char* kLinkLocalNetworks = "169.254.0.0/16,fe80::/10";

}  // namespace shiplog
