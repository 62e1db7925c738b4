#include "services/api/own_service.h"

#include <algorithm>

#include "services/api/own_entry.h"
#include "services/runtime/log.h"

namespace shiplog::api {
namespace {

const ObjectKey kService{"services", "default", "kubernetes"};
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

Value port_of(const OwnService::Address& address) {
  return Value::object({{"name", "https"}, {"port", static_cast<int64_t>(address.port)}, {"protocol", "TCP"}});
}

Value endpoints(const OwnService::Address& address) {
  Value subset = Value::object({{"addresses", Value::array({Value::object({{"ip", address.ip}})})},
                                {"ports", Value::array({port_of(address)})}});
  // Else the controller that mirrors Endpoints would make a second slice of it.
  return Value::object({{"apiVersion", "v1"},
                        {"kind", "Endpoints"},
                        {"metadata", metadata(Value::object({{"endpointslice.kubernetes.io/skip-mirror", "true"}}))},
                        {"subsets", Value::array({std::move(subset)})}});
}

Value slice(const OwnService::Address& address) {
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

/// The parts of `wanted` that say where the server is, put into what is there.
Value moved(Value there, const Value& wanted) {
  for (const char* field : {"subsets", "addressType", "endpoints", "ports"}) {
    if (const Value* value = wanted.find(field)) there.set(field, *value);
  }
  return there;
}

}  // namespace

std::vector<Event> OwnService::outdated(const State& state, bool starting) const {
  std::vector<Event> events;
  const Object* own = state.find(kService);
  const Value wanted_service = service(address_.port, own_service_ip(state.options().service_ranges()));
  if (own == nullptr) {
    events.emplace_back(ObjectCreated{kService, wanted_service});
  } else if (const Value ports = wanted_service["spec"]["ports"]; starting && own->value["spec"]["ports"] != ports) {
    Value update = own->value;
    update.edit("spec").set("ports", ports);
    events.emplace_back(ObjectUpdated{kService, std::move(update)});
  }
  for (const auto& [key, wanted, list] :
       {std::tuple{kEndpoints, endpoints(address_), "subsets"}, std::tuple{kSlice, slice(address_), "endpoints"}}) {
    const Object* there = state.find(key);
    if (there == nullptr) {
      events.emplace_back(ObjectCreated{key, wanted});
    } else if (starting || there->value[list].size() == 0) {
      Value update = moved(there->value, wanted);
      if (update != there->value) events.emplace_back(ObjectUpdated{key, std::move(update)});
    }
  }
  return events;
}

void OwnService::begin(Replica& replica, Address address, std::string user_agent, std::function<void()> then) {
  replica_ = &replica;
  address_ = std::move(address);
  user_agent_ = std::move(user_agent);
  auto events = outdated(replica.state(), true);
  if (events.empty()) return then();
  // Of several processes one is first; the others' entries are refused, which is as good.
  replica.append(own_entry(user_agent_, std::move(events)), [then = std::move(then)](const Result<Outcome>& outcome) {
    if (!outcome) log::error("own_service.failed", {log::kv("reason", outcome.error().message)});
    then();
  });
}

void OwnService::on_folded(const State& state, const DecodedRecord& record, const Folded& folded) {
  if (replica_ == nullptr) return;
  const bool touched = std::ranges::any_of(folded.changes, [](const Change& change) {
    return change.object == kService || change.object == kEndpoints || change.object == kSlice;
  });
  if (!touched) return;
  auto events = outdated(state, false);
  if (events.empty()) return;
  Entry entry = own_entry(user_agent_, std::move(events));
  entry.cause = {folded.revision, record.entry.id, ""};
  replica_->append(std::move(entry), [](const Result<Outcome>& outcome) {
    if (!outcome) log::error("own_service.failed", {log::kv("reason", outcome.error().message)});
  });
}

}  // namespace shiplog::api
