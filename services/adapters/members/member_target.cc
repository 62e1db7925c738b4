#include "services/adapters/members/member_target.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "events/base/base64.h"
#include "events/base/json.h"

namespace shiplog {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

ClientTarget member_target(const Value& spec) {
  ClientTarget target;
  target.url = spec["apiEndpoint"].str();
  target.insecure = spec["insecureSkipTLSVerification"].as_bool();
  target.proxy_url = spec["proxyURL"].str();
  for (const auto& [name, values] : spec["proxyHeader"].members()) {
    std::string_view rest = values.as_string();
    while (true) {
      const size_t comma = std::min(rest.find(','), rest.size());
      target.proxy_headers.emplace_back(name.as_string(), trimmed(rest.substr(0, comma)));
      if (comma == rest.size()) break;
      rest.remove_prefix(comma + 1);
    }
  }
  return target;
}

Result<void> add_credentials(const std::string& cluster, const Value& secret, ClientTarget& target) {
  const std::pair<const char*, std::string*> fields[] = {{"caBundle", &target.ca_pem},
                                                         {"token", &target.bearer_token},
                                                         {"client-certificate-data", &target.certificate_pem},
                                                         {"client-key-data", &target.key_pem},
                                                         {"tls-server-name", &target.server_name}};
  for (const auto& [name, into] : fields) {
    const Value& field = secret["data"][name];
    if (field.is_empty()) continue;
    auto bytes = base64_decode(field.as_string());
    if (!bytes) return Error{ErrorCode::kInvalid, "cluster " + cluster + ": the secret's " + name + " is not base64"};
    *into = *std::move(bytes);
  }
  return ok();
}

std::string route_of(const Value& spec) {
  std::string route = spec["apiEndpoint"].str();
  route += spec["insecureSkipTLSVerification"].as_bool() ? "\n!" : "\n";
  if (!spec["proxyURL"].is_empty()) route += spec["proxyURL"].str() + "\n" + to_json(spec["proxyHeader"]);
  return route;
}

}  // namespace shiplog
