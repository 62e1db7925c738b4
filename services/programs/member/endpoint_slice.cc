#include "services/programs/member/endpoint_slice.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "services/programs/member/decide.h"
#include "services/programs/member/decision_changes.h"
#include "services/programs/member/kinds.h"
#include "services/programs/member/ownership.h"
#include "services/programs/member/pod.h"

namespace shiplog::member {
namespace {

constexpr size_t kMostEndpoints = 100;  // of one slice
constexpr const char* kManagedBy = "endpointslice.kubernetes.io/managed-by";
constexpr const char* kController = "endpointslice-controller.k8s.io";
constexpr const char* kServiceName = "kubernetes.io/service-name";

bool selects(const Value& service, const Value& pod) {
  const Value& selector = service["spec"]["selector"];
  if (pod.is_null() || selector.size() == 0) return false;
  const Value& labels = pod["metadata"]["labels"];
  return std::ranges::all_of(selector.members(),
                             [&](const Value::Member& each) { return labels[each.key()] == each.value; });
}

Value endpoint_of(const Value& pod) {
  const bool terminating = deleting(pod);
  const bool ready = is_ready(pod);
  return Value::object(
      {{"addresses", Value::array({pod["status"]["podIP"]})},
       {"conditions",
        Value::object({{"ready", ready && !terminating}, {"serving", ready}, {"terminating", terminating}})},
       {"nodeName", pod["spec"]["nodeName"]},
       {"targetRef", Value::object({{"kind", "Pod"},
                                    {"namespace", pod["metadata"]["namespace"]},
                                    {"name", pod["metadata"]["name"]},
                                    {"uid", pod["metadata"]["uid"]}})}});
}

/// The port of the pods: a number, or the name of a port of one of their containers. Null: they have none.
Value target_port(const Value& port, const Value& pod) {
  const Value& target = port["targetPort"];
  if (target.is_null()) return port["port"];
  if (!target.is_string()) return target;
  for (const Value& container : pod["spec"]["containers"].items()) {
    for (const Value& each : container["ports"].items()) {
      if (each["name"] == target) return each["containerPort"];
    }
  }
  return {};
}

Value ports_of(const Value& service, const Value& pod) {
  Value ports = Value::array();
  for (const Value& each : service["spec"]["ports"].items()) {
    Value number = target_port(each, pod);
    if (number.is_null()) continue;
    Value port = Value::object({{"name", each["name"].as_string()},
                                {"port", std::move(number)},
                                {"protocol", each["protocol"].as_string("TCP")}});
    if (!each["appProtocol"].is_empty()) port.set("appProtocol", each["appProtocol"]);
    ports.push_back(std::move(port));
  }
  return ports;
}

std::vector<const Value*> endpoints_of(const State& state, const ObjectKey& key, const Value& service) {
  std::vector<const Value*> pods;
  for (const auto& [name, pod] : state.objects(kPods, key.ns)) {
    const bool counts = selects(service, pod.value) && !has_finished(pod.value);
    if (counts && !pod.value["status"]["podIP"].is_empty()) pods.push_back(&pod.value);
  }
  return pods;
}

}  // namespace

Result<Decided> decide_endpoint_slices(const State& state, const ObjectKey& key, UtcMillis) {
  const Object* service = state.find(key);
  if (service == nullptr || deleting(service->value) || service->value["spec"]["selector"].size() == 0 ||
      service->value["spec"]["type"].as_string() == "ExternalName") {
    return Nothing{};
  }
  const auto pods = endpoints_of(state, key, service->value);
  Changes changes;
  std::vector<ObjectKey> wanted;
  for (size_t first = 0; first == 0 || first < pods.size(); first += kMostEndpoints) {
    Value endpoints = Value::array();
    for (size_t at = first; at < std::min(pods.size(), first + kMostEndpoints); ++at) {
      endpoints.push_back(endpoint_of(*pods[at]));
    }
    const std::string suffix = name_suffix(uid_of(service->value), Revision{}, first / kMostEndpoints);
    const ObjectKey slice_key{kEndpointSlices, key.ns, generated_name(key.name, suffix)};
    const Object* present = state.find(slice_key);
    wanted.push_back(slice_key);
    Value slice = present == nullptr ? Value{} : present->value;
    slice.set("apiVersion", "discovery.k8s.io/v1");
    slice.set("kind", "EndpointSlice");
    Value& metadata = slice.edit("metadata");
    metadata.set("name", slice_key.name);
    metadata.set("namespace", key.ns);
    metadata.edit("labels").set(kServiceName, key.name);
    metadata.edit("labels").set(kManagedBy, kController);
    if (present == nullptr) {
      metadata.set("ownerReferences", Value::array({controller_reference(service->value)}));
      metadata.set("generation", 1);
    }
    slice.set("addressType", "IPv4");
    slice.set("endpoints", std::move(endpoints));
    slice.set("ports", ports_of(service->value, pods.empty() ? Value{} : *pods[first]));
    if (present == nullptr) {
      changes.create(slice_key, std::move(slice));
    } else if (!deleting(present->value)) {
      changes.update(slice_key, *present, std::move(slice));
    }
  }
  for (const Owned& owned : controlled_by(state, service->value, kEndpointSlices)) {
    if (std::ranges::find(wanted, owned.key) == wanted.end() && !deleting(owned.object->value)) {
      changes.remove(owned.key, *owned.object);
    }
  }
  return changes.take();
}

void wake_services(const State& state, const Change& change, std::vector<ObjectKey>& wake) {
  if (change.object.type != kPods) return;
  for (const auto& [name, service] : state.objects(kServices, change.object.ns)) {
    if (selects(service.value, change.before) || selects(service.value, change.after)) {
      wake.push_back({kServices, name.ns, name.name});
    }
  }
}

}  // namespace shiplog::member
