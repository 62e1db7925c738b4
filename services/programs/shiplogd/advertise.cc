#include "services/programs/shiplogd/advertise.h"

#include <array>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

namespace shiplog {

bool is_ip_address(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> parsed{};
  return ::inet_pton(AF_INET, text.c_str(), parsed.data()) == 1 ||
         ::inet_pton(AF_INET6, text.c_str(), parsed.data()) == 1;
}

std::string address_to_advertise(const std::string& host) {
  const bool any = host.empty() || host == "0.0.0.0" || host == "::";
  if (!any && is_ip_address(host)) return host;
  std::string found = "127.0.0.1";
  if (host == "localhost") return found;
  ifaddrs* interfaces = nullptr;
  if (::getifaddrs(&interfaces) != 0) return found;
  for (const ifaddrs* at = interfaces; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != AF_INET) continue;
    if ((at->ifa_flags & IFF_LOOPBACK) != 0 || (at->ifa_flags & IFF_UP) == 0) continue;
    char text[INET_ADDRSTRLEN] = "";
    const auto* address = reinterpret_cast<const sockaddr_in*>(at->ifa_addr);
    if (::inet_ntop(AF_INET, &address->sin_addr, text, sizeof text) == nullptr) continue;
    found = text;
    break;
  }
  ::freeifaddrs(interfaces);
  return found;
}

}  // namespace shiplog
