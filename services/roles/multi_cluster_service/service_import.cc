// The Service `derived-<name>` of a ServiceImport: what members get, with the imported slices as its endpoints.
#include <string>
#include <utility>

#include "events/state/service_index.h"
#include "services/roles/multi_cluster_service/decide.h"
#include "services/roles/multi_cluster_service/kept_works.h"

namespace shiplog::multi_cluster_service {
namespace {

Value ports_of(const Value& service_import) {
  Value ports = Value::array();
  for (const Value& each : service_import["spec"]["ports"].items()) {
    Value port = Value::object(
        {{"port", each["port"]}, {"protocol", each["protocol"].as_string("TCP")}, {"targetPort", each["port"]}});
    for (const char* field : {"name", "appProtocol"}) {
      if (!each[field].is_empty()) port.set(field, each[field]);
    }
    ports.push_back(std::move(port));
  }
  return ports;
}

Value owner_of(const Value& service_import) {
  return Value::object({{"apiVersion", service_import["apiVersion"]},
                        {"blockOwnerDeletion", true},
                        {"controller", true},
                        {"kind", service_import["kind"]},
                        {"name", service_import["metadata"]["name"]},
                        {"uid", service_import["metadata"]["uid"]}});
}

bool owned_by(const Value& service, const Value& service_import) {
  for (const Value& owner : service["metadata"]["ownerReferences"].items()) {
    if (owner["uid"] == service_import["metadata"]["uid"]) return true;
  }
  return false;
}

/// One that upstream has made has no owner: it is as this one would be.
bool may_adopt(const Value& service, const Value& ports) {
  if (service["metadata"]["ownerReferences"].size() > 0 || service["spec"]["selector"].size() > 0) return false;
  if (service["spec"]["ports"].size() != ports.size()) return false;
  for (size_t at = 0; at < ports.size(); ++at) {
    if (service["spec"]["ports"][at]["port"] != ports[at]["port"]) return false;
  }
  return service["spec"]["type"].as_string("ClusterIP") == "ClusterIP";
}

Value balancer_of(const Value& service_import) {
  Value ingress = Value::array();
  for (const Value& ip : service_import["spec"]["ips"].items()) ingress.push_back(Value::object({{"ip", ip}}));
  return ingress.size() == 0 ? Value::object() : Value::object({{"ingress", std::move(ingress)}});
}

/// The wanted ports, with the node ports that those of the Service have.
Value with_node_ports(const Value& service, const Value& wanted) {
  Value ports = wanted;
  for (Value& port : ports.edit_items()) {
    for (const Value& present : service["spec"]["ports"].items()) {
      if (present["port"] != port["port"] || present["protocol"].as_string("TCP") != port["protocol"].as_string())
        continue;
      if (!present["nodePort"].is_null()) port.set("nodePort", present["nodePort"]);
    }
  }
  return ports;
}

/// As it should be: cluster IPs, node ports and what users have added stay.
Value updated(Value service, const Value& service_import, const Value& ports) {
  if (!owned_by(service, service_import)) {
    service.edit("metadata").set("ownerReferences", Value::array({owner_of(service_import)}));
  }
  service.edit("spec").set("ports", with_node_ports(service, ports));
  service.edit("status").set("loadBalancer", balancer_of(service_import));
  return service;
}

Value made(const ObjectKey& key, const Value& service_import, const Value& ports) {
  return Value::object({{"apiVersion", "v1"},
                        {"kind", "Service"},
                        {"metadata", Value::object({{"name", key.name},
                                                    {"namespace", key.ns},
                                                    {"ownerReferences", Value::array({owner_of(service_import)})}})},
                        {"spec", Value::object({{"type", "ClusterIP"},
                                                {"ports", ports},
                                                {"sessionAffinity", "None"},
                                                {"internalTrafficPolicy", "Cluster"}})},
                        {"status", Value::object({{"loadBalancer", balancer_of(service_import)}})}});
}

}  // namespace

Result<Decided> decide_import(const State& state, const ObjectKey& key) {
  const Object* object = state.find(key);
  // A derived Service goes with its owner.
  if (object == nullptr || deleting(object->value) || !state.options().controller_on(kServiceImportController)) {
    return Nothing{};
  }
  const Value& service_import = object->value;
  if (service_import["spec"]["type"].as_string() != "ClusterSetIP") return Nothing{};
  const ObjectKey service_key{type::kService, key.ns, "derived-" + key.name};
  const Value ports = ports_of(service_import);
  const Object* present = state.find(service_key);
  if (service_key.name.str().size() > 63) {
    return Error{ErrorCode::kInvalid, "the name " + service_key.name + " is too long for a Service: at most 63"};
  }
  if (ports.size() == 0) return Error{ErrorCode::kInvalid, "spec.ports: a Service has at least one port"};
  if (present == nullptr) {
    return decide_one(ObjectCreated{service_key, made(service_key, service_import, ports)}, {service_key, Revision{}});
  }
  if (deleting(present->value)) return Nothing{};  // its removal triggers this again
  if (!owned_by(present->value, service_import) && !may_adopt(present->value, ports)) {
    return Error{ErrorCode::kConflict, "Service " + service_key.name +
                                           " exists and was not made for this ServiceImport: delete it or rename it"};
  }
  Value wanted = updated(present->value, service_import, ports);
  if (wanted == present->value) return Nothing{};
  DecisionBuilder decision;
  decision.add(ObjectUpdated{service_key, wanted}, {service_key, present->revision});
  if (wanted["status"] != present->value["status"]) decision.add(StatusUpdated{service_key, wanted});
  return std::move(decision).build();
}

}  // namespace shiplog::multi_cluster_service
