#include <algorithm>
#include <set>

#include "services/api/admission/address_warnings.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/metadata.h"
#include "services/api/admission/rules.h"

// Endpoints and EndpointSlices: where a Service's traffic goes. Source: KIND-1; pkg/apis/discovery/validation
// of Kubernetes 1.36.

namespace shiplog::api {
namespace {

void check_hostname(const Value& hostname, const std::string& field, Causes& causes) {
  if (hostname.is_empty()) return;
  if (const auto problem = label_problem(hostname.as_string())) causes.invalid(field, hostname, *problem);
}

void check_endpoint_port(const Value& port, const std::string& field, bool named, Causes& causes) {
  if (port["name"].is_empty()) {
    if (named) causes.required(field + ".name");
  } else if (const auto problem = label_problem(port["name"].as_string())) {
    causes.invalid(field + ".name", port["name"], *problem);
  }
  check_port(port["port"], field + ".port", causes);
  check_protocol(port["protocol"], field + ".protocol", causes);
}

void check_endpoints(const Value& object, const Write&, Causes& causes) {
  const Value& subsets = object["subsets"];
  for (size_t i = 0; i < subsets.size(); ++i) {
    const std::string field = at("subsets", i);
    if (subsets[i]["addresses"].size() + subsets[i]["notReadyAddresses"].size() == 0) {
      causes.required(field, "must specify `addresses` or `notReadyAddresses`");
    }
    for (const char* list : {"addresses", "notReadyAddresses"}) {
      const Value& addresses = subsets[i][list];
      for (size_t j = 0; j < addresses.size(); ++j) {
        const std::string here = at(field + "." + list, j);
        const Value& text = addresses[j]["ip"];
        if (const auto ip = parse_legacy_ip(text.as_string())) {
          check_reachable(*ip, text, here + ".ip", causes);
        } else {
          causes.invalid(here + ".ip", text, kNoAddress);
        }
        check_hostname(addresses[j]["hostname"], here + ".hostname", causes);
      }
    }
    const Value& ports = subsets[i]["ports"];
    for (size_t j = 0; j < ports.size(); ++j) {
      check_endpoint_port(ports[j], at(field + ".ports", j), ports.size() > 1, causes);
    }
  }
}

/// `list`: of the addresses, where Kubernetes reports one of the other family.
void check_slice_address(std::string_view type, const Value& text, const std::string& list, size_t index,
                         Causes& causes) {
  const std::string field = at(list, index);
  if (type == "FQDN") {
    if (const auto problem = subdomain_problem(text.as_string())) causes.invalid(field, text, *problem);
    return;
  }
  const auto ip = parse_legacy_ip(text.as_string());
  if (type != "IPv4" && type != "IPv6") return;
  if (!ip) return causes.invalid(field, text, kNoAddress);
  if (type == "IPv4" && ip->size != 4) causes.invalid(list, text, "must be an IPv4 address");
  if (type == "IPv6" && ip->size != 16) causes.invalid(list, text, "must be an IPv6 address");
  check_reachable(*ip, text, field, causes);
}

/// Where an endpoint's traffic should come from. More than eight are as good as none.
void check_hint_names(const Value& hints, const std::string& field, Problem (*problem_of)(std::string_view),
                      Causes& causes) {
  constexpr size_t kMostHints = 8;
  if (hints.size() > kMostHints) return causes.too_many(field, hints.size(), kMostHints);
  std::set<std::string_view> names;
  for (size_t i = 0; i < hints.size(); ++i) {
    const std::string here = at(field, i) + ".name";
    const std::string_view name = hints[i]["name"].as_string();
    if (!names.insert(name).second) causes.duplicate(here, Value{name});
    if (const auto problem = problem_of(name)) causes.invalid(here, Value{name}, *problem);
  }
}

/// The rules of EndpointSlices that older builds did not have.
void check_slice_values(const Value& object, Causes& causes) {
  constexpr size_t kMostTopologyLabels = 16;
  const Value& endpoints = object["endpoints"];
  for (size_t i = 0; i < endpoints.size(); ++i) {
    const auto field = [&](const char* name) { return at("endpoints", i) + "." + name; };  // for many endpoints unused
    if (const Value& node = endpoints[i]["nodeName"]; !node.is_null()) {
      if (const auto problem = subdomain_problem(node.as_string())) causes.invalid(field("nodeName"), node, *problem);
    }
    if (const Value& topology = endpoints[i]["deprecatedTopology"]; topology.size() > 0) {
      if (topology.size() > kMostTopologyLabels) {
        causes.too_many(field("deprecatedTopology"), topology.size(), kMostTopologyLabels);
      }
      check_labels(topology, field("deprecatedTopology"), causes);
    }
    const Value& hints = endpoints[i]["hints"];
    if (hints.is_null()) continue;
    check_hint_names(hints["forZones"], field("hints.forZones"), label_value_problem, causes);
    check_hint_names(hints["forNodes"], field("hints.forNodes"), subdomain_problem, causes);
  }
  for (size_t i = 0; i < object["ports"].size(); ++i) {
    const Value& protocol = object["ports"][i]["appProtocol"];
    if (protocol.is_null()) continue;
    if (const auto problem = qualified_name_problem(protocol.as_string())) {
      causes.invalid(at("ports", i) + ".appProtocol", protocol, *problem);
    }
  }
}

void check_slice(const Value& object, const Write& write, Causes& causes) {
  constexpr size_t kMostEndpoints = 1000, kMostAddresses = 100, kMostPorts = 20000;
  const std::string_view type = object["addressType"].as_string();
  check_one_of(object["addressType"], "addressType", {"FQDN", "IPv4", "IPv6"}, causes);
  if (write.old != nullptr && (*write.old)["addressType"] != object["addressType"]) {
    causes.invalid("addressType", object["addressType"], "field is immutable");
  }
  const Value& endpoints = object["endpoints"];
  if (endpoints.size() > kMostEndpoints) causes.too_many("endpoints", endpoints.size(), kMostEndpoints);
  for (size_t i = 0; i < std::min(endpoints.size(), kMostEndpoints); ++i) {
    const std::string field = at("endpoints", i);
    const Value& addresses = endpoints[i]["addresses"];
    if (addresses.size() == 0) causes.required(field + ".addresses", "must contain at least 1 address");
    if (addresses.size() > kMostAddresses) causes.too_many(field + ".addresses", addresses.size(), kMostAddresses);
    for (size_t j = 0; j < std::min(addresses.size(), kMostAddresses); ++j) {
      check_slice_address(type, addresses[j], field + ".addresses", j, causes);
    }
    check_hostname(endpoints[i]["hostname"], field + ".hostname", causes);
  }
  check_new(object, old_of(write), check_slice_values, causes);
  const Value& ports = object["ports"];
  if (ports.size() > kMostPorts) causes.too_many("ports", ports.size(), kMostPorts);
  std::set<std::string> names;
  for (size_t i = 0; i < std::min(ports.size(), kMostPorts); ++i) {
    const std::string field = at("ports", i);
    const Value& name = ports[i]["name"];
    if (!name.is_empty()) {
      if (const auto problem = label_problem(name.as_string())) causes.invalid(field + ".name", name, *problem);
    }
    if (!names.insert(name.str()).second) causes.duplicate(field + ".name", name);
    check_protocol(ports[i]["protocol"], field + ".protocol", causes);
    if (!ports[i]["port"].is_null()) check_port(ports[i]["port"], field + ".port", causes);
  }
}

/// Not of what Kubernetes' own controllers write.
void warn_of_endpoints(const Value& object, const Write&, std::vector<std::string>& warnings) {
  const Value& manager = object["metadata"]["labels"]["endpoints.kubernetes.io/managed-by"];
  if (manager.as_string() == "endpoint-controller") return;
  const Value& subsets = object["subsets"];
  for (size_t i = 0; i < subsets.size(); ++i) {
    for (const char* list : {"addresses", "notReadyAddresses"}) {
      const Value& addresses = subsets[i][list];
      for (size_t j = 0; j < addresses.size(); ++j) {
        warn_of_ip(at(at("subsets", i) + "." + list, j) + ".ip", addresses[j]["ip"].as_string(), warnings);
      }
    }
  }
}

void warn_of_slice(const Value& object, const Write& write, std::vector<std::string>& warnings) {
  if (write.old == nullptr && object["addressType"].as_string() == "FQDN") {
    warnings.emplace_back("spec.addressType: FQDN endpoints are deprecated");
  }
  const std::string_view manager = object["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"].as_string();
  if (manager == "endpointslice-controller.k8s.io" || manager == "endpointslicemirroring-controller.k8s.io") return;
  const Value& endpoints = object["endpoints"];
  for (size_t i = 0; i < endpoints.size(); ++i) {
    const Value& addresses = endpoints[i]["addresses"];
    for (size_t j = 0; j < addresses.size(); ++j) {
      warn_of_ip(at(at("endpoints", i) + ".addresses", j), addresses[j].as_string(), warnings);
    }
  }
}

}  // namespace

const std::vector<Rules>& endpoint_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "endpoints", .check = check_endpoints, .warn = warn_of_endpoints},
      {.type = "endpointslices.discovery.k8s.io", .check = check_slice, .warn = warn_of_slice},
  };
  return kRules;
}

}  // namespace shiplog::api
