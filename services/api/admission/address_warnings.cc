#include "services/api/admission/address_warnings.h"

#include <algorithm>
#include <iterator>

#include "events/base/utf8.h"
#include "services/api/admission/field_checks.h"

namespace shiplog::api {
namespace {

constexpr size_t kMostAddressWarnings = 100;

/// An IPv4 address that is written as one of IPv6 ("::ffff:10.0.0.1").
bool is_mapped(const IpRange& ip) {
  constexpr size_t kZeros = 10;
  return ip.size == 16 && std::all_of(ip.bytes.begin(), ip.bytes.begin() + kZeros, [](uint8_t b) { return b == 0; }) &&
         ip.bytes[kZeros] == 0xff && ip.bytes[kZeros + 1] == 0xff;
}

std::string preferred_text(const IpRange& ip) {
  if (!is_mapped(ip)) return ip_text(ip);
  IpRange plain{.size = 4, .prefix = 32};
  std::copy(ip.bytes.begin() + 12, ip.bytes.end(), plain.bytes.begin());
  return ip_text(plain);
}

}  // namespace

void warn_of_ip(const std::string& field, std::string_view text, std::vector<std::string>& warnings) {
  if (warnings.size() >= kMostAddressWarnings) return;
  const auto ip = parse_legacy_ip(text);
  if (!ip) return;
  const std::string preferred = preferred_text(*ip);
  if (!parse_ip(text) || is_mapped(*ip)) {
    warnings.push_back(field + ": non-standard IP address " + quoted(text) + " is invalid: use " + quoted(preferred));
  } else if (ip->size == 16 && preferred != text) {
    warnings.push_back(field + ": IPv6 address " + quoted(text) + " should be in RFC 5952 canonical format (" +
                       quoted(preferred) + ")");
  }
}

void warn_of_cidr(const std::string& field, std::string_view text, std::vector<std::string>& warnings) {
  if (warnings.size() >= kMostAddressWarnings) return;
  const auto network = parse_legacy_cidr(text);
  if (!network) return;
  const std::string first = ip_text(ip_at(*network, 0));
  const std::string own = ip_text(*network);
  const std::string preferred = first + "/" + std::to_string(network->prefix);
  const size_t before = warnings.size();
  if (first != own) {
    const std::string single = own + "/" + std::to_string(network->size * 8);
    warnings.push_back(field + ": CIDR value " + quoted(text) + " is ambiguous in this context (should be " +
                       quoted(preferred) + " or " + quoted(single) + "?)");
  }
  const std::string_view length = text.substr(text.find('/') + 1);
  if (!parse_cidr(text) || (length.size() > 1 && length.front() == '0')) {
    warnings.push_back(field + ": non-standard CIDR value " + quoted(text) + " is invalid: use " + quoted(preferred));
  }
  if (warnings.size() == before && network->size == 16 && preferred != text) {
    warnings.push_back(field + ": IPv6 CIDR value " + quoted(text) + " should be in RFC 5952 canonical format (" +
                       quoted(preferred) + ")");
  }
}

}  // namespace shiplog::api
