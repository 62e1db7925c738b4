#include "services/http/environment_proxy.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "events/base/ascii.h"
#include "events/base/ip_range.h"

namespace shiplog {
namespace {

struct ServerName {
  std::string host;  // lower case, without brackets
  std::string port;
};

/// nullopt: it has no scheme.
std::optional<ServerName> name_of(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return std::nullopt;
  std::string port = url.starts_with("https") ? "443" : "80";
  url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  const size_t bracket = url.rfind(']');
  const size_t colon = url.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon != std::string_view::npos) {
    port = url.substr(colon + 1);
    url = url.substr(0, colon);
  }
  if (url.starts_with('[') && url.ends_with(']')) url = url.substr(1, url.size() - 2);
  return ServerName{lower_case(url), std::move(port)};
}

std::string first_set(const EnvironmentVariable& variable, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* value = variable(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

bool is_this_machine(const ServerName& server) {
  const auto address = parse_ip(server.host);
  return server.host == "localhost" || server.host == "::1" ||
         (address && address->size == 4 && address->bytes[0] == 127);
}

/// One item of NO_PROXY.
bool excepts(std::string_view item, const ServerName& server) {
  if (item == "*") return true;
  const auto address = parse_ip(server.host);
  if (const auto network = parse_cidr(item)) return address && network->contains(*address);
  // A port belongs to the item, unless it is an IPv6 address.
  const size_t colon = item.rfind(':');
  if (colon != std::string_view::npos && !parse_ip(item)) {
    if (item.substr(colon + 1) != server.port) return false;
    item = item.substr(0, colon);
    if (item.starts_with('[') && item.ends_with(']')) item = item.substr(1, item.size() - 2);
  }
  if (item.empty()) return false;
  const std::string name = lower_case(item);
  if (parse_ip(name)) return name == server.host;
  if (name.starts_with("*.")) return server.host.ends_with(name.substr(1));
  if (name.starts_with('.')) return server.host.ends_with(name);
  return server.host == name || server.host.ends_with("." + name);
}

bool excepted(std::string_view list, const ServerName& server) {
  while (!list.empty()) {
    std::string_view item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(item.size() + 1, list.size()));
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (!item.empty() && excepts(item, server)) return true;
  }
  return false;
}

}  // namespace

std::string proxy_of_environment(std::string_view server, const EnvironmentVariable& variable) {
  const auto name = name_of(server);
  if (!name || is_this_machine(*name)) return {};
  std::string proxy = server.starts_with("https://") ? first_set(variable, {"HTTPS_PROXY", "https_proxy"})
                                                     : first_set(variable, {"HTTP_PROXY", "http_proxy"});
  if (proxy.empty() || excepted(first_set(variable, {"NO_PROXY", "no_proxy"}), *name)) return {};
  if (proxy.find("://") == std::string::npos) proxy.insert(0, "http://");
  return proxy;
}

ClientTarget through_environment_proxy(ClientTarget target, const EnvironmentVariable& variable) {
  if (target.proxy_url.empty()) target.proxy_url = proxy_of_environment(target.url, variable);
  return target;
}

}  // namespace shiplog
