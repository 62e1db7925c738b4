#include <algorithm>
#include <set>

#include "services/api/admission/field_checks.h"
#include "services/api/admission/rules.h"

// Endpoints and EndpointSlices: where a Service's traffic goes. Source: KIND-1.

namespace shiplog::api {
namespace {

constexpr const char* kNoAddress = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

/// Addresses that mean this very machine, or many at once, lead nowhere from another node.
void check_reachable(const IpRange& ip, const Value& text, const std::string& field, Causes& causes) {
  const auto within = [&](const char* cidr) { return parse_cidr(cidr)->contains(ip); };
  if (within("0.0.0.0/32") || within("::/128"))
    causes.invalid(field, text, "may not be unspecified (" + text.str() + ")");
  if (within("127.0.0.0/8") || within("::1/128")) {
    causes.invalid(field, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
  }
  if (within("169.254.0.0/16") || within("fe80::/10")) {
    causes.invalid(field, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  }
  if (within("224.0.0.0/24") || within("ff02::/16")) {
    causes.invalid(field, text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
  }
}

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
        if (const auto ip = parse_ip(text.as_string())) {
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

void check_slice_address(std::string_view type, const Value& text, const std::string& field, Causes& causes) {
  if (type == "FQDN") {
    if (const auto problem = subdomain_problem(text.as_string())) causes.invalid(field, text, *problem);
    return;
  }
  const auto ip = parse_ip(text.as_string());
  if (type == "IPv4" && (!ip || ip->size != 4)) return causes.invalid(field, text, "must be an IPv4 address");
  if (type == "IPv6" && (!ip || ip->size != 16)) return causes.invalid(field, text, "must be an IPv6 address");
  if (ip) check_reachable(*ip, text, field, causes);
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
      check_slice_address(type, addresses[j], at(field + ".addresses", j), causes);
    }
    check_hostname(endpoints[i]["hostname"], field + ".hostname", causes);
  }
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

}  // namespace

const std::vector<Rules>& endpoint_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "endpoints", .check = check_endpoints},
      {.type = "endpointslices.discovery.k8s.io", .check = check_slice},
  };
  return kRules;
}

}  // namespace shiplog::api
