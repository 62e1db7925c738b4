#include "events/state/quota.h"

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

ResourceList resource_list_from(const Value& object) {
  ResourceList list;
  for (const auto& member : object.members()) {
    if (member.value.is_int()) {
      list.emplace(member.key(), Quantity::from_units(member.value.as_int()));
      continue;
    }
    const auto amount =
        parse_quantity(member.value.is_string() ? std::string{member.value.as_string()} : to_json(member.value));
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
