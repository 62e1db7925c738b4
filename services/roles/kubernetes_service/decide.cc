#include "services/roles/kubernetes_service/decide.h"

#include <tuple>

#include "events/state/service_ranges.h"

namespace shiplog::kubernetes_service {
namespace {

const ObjectKey kService = kubernetes_service_key();
const ObjectKey kEndpoints{"endpoints", "default", "kubernetes"};
const ObjectKey kSlice{"endpointslices.discovery.k8s.io", "default", "kubernetes"};

Value metadata(Value labels) {
  return Value::object({{"name", "kubernetes"}, {"namespace", "default"}, {"labels", std::move(labels)}});
}

/// Nothing routes to `ip` here.
Value service(uint16_t port, const std::string& ip) {
  Value https = Value::object(
      {{"name", "https"}, {"protocol", "TCP"}, {"port", 443}, {"targetPort", static_cast<int64_t>(port)}});
  Value spec = Value::object({{"ports", Value::array({std::move(https)})},
                              {"clusterIP", ip},
                              {"clusterIPs", Value::array({ip})},
                              {"type", "ClusterIP"},
                              {"sessionAffinity", "None"},
                              {"ipFamilies", Value::array({ip.find(':') == std::string::npos ? "IPv4" : "IPv6"})},
                              {"ipFamilyPolicy", "SingleStack"},
                              {"internalTrafficPolicy", "Cluster"}});
  return Value::object({{"apiVersion", "v1"},
                        {"kind", "Service"},
                        {"metadata", metadata(Value::object({{"component", "apiserver"}, {"provider", "kubernetes"}}))},
                        {"spec", std::move(spec)},
                        {"status", Value::object({{"loadBalancer", Value::object()}})}});
}

Value port_of(const ServerAddress& address) {
  return Value::object({{"name", "https"}, {"port", static_cast<int64_t>(address.port)}, {"protocol", "TCP"}});
}

Value endpoints(const ServerAddress& address) {
  Value subset = Value::object({{"addresses", Value::array({Value::object({{"ip", address.ip}})})},
                                {"ports", Value::array({port_of(address)})}});
  // Else the controller that mirrors Endpoints would make a second slice of it.
  return Value::object({{"apiVersion", "v1"},
                        {"kind", "Endpoints"},
                        {"metadata", metadata(Value::object({{"endpointslice.kubernetes.io/skip-mirror", "true"}}))},
                        {"subsets", Value::array({std::move(subset)})}});
}

Value slice(const ServerAddress& address) {
  const bool v6 = address.ip.find(':') != std::string::npos;
  Value endpoint =
      Value::object({{"addresses", Value::array({address.ip})}, {"conditions", Value::object({{"ready", true}})}});
  Value about = metadata(Value::object({{"kubernetes.io/service-name", "kubernetes"}}));
  about.set("generation", 1);
  return Value::object({{"apiVersion", "discovery.k8s.io/v1"},
                        {"kind", "EndpointSlice"},
                        {"metadata", std::move(about)},
                        {"addressType", v6 ? "IPv6" : "IPv4"},
                        {"endpoints", Value::array({std::move(endpoint)})},
                        {"ports", Value::array({port_of(address)})}});
}

/// The address parts of `wanted`, merged into the existing object.
Value moved(Value there, const Value& wanted) {
  for (const char* field : {"subsets", "addressType", "endpoints", "ports"}) {
    if (const Value* value = wanted.find(field)) there.set(field, *value);
  }
  return there;
}

}  // namespace

bool is_kubernetes_service(const ObjectKey& key) { return key == kService || key == kEndpoints || key == kSlice; }
// Made here: other variables with static storage are initialized from it.
ObjectKey kubernetes_service_key() { return {"services", "default", "kubernetes"}; }

Decided decide(const State& state, const ServerAddress& server, Addresses addresses) {
  const bool starting = addresses == Addresses::kReplace;
  DecisionBuilder decision;
  const Object* own = state.find(kService);
  const Value wanted_service = service(server.port, own_service_ip(state.options().service_ranges()));
  if (own == nullptr) {
    decision.add(ObjectCreated{kService, wanted_service}, {kService, Revision{}});
  } else if (const Value ports = wanted_service["spec"]["ports"]; starting && own->value["spec"]["ports"] != ports) {
    Value update = own->value;
    update.edit("spec").set("ports", ports);
    decision.add(ObjectUpdated{kService, std::move(update)}, {kService, own->revision});
  }
  for (const auto& [key, wanted, list] :
       {std::tuple{kEndpoints, endpoints(server), "subsets"}, std::tuple{kSlice, slice(server), "endpoints"}}) {
    const Object* there = state.find(key);
    if (there == nullptr) {
      decision.add(ObjectCreated{key, wanted}, {key, Revision{}});
    } else if (starting || there->value[list].size() == 0) {
      Value update = moved(there->value, wanted);
      if (update != there->value) decision.add(ObjectUpdated{key, std::move(update)}, {key, there->revision});
    }
  }
  return std::move(decision).build();
}

}  // namespace shiplog::kubernetes_service
