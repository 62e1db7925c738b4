#include <functional>
#include <set>
#include <string>

#include "events/base/hash.h"
#include "services/programs/member/decide.h"
#include "services/programs/member/decision_changes.h"
#include "services/programs/member/kinds.h"

namespace shiplog::member {
namespace {

/// The first free of `count` numbers, starting at the hash of the object's name: the same on every call.
int64_t pick(const ObjectKey& key, int64_t count, const std::function<bool(int64_t)>& taken) {
  const int64_t start = static_cast<int64_t>(siphash128(to_string(key)).lo % static_cast<uint64_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t candidate = (start + i) % count;
    if (!taken(candidate)) return candidate;
  }
  return start;  // more Services than addresses: two share an address
}

/// 10.96.0.0/16; the first addresses are reserved for the cluster.
std::string cluster_ip(const State& state, const ObjectKey& key) {
  const auto text = [](int64_t n) {
    return "10.96." + std::to_string(1 + n / 254) + "." + std::to_string(1 + n % 254);
  };
  std::set<std::string> used;
  for (const auto& [name, service] : state.objects(kServices)) used.insert(service.value["spec"]["clusterIP"].str());
  return text(pick(key, int64_t{254} * 254, [&](int64_t n) { return used.contains(text(n)); }));
}

std::string load_balancer_ip(const ObjectKey& key) {
  const uint64_t bits = siphash128(to_string(key)).hi;
  return "172.19." + std::to_string(bits % 256) + "." + std::to_string(1 + (bits >> 8U) % 254);
}

void give_node_ports(const State& state, const ObjectKey& key, Value& spec) {
  std::set<int64_t> used;
  for (const auto& [name, service] : state.objects(kServices)) {
    for (const Value& port : service.value["spec"]["ports"].items()) used.insert(port["nodePort"].as_int());
  }
  constexpr int64_t kFirst = 30000;
  constexpr int64_t kCount = 2768;
  for (Value& port : spec.edit("ports").edit_items()) {
    if (port["nodePort"].as_int() != 0) continue;
    const int64_t chosen = kFirst + pick(key, kCount, [&](int64_t n) { return used.contains(kFirst + n); });
    used.insert(chosen);
    port.set("nodePort", chosen);
  }
}

Value service_with_addresses(const State& state, const ObjectKey& key, Value service) {
  const std::string type = service["spec"]["type"].is_empty() ? "ClusterIP" : service["spec"]["type"].str();
  if (type == "ExternalName") return service;
  Value& spec = service.edit("spec");
  if (spec["clusterIP"].is_empty()) {
    spec.set("clusterIP", cluster_ip(state, key));
    spec.erase("clusterIPs");
  }
  if (spec["clusterIPs"].is_empty()) spec.set("clusterIPs", Value::array({spec["clusterIP"]}));
  if (spec["ipFamilies"].is_empty()) spec.set("ipFamilies", Value::array({"IPv4"}));
  if (spec["ipFamilyPolicy"].is_empty()) spec.set("ipFamilyPolicy", "SingleStack");
  if (type == "NodePort" || type == "LoadBalancer") give_node_ports(state, key, spec);
  return service;
}

/// The control plane considers a Service of this type healthy once its load balancer has an address.
Value with_balancer(Value object, const ObjectKey& key, bool balanced) {
  if (!balanced) {
    if (object["status"]["loadBalancer"]["ingress"].size() > 0) {
      object.edit("status").set("loadBalancer", Value::object());
    }
    return object;
  }
  if (object["status"]["loadBalancer"]["ingress"].size() > 0) return object;
  Value ingress = Value::object({{"ip", load_balancer_ip(key)}});
  if (key.type == kServices) ingress.set("ipMode", "VIP");
  object.edit("status").edit("loadBalancer").set("ingress", Value::array({ingress}));
  return object;
}

}  // namespace

Result<Decided> decide_address(const State& state, const ObjectKey& key, UtcMillis) {
  const Object* object = state.find(key);
  if (object == nullptr || deleting(object->value)) return Nothing{};
  Changes changes;
  if (key.type == kIngresses) {
    changes.update_status(key, *object, with_balancer(object->value, key, true));
    return changes.take();
  }
  const Value addressed = service_with_addresses(state, key, object->value);
  const bool balanced = addressed["spec"]["type"].as_string() == "LoadBalancer";
  changes.update(key, *object, with_balancer(addressed, key, balanced));
  return changes.take();
}

}  // namespace shiplog::member
