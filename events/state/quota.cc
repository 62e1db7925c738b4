#include "events/state/quota.h"

#include <algorithm>

#include "events/base/json.h"

namespace shiplog {
namespace {

bool counted_in_bytes(std::string_view name) {
  return name == "memory" || name.ends_with(".memory") || name.find("storage") != std::string_view::npos ||
         name.find("hugepages-") != std::string_view::npos;
}

ResourceList usage_of_sets(const Value& spec) {
  const auto sets = static_cast<int64_t>(spec["clusters"].size());
  ResourceList usage;
  for (const Value& component : spec["components"].items()) {
    const int64_t pods = component["replicas"].as_int() * sets;
    if (pods <= 0) continue;
    for (const auto& [name, request] : resource_list_from(component["replicaRequirements"]["resourceRequest"])) {
      Quantity& sum = usage[name];
      sum = sum + request * pods;
    }
  }
  return usage;
}

}  // namespace

void add_resources(ResourceList& sum, const ResourceList& more) {
  for (const auto& [name, amount] : more) sum[name] = sum[name] + amount;
}

ResourceList pod_requests(const Value& pod) {
  const Value& spec = pod["spec"];
  const auto at_least = [](ResourceList& most, const ResourceList& other) {
    for (const auto& [name, amount] : other) most[name] = std::max(most[name], amount);
  };
  ResourceList sum, sidecars, initial;
  for (const Value& container : spec["containers"].items()) {
    add_resources(sum, resource_list_from(container["resources"]["requests"]));
  }
  for (const Value& container : spec["initContainers"].items()) {
    ResourceList request = resource_list_from(container["resources"]["requests"]);
    if (container["restartPolicy"].as_string() == "Always") {
      add_resources(sidecars, request);
      at_least(initial, sidecars);
    } else {
      add_resources(request, sidecars);
      at_least(initial, request);
    }
  }
  add_resources(sum, sidecars);
  at_least(sum, initial);
  add_resources(sum, resource_list_from(spec["overhead"]));
  sum["pods"] = Quantity::from_units(1);
  return sum;
}

ResourceList resource_list_from(const Value& object) {
  ResourceList list;
  for (const auto& member : object.members()) {
    if (member.value.is_int()) {
      list.emplace(member.key(), Quantity::from_units(member.value.as_int()));
      continue;
    }
    const auto amount =
        member.value.is_string() ? parse_quantity(member.value.as_string()) : parse_quantity(to_json(member.value));
    if (amount.has_value()) list.emplace(member.key(), amount.value());
  }
  return list;
}

Value to_value(const ResourceList& list) {
  Value object = Value::object();
  for (const auto& [name, amount] : list) {
    object.set(name, to_string(amount, counted_in_bytes(name) ? QuantityFormat::kBinary : QuantityFormat::kDecimal));
  }
  return object;
}

Quota quota_from(const Value& object) {
  const Value& meta = object["metadata"];
  return {meta["namespace"].str(), meta["name"].str(), resource_list_from(object["spec"]["overall"])};
}

bool written_in_binary(const Value& quantity) {
  return quantity.is_string() && quantity_format(quantity.as_string()) == QuantityFormat::kBinary;
}

ResourceList usage_of(const Value& binding, bool components) {
  const Value& spec = binding["spec"];
  if (components && spec["components"].size() > 0) return usage_of_sets(spec);
  int64_t replicas = 0;
  for (const Value& target : spec["clusters"].items()) replicas += target["replicas"].as_int();
  ResourceList usage;
  if (replicas <= 0) return usage;
  for (const auto& [name, request] : resource_list_from(spec["replicaRequirements"]["resourceRequest"])) {
    usage.emplace(name, request * replicas);
  }
  return usage;
}

}  // namespace shiplog
