#include <set>
#include <string>
#include <utility>

#include "events/base/ascii.h"
#include "events/base/json.h"
#include "events/base/names.h"
#include "events/base/utf8.h"
#include "services/api/admission/address_warnings.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/resource_names.h"
#include "services/api/admission/rules.h"

// Nodes. Source: ValidateNode and ValidateNodeUpdate of Kubernetes 1.36, whose errors place the taints in the metadata.

namespace shiplog::api {
namespace {

/// What is allocatable is the capacity unless it is stated.
void fill_node_status(Value& object, const Write&) {
  if (!object["status"].is_object()) return;
  Value& status = object.edit("status");
  if (!status["allocatable"].is_null() || status["capacity"].is_null()) return;
  const Value capacity = status["capacity"];
  status.set("allocatable", capacity);
}

/// podCIDR is the first of podCIDRs. If they differ, podCIDR counts: an older client wrote it.
void unite_networks(Value& spec) {
  const Value first = spec["podCIDR"];
  const Value listed = spec["podCIDRs"][0];
  if (!first.is_empty() && listed != first) spec.set("podCIDRs", Value::array({first}));
  if (first.is_empty() && !listed.is_empty()) spec.set("podCIDR", listed);
}

void fill_node(Value& object, const Write& write) {
  if (object["spec"].is_object()) unite_networks(object.edit("spec"));
  if (write.old == nullptr) fill_node_status(object, write);
}

void check_node_taints(const Value& taints, Causes& causes) {
  for (size_t i = 0; i < taints.size(); ++i) {
    const std::string field = at("metadata.taints", i);
    if (const auto problem = qualified_name_problem(taints[i]["key"].as_string())) {
      causes.invalid(field + ".key", Value{taints[i]["key"].as_string()}, *problem);
    }
    check_one_of(taints[i]["effect"], field + ".effect", {"NoSchedule", "PreferNoSchedule", "NoExecute"}, causes);
  }
}

/// The rules of a node's spec that older builds did not have.
void check_node_spec(const Value& spec, Causes& causes) {
  const Value& taints = spec["taints"];
  std::set<std::pair<std::string_view, std::string_view>> known;
  for (size_t i = 0; i < taints.size(); ++i) {
    const std::string field = at("metadata.taints", i);
    const Value& value = taints[i]["value"];
    if (const auto problem = label_value_problem(value.as_string())) causes.invalid(field + ".value", value, *problem);
    if (known.emplace(taints[i]["effect"].as_string(), taints[i]["key"].as_string()).second) continue;
    causes.add({field, "FieldValueDuplicate",
                "Duplicate value: " + to_json(taints[i]) + ": taints must be unique by key and effect pair"});
  }
  const Value& networks = spec["podCIDRs"];
  for (size_t i = 0; i < networks.size(); ++i) {
    if (parse_legacy_cidr(networks[i].as_string())) continue;
    causes.invalid(at("spec.podCIDRs", i), networks[i], kNoNetwork);
  }
  if (networks.size() > 2) {
    causes.invalid("spec.podCIDRs", networks, "may specify no more than one CIDR for each IP family");
  }
}

void check_amounts(const Value& status, Causes& causes) {
  for (const char* list : {"capacity", "allocatable"}) {
    for (const auto& amount : status[list].members()) {
      const std::string field = std::string{"status."} + list + "." + std::string{amount.key()};
      check_resource_amount(amount.key(), amount.value, field, causes);
    }
  }
}

/// Of an update: an address is stated once.
void check_node_addresses(const Value& status, Causes& causes) {
  std::set<std::pair<std::string_view, std::string_view>> known;
  for (size_t i = 0; i < status["addresses"].size(); ++i) {
    const Value& address = status["addresses"][i];
    if (known.emplace(address["type"].as_string(), address["address"].as_string()).second) continue;
    causes.duplicate(at("status.addresses", i), address);
  }
}

/// Segments of letters and digits, the first of which begins with a capital: "UserNamespaces/podLevel".
bool is_feature_name(std::string_view text) {
  bool begins = true;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool capital = c >= 'A' && c <= 'Z';
    const bool letter = capital || (c >= 'a' && c <= 'z');
    if (i == 0 ? !capital : begins ? !letter : !letter && c != '/' && !is_digit(c)) return false;
    begins = c == '/';
  }
  return !text.empty() && !begins;
}

/// What the kubelet of a node says that it can do, in order.
void check_features(const Value& features, Causes& causes) {
  constexpr size_t kLongest = 253;
  for (size_t i = 0; i < features.size(); ++i) {
    const std::string_view name = features[i].as_string();
    const std::string field = at("status.declaredFeatures", i);
    if (name.size() > kLongest) {
      causes.invalid(field, features[i],
                     "invalid feature name " + quoted(name) + ": must be no more than 253 characters");
    } else if (!is_feature_name(name)) {
      causes.invalid(field, features[i],
                     "invalid feature name " + quoted(name) +
                         ": must start with an UpperCamelCase segment, with subsequent segments separated by '/' "
                         "(e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and "
                         "slashes");
    }
    if (i == 0) continue;
    const std::string_view before = features[i - 1].as_string();
    if (before == name) {
      causes.duplicate(field, features[i]);
    } else if (before > name) {
      causes.invalid(field, features[i], "list must be sorted alphabetically");
    }
  }
}

/// What is assigned to a node once.
void check_assigned(const Value& spec, const Value& before, Causes& causes) {
  if (!before["podCIDRs"].is_empty() && before["podCIDRs"] != spec["podCIDRs"]) {
    causes.forbidden("spec.podCIDRs", "node updates may not change podCIDR except from \"\" to valid");
  }
  const Value& provider = before["providerID"];
  if (provider.is_empty() || provider == spec["providerID"]) return;
  // Kubernetes shows no value.
  causes.invalid(
      "spec.providerID", Value{"null"},
      spec["providerID"].is_empty() ? "field cannot be cleared once set" : "field cannot be modified once set");
}

void check_node_object(const Value& object, const Write& write, Causes& causes) {
  check_node_taints(object["spec"]["taints"], causes);
  Value before = old_of(write)["spec"];
  if (before.is_object()) unite_networks(before);
  check_new(object["spec"], before, check_node_spec, causes);
  if (write.old == nullptr) {
    check_amounts(object["status"], causes);
    check_features(object["status"]["declaredFeatures"], causes);
  } else {
    check_assigned(object["spec"], before, causes);
  }
}

void check_node_status(const Value& object, const Write& write, Causes& causes) {
  const auto check_values = [](const Value& status, Causes& found) {
    check_amounts(status, found);
    check_node_addresses(status, found);
    check_features(status["declaredFeatures"], found);
  };
  check_new(object["status"], old_of(write)["status"], check_values, causes);
}

void warn_of_node(const Value& object, const Write&, std::vector<std::string>& warnings) {
  const Value& spec = object["spec"];
  if (!spec["configSource"].is_null()) warnings.emplace_back("spec.configSource: the feature is removed");
  if (!spec["externalID"].is_empty()) {
    warnings.emplace_back("spec.externalID: this field is deprecated, and is unused by Kubernetes");
  }
  for (size_t i = 0; i < spec["podCIDRs"].size(); ++i) {
    warn_of_cidr(at("spec.podCIDRs", i), spec["podCIDRs"][i].as_string(), warnings);
  }
}

}  // namespace

const std::vector<Rules>& node_rules() {
  static const std::vector<Rules> kRules = {{.type = "nodes",
                                             .takes_status = true,
                                             .fill = fill_node,
                                             .check = check_node_object,
                                             .warn = warn_of_node,
                                             .fill_status = fill_node_status,
                                             .check_status = check_node_status}};
  return kRules;
}

}  // namespace shiplog::api
