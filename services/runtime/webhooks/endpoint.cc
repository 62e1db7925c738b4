#include "services/runtime/webhooks/endpoint.h"

#include <algorithm>

#include "events/base/base64.h"

namespace shiplog {
namespace {

/// Host and port to connect to for a port of a Service.
Result<std::string> address_of(const State& state, const std::string& ns, const std::string& name, int64_t port) {
  const std::string suffix = ":" + std::to_string(port);
  const Object* service = state.find({"services", ns, name});
  if (service == nullptr) return name + "." + ns + ".svc" + suffix;
  const Value& spec = service->value["spec"];
  const std::string called = "service " + ns + "/" + name;
  if (spec["type"].as_string() == "ExternalName") {
    if (spec["externalName"].is_empty()) return Error{ErrorCode::kUnavailable, called + " has no externalName"};
    return spec["externalName"].str() + suffix;
  }
  std::string ip = spec["clusterIP"].str();
  if (ip.empty() || ip == "None") {
    return Error{ErrorCode::kUnavailable, called + " has no cluster IP: a headless service cannot be called"};
  }
  const auto ports = spec["ports"].items();
  if (std::ranges::none_of(ports, [&](const Value& one) { return one["port"].as_int() == port; })) {
    return Error{ErrorCode::kUnavailable, called + " has no port " + std::to_string(port)};
  }
  if (ip.find(':') != std::string::npos) ip = "[" + ip + "]";
  return ip + suffix;
}

}  // namespace

Result<WebhookEndpoint> webhook_endpoint(const State& state, const Value& client) {
  WebhookEndpoint endpoint;
  if (const Value& service = client["service"]; service.is_object()) {
    const std::string ns = service["namespace"].str();
    const std::string name = service["name"].str();
    const int64_t port = service["port"].as_int(443);
    SHIPLOG_TRY(const std::string address, address_of(state, ns, name, port));
    endpoint.target.url = "https://" + address;
    endpoint.target.server_name = name + "." + ns + ".svc";
    endpoint.path = service["path"].str();
    if (!endpoint.path.starts_with('/')) endpoint.path = "/" + endpoint.path;
    endpoint.shown = "https://" + endpoint.target.server_name + ":" + std::to_string(port) + endpoint.path;
  } else {
    const std::string url = client["url"].str();
    constexpr size_t kAfterScheme = 8;  // "https://"
    if (!url.starts_with("https://")) return Error{ErrorCode::kBadRequest, "its url is not https"};
    const size_t slash = url.find('/', kAfterScheme);
    endpoint.target.url = url.substr(0, slash);
    endpoint.path = slash == std::string::npos ? "/" : url.substr(slash);
    endpoint.shown = url;
  }
  if (client["caBundle"].is_empty()) return endpoint;
  auto bundle = base64_decode(client["caBundle"].as_string());
  if (!bundle) return Error{ErrorCode::kBadRequest, "its caBundle is not base64"};
  endpoint.target.ca_pem = std::move(*bundle);
  return endpoint;
}

}  // namespace shiplog
