#include <utility>

#include "services/api/admission/address_warnings.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/rules.h"

// IngressClass and NetworkPolicy. Source: KIND-1.

namespace shiplog::api {
namespace {

// --- IngressClass

Problem controller_problem(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) {
    return "must be a domain-prefixed path (such as \"acme.io/foo\")";
  }
  return subdomain_problem(text.substr(0, slash));
}

void check_ingress_class(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  const Value& controller = spec["controller"];
  constexpr size_t kMostController = 250;
  if (controller.as_string().size() > kMostController) causes.too_long("spec.controller", kMostController);
  if (controller.is_empty()) {
    causes.required("spec.controller");
  } else if (const auto problem = controller_problem(controller.as_string())) {
    causes.invalid("spec.controller", controller, *problem);
  }
  if (write.old != nullptr && (*write.old)["spec"]["controller"] != controller) {
    causes.invalid("spec.controller", controller, "field is immutable");
  }
  const Value& parameters = spec["parameters"];
  if (parameters.is_null()) return;
  for (const char* name : {"kind", "name"}) {
    const std::string field = std::string{"spec.parameters."} + name;
    if (parameters[name].is_empty()) {
      causes.required(field);
    } else if (const auto problem = path_segment_problem(parameters[name].as_string())) {
      causes.invalid(field, parameters[name], *problem);
    }
  }
  const std::string_view scope = parameters["scope"].as_string();
  check_one_of(parameters["scope"], "spec.parameters.scope", {"Cluster", "Namespace"}, causes);
  const Value& ns = parameters["namespace"];
  if (scope == "Namespace" && ns.is_empty()) {
    causes.required("spec.parameters.namespace", "`parameters.scope` is set to 'Namespace'");
  }
  if (scope == "Cluster" && !ns.is_null()) {
    causes.forbidden("spec.parameters.namespace", "`parameters.scope` is set to 'Cluster'");
  }
}

// --- NetworkPolicy

void fill_network_policy(Value& object, const Write&) {
  if (!object["spec"].is_object() || object["spec"]["policyTypes"].size() > 0) return;
  Value types = Value::array({"Ingress"});
  if (object["spec"]["egress"].size() > 0) types.push_back("Egress");
  object.edit("spec").set("policyTypes", std::move(types));
}

void check_policy_port(const Value& port, const std::string& field, Causes& causes) {
  check_protocol(port["protocol"], field + ".protocol", causes);
  const Value& which = port["port"];
  const Value& end = port["endPort"];
  if (which.is_string()) {
    if (const auto problem = port_name_problem(which.as_string())) causes.invalid(field + ".port", which, *problem);
  } else if (!which.is_null()) {
    check_port(which, field + ".port", causes);
  }
  if (end.is_null()) return;
  if (which.is_null()) {
    causes.invalid(field + ".endPort", end, "may not be specified when `port` is not specified");
  } else if (which.is_string()) {
    causes.invalid(field + ".endPort", end, "may not be specified when `port` is non-numeric");
  } else if (end.as_int() < which.as_int()) {
    causes.invalid(field + ".endPort", end, "must be greater than or equal to `port`");
  } else {
    check_port(end, field + ".endPort", causes);
  }
}

void check_ip_block(const Value& block, const std::string& field, Causes& causes) {
  const Value& cidr = block["cidr"];
  if (cidr.is_empty()) return causes.required(field + ".cidr");
  const auto all = parse_legacy_cidr(cidr.as_string());
  if (!all) return causes.invalid(field + ".cidr", cidr, kNoNetwork);
  for (size_t i = 0; i < block["except"].size(); ++i) {
    const Value& except = block["except"][i];
    const auto some = parse_legacy_cidr(except.as_string());
    const std::string here = at(field + ".except", i);
    if (!some) {
      causes.invalid(here, except, kNoNetwork);
    } else if (!all->contains(*some) || some->prefix == all->prefix) {
      causes.invalid(here, except, "must be a strict subset of `cidr`");
    }
  }
}

void check_peer(const Value& peer, const std::string& field, Causes& causes) {
  const bool selects = !peer["podSelector"].is_null() || !peer["namespaceSelector"].is_null();
  for (const char* selector : {"podSelector", "namespaceSelector"}) {
    check_selector(peer[selector], field + "." + selector, causes);
  }
  if (!peer["ipBlock"].is_null()) {
    check_ip_block(peer["ipBlock"], field + ".ipBlock", causes);
    if (selects) causes.forbidden(field, "may not specify both ipBlock and another peer");
  } else if (!selects) {
    causes.required(field, "must specify a peer");
  }
}

void check_network_policy(const Value& object, const Write&, Causes& causes) {
  const Value& spec = object["spec"];
  check_selector(spec["podSelector"], "spec.podSelector", causes);
  struct Direction {
    const char* rules;
    const char* peers;
  };
  for (const Direction& direction : {Direction{"ingress", "from"}, Direction{"egress", "to"}}) {
    const Value& rules = spec[direction.rules];
    for (size_t i = 0; i < rules.size(); ++i) {
      const std::string field = at(std::string{"spec."} + direction.rules, i);
      for (size_t j = 0; j < rules[i]["ports"].size(); ++j) {
        check_policy_port(rules[i]["ports"][j], at(field + ".ports", j), causes);
      }
      const Value& peers = rules[i][direction.peers];
      for (size_t j = 0; j < peers.size(); ++j) {
        check_peer(peers[j], at(field + "." + direction.peers, j), causes);
      }
    }
  }
  const Value& types = spec["policyTypes"];
  if (types.size() > 2) {
    causes.invalid("spec.policyTypes", types, "may not specify more than two policyTypes");
  } else {
    for (size_t i = 0; i < types.size(); ++i) {
      check_one_of(types[i], at("spec.policyTypes", i), {"Egress", "Ingress"}, causes);
    }
  }
}

void warn_of_network_policy(const Value& object, const Write&, std::vector<std::string>& warnings) {
  constexpr std::pair<const char*, const char*> kDirections[] = {{"ingress", "from"}, {"egress", "to"}};
  for (const auto& [direction, list] : kDirections) {
    const Value& rules = object["spec"][direction];
    for (size_t i = 0; i < rules.size(); ++i) {
      const Value& peers = rules[i][list];
      for (size_t j = 0; j < peers.size(); ++j) {
        const Value& block = peers[j]["ipBlock"];
        if (block.is_null()) continue;
        const std::string field = at(at(std::string{"spec."} + direction, i) + "." + list, j) + ".ipBlock";
        warn_of_cidr(field + ".cidr", block["cidr"].as_string(), warnings);
        for (size_t k = 0; k < block["except"].size(); ++k) {
          warn_of_cidr(at(field + ".except", k), block["except"][k].as_string(), warnings);
        }
      }
    }
  }
}

// --- ServiceCIDR, IPAddress

void check_canonical_network(const Value& text, const std::string& field, Causes& causes) {
  const auto network = parse_cidr(text.as_string());
  if (!network) return causes.invalid(field, text, kNoNetwork);
  const std::string canonical = ip_text(ip_at(*network, 0)) + "/" + std::to_string(network->prefix);
  if (canonical != text.as_string()) causes.invalid(field, text, "must be in canonical form (\"" + canonical + "\")");
}

void check_ranges(const Value& ranges, Causes& causes) {
  constexpr const char* kField = "spec.cidrs";
  if (ranges.size() == 0) return causes.required(kField, "at least one CIDR required");
  if (ranges.size() > 2) return causes.invalid(kField, ranges, "may only hold up to 2 values");
  for (size_t i = 0; i < ranges.size(); ++i) check_canonical_network(ranges[i], at(kField, i), causes);
  const auto first = parse_cidr(ranges[0].as_string());
  const auto second = parse_cidr(ranges[1].as_string());
  if (!first || !second || first->size != second->size) return;
  causes.invalid(kField, ranges,
                 "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64");
}

/// Only a second family can be added.
void check_service_cidr(const Value& object, const Write& write, Causes& causes) {
  constexpr const char* kImmutable = "field is immutable";
  const Value& ranges = object["spec"]["cidrs"];
  if (write.old == nullptr) return check_ranges(ranges, causes);
  const Value& old = (*write.old)["spec"]["cidrs"];
  const bool grows = old.size() == 1 && ranges.size() == 2;
  if (!grows && old.size() != ranges.size()) return causes.invalid("spec.cidrs", ranges, kImmutable);
  for (size_t i = 0; i < old.size(); ++i) {
    if (ranges[i] != old[i]) causes.invalid(at("spec.cidrs", i), ranges[i], kImmutable);
  }
  if (grows) check_ranges(ranges, causes);
}

void check_ip_address(const Value& object, const Write& write, Causes& causes) {
  const Value& parent = object["spec"]["parentRef"];
  if (write.old != nullptr) {
    if (parent != (*write.old)["spec"]["parentRef"]) causes.invalid("spec.parentRef", parent, "field is immutable");
    return;
  }
  if (parent.is_null()) return causes.required("spec.parentRef");
  if (const auto problem = subdomain_problem(parent["group"].as_string()); problem && !parent["group"].is_empty()) {
    causes.invalid("spec.parentRef.group", parent["group"], *problem);
  }
  for (const char* field : {"resource", "name", "namespace"}) {
    const std::string here = std::string{"spec.parentRef."} + field;
    if (parent[field].is_empty()) {
      if (std::string_view{field} != "namespace") causes.required(here);
    } else if (const auto problem = path_segment_problem(parent[field].as_string())) {
      causes.invalid(here, parent[field], *problem);
    }
  }
}

}  // namespace

const std::vector<Rules>& network_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "ingressclasses.networking.k8s.io", .check = check_ingress_class},
      {.type = "networkpolicies.networking.k8s.io",
       .fill = fill_network_policy,
       .check = check_network_policy,
       .warn = warn_of_network_policy},
      {.type = "servicecidrs.networking.k8s.io", .check = check_service_cidr},
      {.type = "ipaddresses.networking.k8s.io", .check = check_ip_address},
  };
  return kRules;
}

}  // namespace shiplog::api
