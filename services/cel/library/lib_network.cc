#include "services/cel/library/declare.h"
#include "services/cel/library/libraries.h"
#include "services/cel/library/net_address.h"

// ip and cidr of Kubernetes. Source: k8s.io/apiserver/pkg/cel/library/ip.go, cidr.go, cost.go.

namespace shiplog::cel {
namespace {

const std::string kIp = "net.IP";
const std::string kCidr = "net.CIDR";

CelValue made_ip(std::string_view text) {
  auto address = parse_net_address(text);
  if (!address) return CelValue::error(address.error().message);
  return extension_of(kIp, address.value());
}

CelValue made_cidr(std::string_view text) {
  auto prefix = parse_net_prefix(text);
  if (!prefix) {
    return CelValue::error("network address parse error during conversion from string: " + prefix.error().message);
  }
  return extension_of(kCidr, prefix.value());
}

/// Bytes that a comparison looks at.
uint64_t prefix_bytes(const CelValue& cidr) { return static_cast<uint64_t>(held<NetPrefix>(cidr).length + 7) / 8; }

void add_ip(CelFunctions& functions, const CelType& ip) {
  const CelType string = CelKind::kString;
  add_function(
      functions, "ip", {string}, ip, [](CelArguments a, CelMeter&) { return made_ip(a[0].as_string()); },
      cost_of_reading(0));
  add_function(
      functions, "isIP", {string}, CelKind::kBool,
      [](CelArguments a, CelMeter&) {
        return CelValue::boolean(static_cast<bool>(parse_net_address(a[0].as_string())));
      },
      cost_of_reading(0));
  add_function(
      functions, "ip.isCanonical", {string}, CelKind::kBool,
      [](CelArguments a, CelMeter&) {
        const auto address = parse_net_address(a[0].as_string());
        if (!address) return CelValue::error(address.error().message);
        return CelValue::boolean(address.value().text() == a[0].as_string());
      },
      cost_of_reading(0, 2));
  add_function(functions, "string", {ip}, string,
               [](CelArguments a, CelMeter&) { return CelValue::string(held<NetAddress>(a[0]).text()); });
  add_member(functions, "family", {ip}, CelKind::kInt,
             [](CelArguments a, CelMeter&) { return CelValue::integer(held<NetAddress>(a[0]).v4 ? 4 : 6); });
  const auto add_test = [&](const char* name, bool (NetAddress::*test)() const) {
    add_member(functions, name, {ip}, CelKind::kBool,
               [test](CelArguments a, CelMeter&) { return CelValue::boolean((held<NetAddress>(a[0]).*test)()); });
  };
  add_test("isUnspecified", &NetAddress::is_unspecified);
  add_test("isLoopback", &NetAddress::is_loopback);
  add_test("isLinkLocalMulticast", &NetAddress::is_link_local_multicast);
  add_test("isLinkLocalUnicast", &NetAddress::is_link_local_unicast);
  add_test("isGlobalUnicast", &NetAddress::is_global_unicast);
}

void add_containment(CelFunctions& functions, const CelType& ip, const CelType& cidr) {
  const CelType string = CelKind::kString;
  const auto contains_ip = [](CelArguments a, CelMeter&) {
    const CelValue other = a[1].is(CelValue::Kind::kString) ? made_ip(a[1].as_string()) : a[1];
    return other.is_error() ? other : CelValue::boolean(held<NetPrefix>(a[0]).contains(held<NetAddress>(other)));
  };
  const auto contains_cidr = [](CelArguments a, CelMeter&) {
    const CelValue other = a[1].is(CelValue::Kind::kString) ? made_cidr(a[1].as_string()) : a[1];
    return other.is_error() ? other : CelValue::boolean(held<NetPrefix>(a[0]).contains(held<NetPrefix>(other)));
  };
  const auto text_cost = [](const CelValue& other) {
    return other.is(CelValue::Kind::kString) ? traversal_cost(cost_size(other)) : 0;
  };
  const CelCost ip_cost = [=](CelArguments a, const CelValue&) {
    return traversal_cost(2 * prefix_bytes(a[0])) + text_cost(a[1]);
  };
  const CelCost cidr_cost = [=](CelArguments a, const CelValue&) {
    return traversal_cost(2 * prefix_bytes(a[0])) + traversal_cost(prefix_bytes(a[0])) + 1 + text_cost(a[1]);
  };
  add_member(functions, "containsIP", {cidr, string}, CelKind::kBool, contains_ip, ip_cost);
  add_member(functions, "containsIP", {cidr, ip}, CelKind::kBool, contains_ip, ip_cost);
  add_member(functions, "containsCIDR", {cidr, string}, CelKind::kBool, contains_cidr, cidr_cost);
  add_member(functions, "containsCIDR", {cidr, cidr}, CelKind::kBool, contains_cidr, cidr_cost);
}

void add_cidr(CelFunctions& functions, const CelType& ip, const CelType& cidr) {
  const CelType string = CelKind::kString;
  add_function(
      functions, "cidr", {string}, cidr, [](CelArguments a, CelMeter&) { return made_cidr(a[0].as_string()); },
      cost_of_reading(0));
  add_function(
      functions, "isCIDR", {string}, CelKind::kBool,
      [](CelArguments a, CelMeter&) {
        return CelValue::boolean(static_cast<bool>(parse_net_prefix(a[0].as_string())));
      },
      cost_of_reading(0));
  add_function(functions, "string", {cidr}, string,
               [](CelArguments a, CelMeter&) { return CelValue::string(held<NetPrefix>(a[0]).text()); });
  add_member(functions, "ip", {cidr}, ip,
             [](CelArguments a, CelMeter&) { return extension_of(kIp, held<NetPrefix>(a[0]).address); });
  add_member(functions, "masked", {cidr}, cidr,
             [](CelArguments a, CelMeter&) { return extension_of(kCidr, held<NetPrefix>(a[0]).masked()); });
  add_member(functions, "prefixLength", {cidr}, CelKind::kInt,
             [](CelArguments a, CelMeter&) { return CelValue::integer(held<NetPrefix>(a[0]).length); });
  add_containment(functions, ip, cidr);
}

}  // namespace

void add_network_functions(CelFunctions& functions) {
  const CelType ip = CelType::extension(kIp);
  const CelType cidr = CelType::extension(kCidr);
  functions.add_type(kIp, ip);
  functions.add_type(kCidr, cidr);
  add_ip(functions, ip);
  add_cidr(functions, ip, cidr);
}

}  // namespace shiplog::cel
