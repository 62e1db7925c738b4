#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "events/base/ascii.h"
#include "events/base/quantity.h"
#include "events/base/time.h"
#include "services/api/admission/device_checks.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/scheduling_rules.h"

// ResourceSlices. Source: pkg/apis/resource/validation, v1/defaults.go and pkg/registry/resource/resourceslice of
// Kubernetes 1.36.

namespace shiplog::api {
namespace {

constexpr size_t kMostDevices = 128;
constexpr size_t kMostElaborateDevices = 64;
constexpr size_t kMostProperties = 32;
constexpr size_t kMostAttributeValues = 48;
constexpr size_t kMostDeviceTaints = 16;
constexpr size_t kMostCounterSets = 8;
constexpr size_t kMostConsumedSets = 2;
constexpr size_t kMostCounters = 32;

// --- which nodes have the devices

void check_slice_node(const Value& name, const std::string& field, std::string_view empty, Causes& causes) {
  if (name.is_empty()) {
    causes.invalid(field, Value{""}, empty);
  } else if (const auto problem = subdomain_problem(name.as_string())) {
    causes.invalid(field, name, *problem);
  }
}

/// Which of the fields that choose nodes are set.
std::vector<std::string> node_choices(const Value& owner, const std::string& field, std::string_view empty,
                                      std::initializer_list<const char*> flags, Causes& causes) {
  std::vector<std::string> set;
  if (!owner["nodeName"].is_null()) {
    if (!owner["nodeName"].is_empty()) set.emplace_back("`nodeName`");
    check_slice_node(owner["nodeName"], field + ".nodeName", empty, causes);
  }
  if (!owner["nodeSelector"].is_null()) {
    set.emplace_back("`nodeSelector`");
    check_node_selector(owner["nodeSelector"], field + ".nodeSelector", causes);
  }
  for (const char* flag : flags) {
    if (owner[flag].is_null()) continue;
    if (owner[flag].as_bool()) {
      set.push_back("`" + std::string{flag} + "`");
    } else {
      causes.invalid(field + "." + flag, owner[flag], "must be either unset or set to true");
    }
  }
  return set;
}

void check_one_choice(const std::vector<std::string>& set, const std::string& field, std::string_view none,
                      std::string_view several, Causes& causes) {
  if (set.empty()) return causes.required(field, none);
  if (set.size() == 1) return;
  std::string text;
  for (const std::string& each : set) text += (text.empty() ? "{" : ", ") + each;
  causes.invalid(field, Value{text + "}"}, several);
}

void check_device_nodes(const Value& device, const std::string& field, bool per_device, Causes& causes) {
  constexpr const char* kOne =
      "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to "
      "true "
      "in the ResourceSlice spec";
  if (per_device) {
    return check_one_choice(node_choices(device, field, "must not be empty", {"allNodes"}, causes), field, kOne, kOne,
                            causes);
  }
  if (device["nodeName"].is_null() && device["nodeSelector"].is_null() && device["allNodes"].is_null()) return;
  causes.invalid(field, Value{},
                 "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true "
                 "in the ResourceSlice spec");
}

// --- what a device has

/// Of Semantic Versioning 2.0.0.
bool is_semantic_version(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto identifiers = [&](std::string_view part, bool numbers_begin_with_zero) {
    for (size_t begin = 0; begin <= part.size();) {
      const size_t end = std::min(part.find('.', begin), part.size());
      const std::string_view each = part.substr(begin, end - begin);
      if (each.empty()) return false;
      bool digits = true;
      for (const char c : each) {
        digits = digits && is_digit(c);
        if (!is_digit(c) && c != '-' && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')) return false;
      }
      if (digits && each.size() > 1 && each.front() == '0' && !numbers_begin_with_zero) return false;
      begin = end + 1;
    }
    return true;
  };
  if (const size_t plus = text.find('+'); plus != std::string_view::npos) {
    if (!identifiers(text.substr(plus + 1), true)) return false;
    text = text.substr(0, plus);
  }
  if (const size_t dash = text.find('-'); dash != std::string_view::npos) {
    if (!identifiers(text.substr(dash + 1), false)) return false;
    text = text.substr(0, dash);
  }
  if (!identifiers(text, false)) return false;
  return std::ranges::count(text, '.') == 2 &&
         std::ranges::all_of(text, [&](char c) { return c == '.' || is_digit(c); });
}

void check_text_value(const Value& value, const std::string& field, bool version, Causes& causes) {
  constexpr size_t kLongest = 64;
  if (version && !is_semantic_version(value.as_string())) {
    causes.invalid(field, value, "must be a string compatible with semver.org spec 2.0.0");
  }
  if (value.as_string().size() > kLongest) causes.too_long(field, kLongest);
}

void check_attribute_value(const Value& attribute, const std::string& field, Causes& causes) {
  for (const char* name : {"string", "version"}) {
    if (!attribute[name].is_null()) {
      check_text_value(attribute[name], field + "." + name, name[0] == 'v', causes);
    }
  }
  for (const char* name : {"bools", "ints", "strings", "versions"}) {
    const Value& list = attribute[name];
    if (list.is_null()) continue;
    if (list.size() == 0) causes.invalid(field + "." + name, list, "must not be empty if specified");
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i].is_string()) check_text_value(list[i], at(field + "." + name, i), name[0] == 'v', causes);
    }
  }
  if (attribute.size() == 0) causes.invalid(field, Value{""}, "exactly one value must be specified");
  if (attribute.size() > 1) causes.invalid(field, attribute, "exactly one value must be specified");
}

Quantity amount_in(const Value& value) {
  const auto amount = parse_quantity(quantity_text(value));
  return amount ? amount.value() : Quantity{};
}

void check_valid_values(const Value& policy, const Value& capacity, const std::string& field, Causes& causes) {
  constexpr size_t kMostValues = 10;
  const Value& values = policy["validValues"];
  if (policy["default"].is_null()) return causes.required(field + ".default", "required when validValues is defined");
  const std::string here = field + ".validValues";
  bool found = false;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0 && amount_in(values[i - 1]) > amount_in(values[i])) {
      causes.invalid(at(here, i), values[i], "values must be sorted in ascending order");
    }
  }
  if (check_list_size(values, here, kMostValues, causes)) {
    std::set<int64_t> seen;
    for (size_t i = 0; i < values.size(); ++i) {
      const Quantity amount = amount_in(values[i]);
      if (amount > amount_in(capacity)) {
        causes.invalid(at(here, i), values[i], "option is larger than capacity value: " + quantity_text(capacity));
      }
      found = found || amount == amount_in(policy["default"]);
      if (!seen.insert(amount.units()).second) causes.duplicate(at(here, i), values[i]);
    }
  }
  if (!found) causes.invalid(here, policy["default"], "default value is not valid according to the requestPolicy");
}

void check_valid_range(const Value& policy, const Value& capacity, const std::string& field, Causes& causes) {
  const Value& range = policy["validRange"];
  const Value& standard = policy["default"];
  const std::string here = field + ".validRange";
  if (standard.is_null()) return causes.required(field + ".default", "required when validRange is defined");
  if (range["min"].is_null()) return causes.required(here + ".min", "required when validRange is defined");
  const Quantity least = amount_in(range["min"]);
  const Quantity whole = amount_in(capacity);
  const std::string whole_text = "capacity value: " + quantity_text(capacity);
  if (least > whole) causes.invalid(here + ".min", range["min"], "min is larger than " + whole_text);
  if (amount_in(standard) < least) {
    causes.invalid(here + ".default", standard, "default is less than min: " + quantity_text(range["min"]));
  }
  if (!range["max"].is_null()) {
    const Quantity most = amount_in(range["max"]);
    const std::string most_text = quantity_text(range["max"]);
    if (least > most) causes.invalid(here + ".max", range["min"], "min is larger than max: " + most_text);
    if (most > whole) causes.invalid(here + ".max", range["max"], "max is larger than " + whole_text);
    if (amount_in(standard) > most) {
      causes.invalid(here + ".default", standard, "default is more than max: " + most_text);
    }
  }
  if (range["step"].is_null()) return;
  const Quantity step = amount_in(range["step"]);
  if (step + least > whole) {
    causes.invalid(here + ".step", range["step"],
                   "one step " + to_string(step + least, quantity_format(quantity_text(range["step"]))) +
                       " is larger than " + whole_text);
  }
  for (const Value* value : {&standard, &range["max"]}) {
    if (value->is_null() || step.units() <= 0) continue;
    if ((amount_in(*value).units() - least.units()) % step.units() == 0) continue;
    causes.invalid(here + ".step", *value,
                   "value is not a multiple of a given step (" + quantity_text(range["step"]) + ") from (" +
                       quantity_text(range["min"]) + ")");
  }
}

void check_capacity_of(const Value& capacity, const std::string& field, bool shared, Causes& causes) {
  const Value& policy = capacity["requestPolicy"];
  const std::string here = field + ".requestPolicy";
  if (policy.is_null()) return;
  if (!shared) return causes.forbidden(here, "allowMultipleAllocations must be true");
  const bool some = policy["validValues"].size() > 0;
  if (some && !policy["validRange"].is_null()) {
    return causes.forbidden(
        here, R"(exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time)");
  }
  if (some) return check_valid_values(policy, capacity["value"], here, causes);
  if (!policy["validRange"].is_null()) check_valid_range(policy, capacity["value"], here, causes);
}

void check_properties(const Value& device, const std::string& field, Causes& causes) {
  const Value& attributes = device["attributes"];
  const Value& capacities = device["capacity"];
  const size_t properties = attributes.size() + capacities.size();
  if (properties > kMostProperties) {
    causes.invalid(field, Value{properties},
                   "the total number of attributes and capacities must not exceed " + std::to_string(kMostProperties));
  }
  size_t values = 0;
  for (const auto& attribute : attributes.members()) {
    size_t listed = 0;
    for (const auto& member : attribute.value.members()) listed += member.value.size();
    values += listed == 0 ? 1 : listed;
  }
  if (values > kMostAttributeValues) {
    causes.invalid(field, Value{values},
                   "the total number of attribute values must not exceed " + std::to_string(kMostAttributeValues));
  }
  for (const auto& attribute : attributes.members()) {
    check_device_property(Value{attribute.key()}, field + ".attributes", false, causes);
    check_attribute_value(attribute.value, field + ".attributes[" + std::string{attribute.key()} + "]", causes);
  }
  const bool shared = device["allowMultipleAllocations"].as_bool();
  for (const auto& capacity : capacities.members()) {
    check_device_property(Value{capacity.key()}, field + ".capacity", false, causes);
    check_capacity_of(capacity.value, field + ".capacity[" + std::string{capacity.key()} + "]", shared, causes);
  }
}

void check_device_taints(const Value& taints, const std::string& field, Causes& causes) {
  if (!check_list_size(taints, field, kMostDeviceTaints, causes)) return;
  for (size_t i = 0; i < taints.size(); ++i) {
    const std::string here = at(field, i);
    const Value& key = taints[i]["key"];
    if (const auto problem = qualified_name_problem(key.as_string())) {
      causes.invalid(here + ".key", key.is_null() ? Value{""} : key, *problem);
    }
    if (const auto problem = label_value_problem(taints[i]["value"].as_string())) {
      causes.invalid(here + ".value", taints[i]["value"], *problem);
    }
    check_one_of(taints[i]["effect"], here + ".effect", {"NoExecute", "NoSchedule", "None"}, causes);
  }
}

/// The counters of a set, or those that a device takes of one.
void check_counters(const Value& owner, const char* name, const std::string& field, Causes& causes) {
  check_device_label(owner[name], field + "." + name, causes);
  const Value& counters = owner["counters"];
  const std::string here = field + ".counters";
  if (counters.size() == 0) return causes.required(here);
  if (!check_list_size(counters, here, kMostCounters, causes)) return;
  for (const auto& counter : counters.members()) check_device_label(Value{counter.key()}, here, causes);
}

void check_counter_sets(const Value& sets, const char* name, const std::string& field, size_t most, Causes& causes) {
  if (!check_list_size(sets, field, most, causes)) return;
  std::set<std::string> names;
  for (size_t i = 0; i < sets.size(); ++i) {
    check_counters(sets[i], name, at(field, i), causes);
    if (!names.insert(sets[i][name].str()).second) causes.duplicate(at(field, i), sets[i][name]);
  }
}

/// Each costs the scheduler more than a plain device.
bool is_elaborate(const Value& device) {
  if (device["taints"].size() > 0 || device["consumesCounters"].size() > 0) return true;
  return std::ranges::any_of(device["attributes"].members(), [](const auto& attribute) {
    return std::ranges::any_of(attribute.value.members(), [](const auto& member) { return member.value.is_array(); });
  });
}

void check_slice_devices(const Value& spec, const Value& old, Causes& causes) {
  const Value& devices = spec["devices"];
  const size_t most = std::ranges::any_of(devices.items(), is_elaborate) ? kMostElaborateDevices : kMostDevices;
  if (!check_list_size(devices, "spec.devices", most, causes)) return;
  std::map<std::string_view, const Value*> before;
  for (const Value& device : old["devices"].items()) before.emplace(device["name"].as_string(), &device);
  const bool per_device = spec["perDeviceNodeSelection"].as_bool();
  std::set<std::string> names;
  for (size_t i = 0; i < devices.size(); ++i) {
    const Value& device = devices[i];
    const std::string here = at("spec.devices", i);
    check_device_label(device["name"], here + ".name", causes);
    if (!names.insert(device["name"].str()).second) causes.duplicate(here, device["name"]);
    check_properties(device, here, causes);
    const auto known = before.find(device["name"].as_string());
    if (known == before.end() || (*known->second)["taints"] != device["taints"]) {
      check_device_taints(device["taints"], here + ".taints", causes);
    }
    check_counter_sets(device["consumesCounters"], "counterSet", here + ".consumesCounters", kMostConsumedSets, causes);
    check_device_nodes(device, here, per_device, causes);
    check_binding_conditions(device, here, causes);
  }
}

void check_pool(const Value& pool, Causes& causes) {
  check_pool_name(pool["name"], "spec.pool.name", causes);
  if (pool["resourceSliceCount"].as_int() <= 0) {
    causes.invalid("spec.pool.resourceSliceCount", pool["resourceSliceCount"], "must be greater than zero");
  }
  if (pool["generation"].as_int() < 0) {
    causes.invalid("spec.pool.generation", pool["generation"], "must be greater than or equal to zero");
  }
}

/// The time at which the same taint of the same device was added; null: it is new.
Value time_added(const Value& old_devices, const Value& device, const Value& taint) {
  for (const Value& before : old_devices.items()) {
    if (before["name"] != device["name"]) continue;
    for (const Value& each : before["taints"].items()) {
      if (each["key"] == taint["key"] && each["value"] == taint["value"] && each["effect"] == taint["effect"]) {
        return each["timeAdded"];
      }
    }
  }
  return {};
}

}  // namespace

void fill_resource_slice(Value& object, const Write& write) {
  const auto untimed = [](const Value& device) {
    return std::ranges::any_of(device["taints"].items(),
                               [](const Value& taint) { return taint.is_object() && taint["timeAdded"].is_null(); });
  };
  const Value& devices = object["spec"]["devices"];
  // More are refused: each would be compared with all that were there.
  if (devices.size() > kMostDevices || !std::ranges::any_of(devices.items(), untimed)) return;
  const Value& before = old_of(write)["spec"]["devices"];
  for (Value& device : object.edit("spec").edit("devices").edit_items()) {
    if (!untimed(device)) continue;
    const Value whole = device;
    for (Value& taint : device.edit("taints").edit_items()) {
      if (!taint.is_object() || !taint["timeAdded"].is_null()) continue;
      const Value added = time_added(before, whole, taint);
      taint.set("timeAdded", added.is_null() ? Value{rfc3339(write.now)} : added);
    }
  }
}

void check_resource_slice(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  const Value& old = old_of(write)["spec"];
  if (write.old != nullptr) {
    if (spec == old) return;
    if (spec["pool"]["name"] != old["pool"]["name"]) {
      causes.invalid("spec.pool.name", spec["pool"]["name"], "field is immutable");
    }
    for (const char* field : {"driver", "nodeName"}) {
      if (spec[field] != old[field]) causes.invalid(std::string{"spec."} + field, spec[field], "field is immutable");
    }
  }
  check_driver_name(spec["driver"], "spec.driver", causes);
  check_pool(spec["pool"], causes);
  constexpr const char* kOne =
      "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
  check_one_choice(node_choices(spec, "spec", "must be either unset or set to a non-empty string",
                                {"allNodes", "perDeviceNodeSelection"}, causes),
                   "spec", kOne, std::string{kOne} + ", but multiple fields are set", causes);
  if (const Value& terms = spec["nodeSelector"]["nodeSelectorTerms"]; terms.size() > 1) {
    causes.invalid("spec.nodeSelector.nodeSelectorTerms", terms, "must have exactly one node selector term");
  }
  if (!spec["sharedCounters"].is_null() && !spec["devices"].is_null()) {
    causes.invalid("spec", Value{""}, "only one of `sharedCounters` or `devices` is allowed");
  }
  check_slice_devices(spec, old, causes);
  check_counter_sets(spec["sharedCounters"], "name", "spec.sharedCounters", kMostCounterSets, causes);
}

void warn_of_resource_slice(const Value& object, const Write&, std::vector<std::string>& warnings) {
  const std::string driver = object["spec"]["driver"].str();
  if (driver == lower_case(driver)) return;
  warnings.push_back("spec.driver: driver names should be lowercase; \"" + driver + "\" contains uppercase characters");
}

}  // namespace shiplog::api
