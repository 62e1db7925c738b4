#include "services/api/addresses/allocate.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "services/api/admission/causes.h"

namespace shiplog::api {
namespace {

constexpr const char* kFirstIp = "spec.clusterIPs";

/// One Service whose addresses are allocated.
class Allocation {
 public:
  Allocation(const ObjectKey& key, const Value& old, Value& service, const ServiceRanges& ranges,
             const ServiceIndex& taken, Random& random)
      : key_{key},
        old_{old},
        had_{service_addresses(old)},
        spec_{service.edit("spec")},
        headless_{spec_["clusterIP"].as_string() == "None"},
        selects_{spec_["selector"].size() > 0},
        ranges_{ranges},
        taken_{taken},
        random_{random} {}

  Result<void> run() {
    choose_families();
    if (causes_.empty() && !headless_) {
      SHIPLOG_TRY(give_ips());
    }
    if (causes_.empty()) {
      SHIPLOG_TRY(give_ports());
    }
    if (causes_.empty()) return ok();
    return Error{ErrorCode::kInvalid, causes_.list().front().message, causes_.take()};
  }

 private:
  std::string other(const std::string& family) const { return family == "IPv4" ? "IPv6" : "IPv4"; }

  /// As many families as the policy requires, the Service's own choice first.
  void choose_families() {
    std::vector<std::string> families;
    for (const Value& family : spec_["ipFamilies"].items()) families.push_back(family.str());
    std::string policy = spec_["ipFamilyPolicy"].str();
    const bool anywhere = headless_ && !selects_;  // its endpoints are the user's, of any family
    if (families.empty() && !headless_) {
      for (const Value& ip : spec_["clusterIPs"].items()) {
        if (const auto parsed = parse_ip(ip.as_string())) families.push_back(family_of(*parsed));
      }
    }
    if (families.empty()) families.push_back(family_of(ranges_.networks.front()));
    if (policy.empty()) policy = families.size() == 2 || anywhere ? "RequireDualStack" : "SingleStack";
    const bool dual = policy != "SingleStack";
    if (policy == "RequireDualStack" && !anywhere && ranges_.networks.size() < 2) {
      causes_.invalid("spec.ipFamilyPolicy", Value{policy}, "this cluster is not configured for dual-stack services");
    }
    for (size_t i = 0; i < families.size() && !anywhere; ++i) {
      if (ranges_.network(families[i]) == nullptr) {
        causes_.invalid(at("spec.ipFamilies", i), Value{families[i]}, "not configured on this cluster");
      }
    }
    if (!dual && families.size() > 1) {
      if (old_.is_null() || spec_["ipFamilyPolicy"] == old_["spec"]["ipFamilyPolicy"]) {
        causes_.invalid("spec.ipFamilyPolicy", Value{policy},
                        "must be RequireDualStack or PreferDualStack when multiple 'ipFamilies' are specified");
      } else {  // from two families to one: the second goes
        families.resize(1);
        if (spec_["clusterIPs"].size() > 1) spec_.set("clusterIPs", Value::array({spec_["clusterIPs"][0]}));
      }
    }
    if (dual && families.size() == 1 && (anywhere || ranges_.networks.size() == 2)) {
      families.push_back(other(families.front()));
    }
    Value list = Value::array();
    for (const std::string& family : families) list.push_back(family);
    spec_.set("ipFamilies", std::move(list));
    spec_.set("ipFamilyPolicy", policy);
  }

  Result<void> give_ips() {
    Value ips = spec_["clusterIPs"].is_array() ? spec_["clusterIPs"] : Value::array();
    const Value& families = spec_["ipFamilies"];
    if (ips.size() > families.size()) {
      causes_.invalid(kFirstIp, ips, "may not have more entries than `ipFamilies`");
      return ok();
    }
    for (size_t i = 0; i < families.size(); ++i) {
      const std::string family = families[i].str();
      if (i < ips.size()) {
        check_ip(ips[i], family, at(kFirstIp, i));
        continue;
      }
      SHIPLOG_TRY(std::string ip, free_ip(*ranges_.network(family)));
      ips.push_back(std::move(ip));
    }
    spec_.set("clusterIP", ips[0]);
    spec_.set("clusterIPs", std::move(ips));
    return ok();
  }

  /// One that the Service had before stays, whatever the range is by now.
  void check_ip(const Value& ip, const std::string& family, const std::string& field) {
    if (had_.cluster_ips.contains(ip.str())) return;
    const auto parsed = parse_ip(ip.as_string());
    if (!parsed) return;  // admission has reported it
    const IpRange& network = *ranges_.network(family);
    if (family_of(*parsed) != family) {
      causes_.invalid(field, ip, "expected an " + family + " value as indicated by `ipFamilies`");
    } else if (ip_text(*parsed) != ip.as_string()) {
      causes_.invalid(field, ip, "must be written in canonical form (\"" + ip_text(*parsed) + "\")");
    } else if (!network.contains(*parsed)) {
      causes_.invalid(field, ip,
                      "failed to allocate IP " + ip.str() + ": the provided IP is not in the valid range; " +
                          "the range of valid IPs is " + ip_text(ip_at(network, 0)) + "/" +
                          std::to_string(network.prefix));
    } else if (taken_.ip_taken(ip.str(), key_)) {
      causes_.invalid(field, ip, "failed to allocate IP " + ip.str() + ": provided IP is already allocated");
    }
  }

  Result<std::string> free_ip(const IpRange& network) {
    // Neither the network's own address, nor that of the Service "kubernetes", nor IPv4's broadcast address.
    constexpr uint64_t kFirst = 2;
    const uint64_t count = ip_count(network) - kFirst - (network.size == 4 ? 1 : 0);
    const uint64_t start = random_below(random_, count);
    for (uint64_t i = 0; i < count; ++i) {
      std::string ip = ip_text(ip_at(network, static_cast<uint32_t>(kFirst + (start + i) % count)));
      if (!taken_.ip_taken(ip)) return ip;
    }
    return Error{ErrorCode::kInternal, "failed to allocate a cluster IP: the range " + ip_text(ip_at(network, 0)) +
                                           "/" + std::to_string(network.prefix) +
                                           " of --service-cluster-ip-range is full"};
  }

  Result<void> give_ports() {
    const std::string type = spec_["type"].str();
    const bool balanced = type == "LoadBalancer" && spec_["allocateLoadBalancerNodePorts"].as_bool(true);
    if (type == "NodePort" || type == "LoadBalancer") {
      for (const Value& port : spec_["ports"].items()) {
        if (port["nodePort"].as_int() != 0) given_.insert(port["nodePort"].as_int());
      }
      for (size_t i = 0; i < spec_["ports"].size(); ++i) {
        const Value port = spec_["ports"][i];
        const int64_t node_port = port["nodePort"].as_int();
        if (node_port != 0) {
          check_port(node_port, at("spec.ports", i) + ".nodePort");
        } else if ((type == "NodePort" || balanced) && !was_without(port)) {
          SHIPLOG_TRY(const int64_t chosen, port_for(port));
          spec_.edit("ports").edit_items()[i].set("nodePort", chosen);
        }
      }
    }
    if (type == "LoadBalancer" && spec_["externalTrafficPolicy"].as_string() == "Local") {
      const int64_t health = spec_["healthCheckNodePort"].as_int();
      const Value& before = old_["spec"];
      const bool legacy =
          before["type"].as_string() == "LoadBalancer" && before["externalTrafficPolicy"].as_string() == "Local";
      if (health != 0) {
        check_port(health, "spec.healthCheckNodePort");
      } else if (!legacy) {
        SHIPLOG_TRY(const int64_t chosen, free_port());
        spec_.set("healthCheckNodePort", chosen);
      }
    }
    return ok();
  }

  /// The stored Service has this very port, and no node port for it.
  bool was_without(const Value& port) const {
    const Value& before = old_["spec"];
    const auto type = before["type"].as_string();
    if (type != "NodePort" && type != "LoadBalancer") return false;
    if (type == "LoadBalancer" && !before["allocateLoadBalancerNodePorts"].as_bool(true)) return false;
    return std::ranges::any_of(before["ports"].items(), [&](const Value& old) {
      return old["port"] == port["port"] && old["protocol"] == port["protocol"] && old["nodePort"].as_int() == 0;
    });
  }

  void check_port(int64_t port, const std::string& field) {
    if (had_.node_ports.contains(port)) return;
    if (port < ranges_.first_port || port > ranges_.last_port) {
      causes_.invalid(field, Value{port},
                      "provided port is not in the valid range. The range of valid ports is " +
                          std::to_string(ranges_.first_port) + "-" + std::to_string(ranges_.last_port));
    } else if (taken_.port_taken(port, key_)) {
      causes_.invalid(field, Value{port}, "provided port is already allocated");
    }
  }

  /// The same for TCP and UDP of one port number, as DNS servers are reached under.
  Result<int64_t> port_for(const Value& port) {
    for (const Value& sibling : spec_["ports"].items()) {
      const int64_t node_port = sibling["nodePort"].as_int();
      if (node_port == 0 || sibling["port"] != port["port"] || sibling["protocol"] == port["protocol"]) continue;
      const bool used = std::ranges::any_of(spec_["ports"].items(), [&](const Value& other_port) {
        return other_port["nodePort"].as_int() == node_port && other_port["protocol"] == port["protocol"];
      });
      if (!used) return node_port;
    }
    return free_port();
  }

  Result<int64_t> free_port() {
    const auto count = static_cast<uint64_t>(ranges_.last_port - ranges_.first_port + 1);
    const uint64_t start = random_below(random_, count);
    for (uint64_t i = 0; i < count; ++i) {
      const int64_t port = ranges_.first_port + static_cast<int64_t>((start + i) % count);
      if (taken_.port_taken(port) || !given_.insert(port).second) continue;
      return port;
    }
    return Error{ErrorCode::kInternal, "failed to allocate a node port: the range " +
                                           std::to_string(ranges_.first_port) + "-" +
                                           std::to_string(ranges_.last_port) + " of --service-node-port-range is full"};
  }

  const ObjectKey& key_;
  const Value& old_;
  const ServiceAddresses had_;
  Value& spec_;
  bool headless_;
  bool selects_;
  const ServiceRanges& ranges_;
  const ServiceIndex& taken_;
  Random& random_;
  std::set<int64_t> given_;
  Causes causes_;
};

}  // namespace

Result<Value> with_addresses(const ObjectKey& key, const Value& old, Value service, const ServiceRanges& ranges,
                             const ServiceIndex& taken, Random& random) {
  if (service["spec"]["type"].as_string() == "ExternalName") return service;
  SHIPLOG_TRY(Allocation(key, old, service, ranges, taken, random).run());
  return service;
}

}  // namespace shiplog::api
