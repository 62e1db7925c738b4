#include "events/base/ip_range.h"

#include <charconv>

#include <arpa/inet.h>

namespace shiplog {

bool IpRange::contains(const IpRange& other) const {
  if (size != other.size || prefix > other.prefix) return false;
  for (unsigned bit = 0; bit < prefix; ++bit) {
    const auto mask = static_cast<uint8_t>(0x80U >> (bit % 8));
    if ((bytes[bit / 8] & mask) != (other.bytes[bit / 8] & mask)) return false;
  }
  return true;
}

std::optional<IpRange> parse_ip(std::string_view text) {
  IpRange range;
  const std::string copy{text};
  if (copy.find('\0') != std::string::npos) return std::nullopt;
  if (inet_pton(AF_INET, copy.c_str(), range.bytes.data()) == 1) {
    range.size = 4;
  } else if (inet_pton(AF_INET6, copy.c_str(), range.bytes.data()) == 1) {
    range.size = 16;
  } else {
    return std::nullopt;
  }
  range.prefix = static_cast<unsigned>(range.size * 8);
  return range;
}

std::optional<IpRange> parse_cidr(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  auto range = parse_ip(text.substr(0, slash));
  const std::string_view digits = text.substr(slash + 1);
  unsigned prefix = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
  if (!range || error != std::errc{} || end != digits.data() + digits.size() || prefix > range->prefix) {
    return std::nullopt;
  }
  range->prefix = prefix;
  return range;
}

std::string ip_text(const IpRange& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = address.size == 4 ? AF_INET : AF_INET6;
  if (inet_ntop(family, address.bytes.data(), text.data(), static_cast<socklen_t>(text.size())) == nullptr) return "";
  return text.data();
}

uint64_t ip_count(const IpRange& network) {
  const auto bits = static_cast<unsigned>(network.size * 8) - network.prefix;
  return bits >= 32 ? uint64_t{1} << 32U : uint64_t{1} << bits;
}

IpRange ip_at(const IpRange& network, uint32_t index) {
  IpRange address = network;
  for (unsigned bit = network.prefix; bit < network.size * 8; ++bit) {
    address.bytes[bit / 8] = static_cast<uint8_t>(address.bytes[bit / 8] & ~(0x80U >> (bit % 8)));
  }
  address.prefix = static_cast<unsigned>(network.size * 8);
  uint64_t carry = index;
  for (size_t at = network.size; at-- > 0 && carry > 0; carry >>= 8U) {
    carry += address.bytes[at];
    address.bytes[at] = static_cast<uint8_t>(carry & 0xFFU);
  }
  return address;
}

}  // namespace shiplog
