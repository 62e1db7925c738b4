#include "services/api/aggregation/aggregated_api.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "events/base/base64.h"
#include "events/state/object.h"

namespace shiplog::api {
namespace {

constexpr const char* kServices = "services";
constexpr const char* kEndpoints = "endpoints";
constexpr const char* kEndpointSlices = "endpointslices.discovery.k8s.io";
constexpr const char* kServiceLabel = "kubernetes.io/service-name";
constexpr int64_t kHttpsPort = 443;

std::string host_and_port(const std::string& host, int64_t port) {
  const bool bare_ipv6 = host.find(':') != std::string::npos && !host.starts_with('[');
  return (bare_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

/// The port of that name; 0: there is none. Without a name, as a Service's only port may be, "" is meant.
int64_t port_named(const Value& ports, std::string_view name) {
  for (const Value& port : ports.items()) {
    if (port["name"].as_string() == name) return port["port"].as_int();
  }
  return 0;
}

void add_slice(const Value& slice, std::string_view port_name, std::vector<std::string>& hosts) {
  const int64_t port = port_named(slice["ports"], port_name);
  if (port == 0) return;
  for (const Value& endpoint : slice["endpoints"].items()) {
    if (!endpoint["conditions"]["ready"].as_bool(true)) continue;
    for (const Value& address : endpoint["addresses"].items()) hosts.push_back(host_and_port(address.str(), port));
  }
}

void add_endpoints(const Value& endpoints, std::string_view port_name, std::vector<std::string>& hosts) {
  for (const Value& subset : endpoints["subsets"].items()) {
    const int64_t port = port_named(subset["ports"], port_name);
    if (port == 0) continue;
    for (const Value& address : subset["addresses"].items()) {
      hosts.push_back(host_and_port(address["ip"].str(), port));
    }
  }
}

std::string shown(const ObjectKey& service) { return "service/" + service.name + " in \"" + service.ns + "\""; }

ServerAddresses endpoints_of(const State& state, const ObjectKey& service, std::string_view port_name) {
  ServerAddresses found;
  bool listed = false;
  for (const auto& [name, slice] : state.objects(kEndpointSlices, service.ns)) {
    if (label_of(slice.value, kServiceLabel) != service.name) continue;
    listed = true;
    add_slice(slice.value, port_name, found.hosts);
  }
  if (const Object* endpoints = state.find({kEndpoints, service.ns, service.name}); endpoints != nullptr) {
    listed = true;
    if (found.hosts.empty()) add_endpoints(endpoints->value, port_name, found.hosts);
  }
  if (!found.hosts.empty()) {
    std::ranges::sort(found.hosts);
    found.hosts.erase(std::ranges::unique(found.hosts).begin(), found.hosts.end());
    return found;
  }
  if (!listed) {
    return {{},
            "EndpointsNotFound",
            "cannot find endpoints for " + shown(service) +
                ": no pods run in this control plane; make the Service one of type ExternalName, or create an "
                "EndpointSlice or Endpoints with the addresses of its servers"};
  }
  return {
      {},
      "MissingEndpoints",
      "endpoints for " + shown(service) + " have no ready addresses with port name \"" + std::string{port_name} + "\""};
}

}  // namespace

std::optional<AggregatedApi> aggregated_api(const Value& api_service) {
  const Value& spec = api_service["spec"];
  const Value& service = spec["service"];
  if (!service.is_object()) return std::nullopt;
  AggregatedApi api;
  api.name = api_service["metadata"]["name"].str();
  api.group = spec["group"].str();
  api.version = spec["version"].str();
  api.service = {kServices, service["namespace"].str(), service["name"].str()};
  api.port = service["port"].as_int(kHttpsPort);
  api.insecure = spec["insecureSkipTLSVerify"].as_bool();
  api.group_priority = spec["groupPriorityMinimum"].as_int();
  api.version_priority = spec["versionPriority"].as_int();
  auto bundle = base64_decode(spec["caBundle"].as_string());
  if (bundle) {
    api.ca_pem = std::move(*bundle);
  } else {
    api.problem = "spec.caBundle of APIService " + api.name + " is not base64";
  }
  return api;
}

ServerAddresses addresses_of(const State& state, const AggregatedApi& api) {
  const Object* service = state.find(api.service);
  if (service == nullptr) return {{}, "ServiceNotFound", shown(api.service) + " is not present"};
  const Value& spec = service->value["spec"];
  if (spec["type"].as_string() == "ExternalName") {
    return {{host_and_port(spec["externalName"].str(), api.port)}, "", ""};
  }
  for (const Value& port : spec["ports"].items()) {
    if (port["port"].as_int() == api.port) return endpoints_of(state, api.service, port["name"].as_string());
  }
  return {{}, "ServicePortError", shown(api.service) + " is not listening on port " + std::to_string(api.port)};
}

bool concerns(const AggregatedApi& api, const ObjectKey& changed, const Value& object) {
  if (changed.ns != api.service.ns) return false;
  if (changed.type == kServices || changed.type == kEndpoints) return changed.name == api.service.name;
  return changed.type == kEndpointSlices && label_of(object, kServiceLabel) == api.service.name;
}

}  // namespace shiplog::api
