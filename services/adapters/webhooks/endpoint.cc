#include "services/adapters/webhooks/endpoint.h"

#include <algorithm>

#include "events/base/base64.h"
#include "services/runtime/service_host.h"

namespace shiplog {
namespace {

/// Host and port to connect to for a port of a Service.
Result<std::string> address_of(const ObjectKey& key, int64_t port, const FindObject& find, UnknownService unknown) {
  const std::string suffix = ":" + std::to_string(port);
  const std::string service_name = "service \"" + key.name + "\" of namespace \"" + key.ns + "\"";
  const auto service = find(key);
  if (!service && unknown == UnknownService::kByName) return key.name + "." + key.ns + ".svc" + suffix;
  if (!service) return Error{ErrorCode::kNotFound, service_name + " not found"};
  const Value& spec = service.value()["spec"];
  if (spec["type"].as_string() != "ExternalName" &&
      std::ranges::none_of(spec["ports"].items(),
                           [&](const Value& port_spec) { return port_spec["port"].as_int() == port; })) {
    return Error{ErrorCode::kUnavailable, service_name + " has no port " + std::to_string(port)};
  }
  const std::string host = service_host(service.value());
  if (host.empty()) {
    return Error{ErrorCode::kUnavailable,
                 service_name + " has neither a cluster IP nor an external name to call it at"};
  }
  return host + suffix;
}

}  // namespace

Result<WebhookEndpoint> webhook_endpoint(const Value& client, const FindObject& find, UnknownService unknown) {
  WebhookEndpoint endpoint;
  if (const Value& service = client["service"]; service.is_object()) {
    const ObjectKey key{"services", service["namespace"].str(), service["name"].str()};
    const int64_t port = service["port"].as_int(443);
    SHIPLOG_TRY(const std::string address, address_of(key, port, find, unknown));
    endpoint.target.url = "https://" + address;
    endpoint.target.server_name = key.name + "." + key.ns + ".svc";
    endpoint.path = service["path"].str();
    if (!endpoint.path.starts_with('/')) endpoint.path = "/" + endpoint.path;
    endpoint.shown = "https://" + endpoint.target.server_name + ":" + std::to_string(port) + endpoint.path;
  } else {
    const std::string url = client["url"].str();
    constexpr size_t kAfterScheme = 8;  // "https://"
    if (!url.starts_with("https://")) return Error{ErrorCode::kBadRequest, "the url is not https"};
    const size_t slash = url.find('/', kAfterScheme);
    endpoint.target.url = url.substr(0, slash);
    endpoint.path = slash == std::string::npos ? "/" : url.substr(slash);
    endpoint.shown = url;
  }
  if (client["caBundle"].is_empty()) return endpoint;
  auto bundle = base64_decode(client["caBundle"].as_string());
  if (!bundle) return Error{ErrorCode::kBadRequest, "the caBundle is not base64"};
  endpoint.target.ca_pem = std::move(*bundle);
  return endpoint;
}

}  // namespace shiplog
