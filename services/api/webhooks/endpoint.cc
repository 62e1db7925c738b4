#include "services/api/webhooks/endpoint.h"

#include "events/base/base64.h"

namespace shiplog::api {

Result<Endpoint> service_endpoint(const std::string& ns, const std::string& name, int64_t port, const std::string& path,
                                  const FindObject& find) {
  auto service = find({"services", ns, name});
  if (!service) return Error{ErrorCode::kNotFound, "service \"" + name + "\" of namespace \"" + ns + "\" not found"};
  const Value& spec = service.value()["spec"];
  bool known = false;
  for (const Value& each : spec["ports"].items()) known = known || each["port"].as_int() == port;
  std::string host;
  if (spec["type"].as_string() == "ExternalName") {
    host = spec["externalName"].str();
  } else if (!known) {
    return Error{ErrorCode::kUnavailable,
                 "service \"" + name + "\" of namespace \"" + ns + "\" has no port " + std::to_string(port)};
  } else if (spec["clusterIP"].as_string() != "None") {
    host = spec["clusterIP"].str();
  }
  if (host.empty()) {
    return Error{ErrorCode::kUnavailable, "service \"" + name + "\" of namespace \"" + ns +
                                              "\" has neither a cluster IP nor an external name to call it at"};
  }
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  const std::string suffix = ":" + std::to_string(port);
  Endpoint endpoint;
  endpoint.target.url = "https://" + host + suffix;
  endpoint.target.server_name = name + "." + ns + ".svc";
  endpoint.path = path.empty() ? "/" : path;
  endpoint.shown = "https://" + endpoint.target.server_name + suffix + endpoint.path;
  return endpoint;
}

Result<Endpoint> endpoint_of(const Value& client, const FindObject& find) {
  Endpoint endpoint;
  if (const Value& service = client["service"]; !service.is_null()) {
    SHIPLOG_TRY(endpoint, service_endpoint(service["namespace"].str(), service["name"].str(),
                                           service["port"].as_int(443), service["path"].str(), find));
  } else {
    const std::string url = client["url"].str();
    constexpr size_t kAfterScheme = 8;  // "https://"
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

}  // namespace shiplog::api
