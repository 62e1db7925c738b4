#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/api/admission/device_checks.h"
#include "services/api/admission/device_selectors.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/resource_names.h"
#include "services/api/admission/rules.h"
#include "services/api/admission/scheduling_rules.h"

// The kinds of resource.k8s.io: devices, and claims to them. Source: pkg/apis/resource/validation, v1/defaults.go of
// Kubernetes 1.36.

namespace shiplog::api {
namespace {

constexpr size_t kMostRequests = 32;
constexpr size_t kMostAlternatives = 8;
constexpr size_t kMostConstraints = 32;
constexpr size_t kMostConfigurations = 32;
constexpr size_t kMostConsumers = 256;

void check_device_class_name(const Value& name, const std::string& field, Causes& causes) {
  if (name.is_empty()) return causes.required(field);
  if (const auto problem = subdomain_problem(name.as_string())) causes.invalid(field, name, *problem);
}

/// The parameters of a driver.
void check_device_configuration(const Value& configuration, const std::string& field, Causes& causes) {
  const Value& opaque = configuration["opaque"];
  const std::string here = field + ".opaque";
  if (opaque.is_null()) return causes.required(here);
  check_driver_name(opaque["driver"], here + ".driver", causes);
  check_device_data(opaque["parameters"], here + ".parameters", causes);
}

void check_device_toleration(const Value& toleration, const std::string& field, Causes& causes) {
  const std::string_view operation = toleration["operator"].as_string("Equal");
  if (!toleration["key"].is_empty()) {
    if (const auto problem = qualified_name_problem(toleration["key"].as_string())) {
      causes.invalid(field + ".key", toleration["key"], *problem);
    }
  }
  if (operation == "Exists") {
    if (!toleration["value"].is_empty()) {
      causes.invalid(field + ".value", toleration["value"], "must be empty for operator `Exists`");
    }
  } else if (operation == "Equal") {
    if (const auto problem = label_value_problem(toleration["value"].as_string())) {
      causes.invalid(field + ".value", toleration["value"], *problem);
    }
  } else {
    causes.not_supported(field + ".operator", toleration["operator"], {"Equal", "Exists"});
  }
  if (!toleration["effect"].is_empty()) {
    check_one_of(toleration["effect"], field + ".effect", {"NoExecute", "NoSchedule", "None"}, causes);
  }
}

/// What an exact request has, and each alternative of another one.
void check_request_body(const Value& request, const std::string& field, Causes& causes) {
  check_device_class_name(request["deviceClassName"], field + ".deviceClassName", causes);
  check_device_selectors(request["selectors"], field + ".selectors", causes);
  const std::string_view mode = request["allocationMode"].as_string("ExactCount");
  const int64_t count = request["count"].as_int();
  if (mode == "All") {
    if (count != 0) {
      causes.invalid(field + ".count", request["count"], "must not be specified when allocationMode is 'All'");
    }
  } else if (mode == "ExactCount") {
    if (count <= 0) causes.invalid(field + ".count", request["count"], "must be greater than zero");
  } else {
    causes.not_supported(field + ".allocationMode", request["allocationMode"], {"All", "ExactCount"});
  }
  for (size_t i = 0; i < request["tolerations"].size(); ++i) {
    check_device_toleration(request["tolerations"][i], at(field + ".tolerations", i), causes);
  }
}

/// The names of requests, and of the alternatives of each.
using RequestNames = std::map<std::string, std::set<std::string>, std::less<>>;

void check_device_request(const Value& request, const std::string& field, Causes& causes) {
  check_device_label(request["name"], field + ".name", causes);
  const Value& exactly = request["exactly"];
  const Value& alternatives = request["firstAvailable"];
  if (exactly.is_null() && alternatives.size() == 0) {
    return causes.required(field, "exactly one of `exactly` or `firstAvailable` is required");
  }
  if (!exactly.is_null() && alternatives.size() > 0) {
    return causes.invalid(field, Value{},
                          "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set");
  }
  if (!exactly.is_null()) return check_request_body(exactly, field + ".exactly", causes);
  if (!check_list_size(alternatives, field + ".firstAvailable", kMostAlternatives, causes)) return;
  std::set<std::string> names;
  for (size_t i = 0; i < alternatives.size(); ++i) {
    const std::string here = at(field + ".firstAvailable", i);
    check_device_label(alternatives[i]["name"], here + ".name", causes);
    if (!names.insert(alternatives[i]["name"].str()).second) causes.duplicate(here, alternatives[i]["name"]);
    check_request_body(alternatives[i], here, causes);
  }
}

RequestNames names_of(const Value& requests) {
  RequestNames names;
  for (const Value& request : requests.items()) {
    std::set<std::string>& alternatives = names[request["name"].str()];
    for (const Value& each : request["firstAvailable"].items()) alternatives.insert(each["name"].str());
  }
  return names;
}

bool is_request(const RequestNames& names, std::string_view text) {
  const size_t slash = text.find('/');
  const auto found = names.find(text.substr(0, slash));
  if (found == names.end()) return false;
  return slash == std::string_view::npos || found->second.contains(std::string{text.substr(slash + 1)});
}

void check_request_reference(const Value& name, const std::string& field, const RequestNames& names, Causes& causes) {
  if (is_request(names, name.as_string())) return;
  causes.invalid(
      field, name,
      "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'");
}

void check_request_references(const Value& list, const std::string& field, const RequestNames& names, Causes& causes) {
  if (!check_list_size(list, field, kMostRequests, causes)) return;
  std::set<std::string> seen;
  for (size_t i = 0; i < list.size(); ++i) {
    check_request_reference(list[i], at(field, i), names, causes);
    if (!seen.insert(list[i].str()).second) causes.duplicate(at(field, i), list[i]);
  }
}

void check_device_claim(const Value& claim, const std::string& field, Causes& causes) {
  const Value& requests = claim["requests"];
  if (!check_list_size(requests, field + ".requests", kMostRequests, causes)) return;
  std::set<std::string> seen;
  for (size_t i = 0; i < requests.size(); ++i) {
    const std::string here = at(field + ".requests", i);
    check_device_request(requests[i], here, causes);
    if (!seen.insert(requests[i]["name"].str()).second) causes.duplicate(here, requests[i]["name"]);
  }
  const RequestNames names = names_of(requests);
  const Value& constraints = claim["constraints"];
  const bool few_constraints = check_list_size(constraints, field + ".constraints", kMostConstraints, causes);
  for (size_t i = 0; few_constraints && i < constraints.size(); ++i) {
    const std::string here = at(field + ".constraints", i);
    check_request_references(constraints[i]["requests"], here + ".requests", names, causes);
    const Value& matched = constraints[i]["matchAttribute"];
    const Value& distinct = constraints[i]["distinctAttribute"];
    if (!matched.is_null()) {
      check_device_property(matched, here + ".matchAttribute", true, causes);
    } else if (!distinct.is_null()) {
      check_device_property(distinct, here + ".distinctAttribute", true, causes);
    } else {
      // Upstream's text, though none is set.
      causes.required(here,
                      "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but multiple "
                      "fields are set");
    }
  }
  const Value& configurations = claim["config"];
  const bool few = check_list_size(configurations, field + ".config", kMostConfigurations, causes);
  for (size_t i = 0; few && i < configurations.size(); ++i) {
    const std::string here = at(field + ".config", i);
    check_request_references(configurations[i]["requests"], here + ".requests", names, causes);
    check_device_configuration(configurations[i], here, causes);
  }
}

/// The number of devices that a request is about, if it states none.
void fill_counts(Value& claim) {
  const auto fill = [](Value& request) {
    if (request["allocationMode"].as_string("ExactCount") == "ExactCount" && request["count"].as_int() == 0) {
      request.set("count", 1);
    }
  };
  if (!claim["requests"].is_array()) return;
  for (Value& request : claim.edit("requests").edit_items()) {
    if (request["exactly"].is_object()) fill(request.edit("exactly"));
    if (!request["firstAvailable"].is_array()) continue;
    for (Value& each : request.edit("firstAvailable").edit_items()) fill(each);
  }
}

bool keeps_spec(const Value& object, const Write& write, Causes& causes) {
  if (write.old == nullptr) return false;
  if (object["spec"] != (*write.old)["spec"]) causes.invalid("spec", object["spec"], "field is immutable");
  return true;
}

// --- ResourceClaim, ResourceClaimTemplate

void fill_claim(Value& object, const Write&) {
  if (object["spec"]["devices"].is_object()) fill_counts(object.edit("spec").edit("devices"));
}

void check_resource_claim(const Value& object, const Write& write, Causes& causes) {
  if (keeps_spec(object, write, causes)) return;
  check_device_claim(object["spec"]["devices"], "spec.devices", causes);
}

using AllocatedDevice = std::array<std::string, 4>;  // driver, pool, device, shareID

AllocatedDevice allocated_device(const Value& value) {
  return {value["driver"].str(), value["pool"].str(), value["device"].str(), value["shareID"].str()};
}

void check_consumers(const Value& object, const Value& old, Causes& causes) {
  constexpr const char* kField = "status.reservedFor";
  const Value& consumers = object["status"]["reservedFor"];
  if (!check_list_size(consumers, kField, kMostConsumers, causes)) return;
  std::set<std::string> seen;
  for (size_t i = 0; i < consumers.size(); ++i) {
    for (const char* field : {"resource", "name", "uid"}) {
      check_filled(consumers[i][field], at(kField, i) + "." + field, causes);
    }
    if (!seen.insert(consumers[i]["uid"].str()).second) causes.duplicate(at(kField, i), consumers[i]["uid"]);
  }
  if (consumers.size() == 0) return;
  if (object["status"]["allocation"].is_null()) {
    return causes.forbidden(kField, "may not be specified when `allocated` is not set");
  }
  if (object["metadata"]["deletionTimestamp"].is_null()) return;
  const auto before = old["reservedFor"].items();
  for (const Value& consumer : consumers.items()) {
    if (std::ranges::find(before, consumer) != before.end()) continue;
    return causes.forbidden(
        kField, "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set");
  }
}

void check_allocation(const Value& allocation, const RequestNames& names, Causes& causes) {
  const std::string field = "status.allocation.devices";
  const Value& results = allocation["devices"]["results"];
  const bool few_results = check_list_size(results, field + ".results", kMostRequests, causes);
  for (size_t i = 0; few_results && i < results.size(); ++i) {
    const Value& result = results[i];
    const std::string here = at(field + ".results", i);
    check_request_reference(result["request"], here + ".request", names, causes);
    check_driver_name(result["driver"], here + ".driver", causes);
    check_pool_name(result["pool"], here + ".pool", causes);
    check_device_label(result["device"], here + ".device", causes);
    check_binding_conditions(result, here, causes);
    for (size_t j = 0; j < result["tolerations"].size(); ++j) {
      check_device_toleration(result["tolerations"][j], at(here + ".tolerations", j), causes);
    }
  }
  const Value& configurations = allocation["devices"]["config"];
  const bool few = check_list_size(configurations, field + ".config", 2 * kMostConfigurations, causes);
  for (size_t i = 0; few && i < configurations.size(); ++i) {
    const std::string here = at(field + ".config", i);
    check_one_of(configurations[i]["source"], here + ".source", {"FromClaim", "FromClass"}, causes);
    check_request_references(configurations[i]["requests"], here + ".requests", names, causes);
    check_device_configuration(configurations[i], here, causes);
  }
  if (!allocation["nodeSelector"].is_null()) {
    check_node_selector(allocation["nodeSelector"], "status.allocation.nodeSelector", causes);
  }
}

void check_device_status(const Value& device, const std::string& field, Causes& causes) {
  constexpr size_t kMostConditions = 8, kMostAddresses = 16, kLongestInterface = 256, kLongestHardware = 128;
  check_driver_name(device["driver"], field + ".driver", causes);
  check_pool_name(device["pool"], field + ".pool", causes);
  check_device_label(device["device"], field + ".device", causes);
  check_list_size(device["conditions"], field + ".conditions", kMostConditions, causes);
  if (!device["data"].is_null()) check_device_data(device["data"], field + ".data", causes);
  const Value& network = device["networkData"];
  const std::string here = field + ".networkData";
  if (network["interfaceName"].as_string().size() > kLongestInterface) {
    causes.too_long(here + ".interfaceName", kLongestInterface);
  }
  if (network["hardwareAddress"].as_string().size() > kLongestHardware) {
    causes.too_long(here + ".hardwareAddress", kLongestHardware);
  }
  if (!check_list_size(network["ips"], here + ".ips", kMostAddresses, causes)) return;
  std::set<std::string> seen;
  for (size_t i = 0; i < network["ips"].size(); ++i) {
    const Value& address = network["ips"][i];
    if (!parse_cidr(address.as_string())) {
      causes.invalid(at(here + ".ips", i), address,
                     "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)");
    }
    if (!seen.insert(address.str()).second) causes.duplicate(at(here + ".ips", i), address);
  }
}

/// The status of a device ends with its allocation.
void fill_claim_status(Value& object, const Write& write) {
  if (object["status"]["devices"].size() == 0) return;
  std::set<AllocatedDevice> gone;
  const auto without_share = [](const Value& value) {
    return AllocatedDevice{value["driver"].str(), value["pool"].str(), value["device"].str(), ""};
  };
  for (const Value& result : old_of(write)["status"]["allocation"]["devices"]["results"].items()) {
    gone.insert(without_share(result));
  }
  for (const Value& result : object["status"]["allocation"]["devices"]["results"].items()) {
    gone.erase(without_share(result));
  }
  if (gone.empty()) return;
  Value kept = Value::array();
  for (const Value& device : object["status"]["devices"].items()) {
    if (!gone.contains(without_share(device))) kept.push_back(device);
  }
  if (kept.size() == 0) {
    object.edit("status").erase("devices");
  } else {
    object.edit("status").set("devices", std::move(kept));
  }
}

void check_resource_claim_status(const Value& object, const Write& write, Causes& causes) {
  const Value& status = object["status"];
  const Value& old = old_of(write)["status"];
  const Value& allocation = status["allocation"];
  check_consumers(object, old, causes);
  std::set<AllocatedDevice> allocated, seen;
  for (const Value& result : allocation["devices"]["results"].items()) allocated.insert(allocated_device(result));
  for (size_t i = 0; i < status["devices"].size(); ++i) {
    const Value& device = status["devices"][i];
    const std::string here = at("status.devices", i);
    check_device_status(device, here, causes);
    const AllocatedDevice id = allocated_device(device);
    const std::string text = id[0] + "/" + id[1] + "/" + id[2] + (id[3].empty() ? "" : "/" + id[3]);
    if (!allocated.contains(id)) causes.invalid(here, Value{text}, "must be an allocated device in the claim");
    if (!seen.insert(id).second) causes.duplicate(here, Value{text});
  }
  if (allocation.is_null()) return;
  if (old["allocation"].is_null()) {
    check_allocation(allocation, names_of(object["spec"]["devices"]["requests"]), causes);
  } else if (old["allocation"] != allocation) {
    causes.invalid("status.allocation", allocation, "field is immutable");
  }
}

void fill_claim_template(Value& object, const Write&) {
  if (object["spec"]["spec"]["devices"].is_object()) {
    fill_counts(object.edit("spec").edit("spec").edit("devices"));
  }
}

void check_resource_claim_template(const Value& object, const Write& write, Causes& causes) {
  if (keeps_spec(object, write, causes)) return;
  check_device_claim(object["spec"]["spec"]["devices"], "spec.spec.devices", causes);
}

// --- DeviceClass

void check_device_class(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  const Value& old = old_of(write)["spec"];
  if (spec["selectors"] != old["selectors"]) check_device_selectors(spec["selectors"], "spec.selectors", causes);
  if (const Value& name = spec["extendedResourceName"];
      name != old["extendedResourceName"] && !name.is_null() && !is_extended_resource(name.as_string())) {
    causes.invalid("spec.extendedResourceName", name, "must be a valid extended resource name");
  }
  if (spec["config"] == old["config"]) return;
  if (!check_list_size(spec["config"], "spec.config", kMostConfigurations, causes)) return;
  for (size_t i = 0; i < spec["config"].size(); ++i) {
    check_device_configuration(spec["config"][i], at("spec.config", i), causes);
  }
}

}  // namespace

const std::vector<Rules>& device_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "deviceclasses.resource.k8s.io", .check = check_device_class},
      {.type = "resourceclaims.resource.k8s.io",
       .fill = fill_claim,
       .check = check_resource_claim,
       .fill_status = fill_claim_status,
       .check_status = check_resource_claim_status},
      {.type = "resourceclaimtemplates.resource.k8s.io",
       .fill = fill_claim_template,
       .check = check_resource_claim_template},
      {.type = "resourceslices.resource.k8s.io",
       .fill = fill_resource_slice,
       .check = check_resource_slice,
       .warn = warn_of_resource_slice},
  };
  return kRules;
}

}  // namespace shiplog::api
