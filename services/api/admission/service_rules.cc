#include <algorithm>
#include <set>
#include <string>

#include "events/base/names.h"
#include "services/api/admission/address_warnings.h"
#include "services/api/admission/field_checks.h"
#include "services/api/admission/load_balancer.h"
#include "services/api/admission/metadata.h"
#include "services/api/admission/rules.h"

// Services. Addresses are allocated behind admission (services/api/addresses). Source: CRU-8 to CRU-10;
// pkg/registry/core/service/{strategy.go,storage/storage.go} ValidateService and
// pkg/api/service/warnings.go of Kubernetes 1.36.

namespace shiplog::api {
namespace {

bool has_type(const Value& spec, std::initializer_list<std::string_view> types) {
  const std::string_view type = spec["type"].as_string();
  return std::find(types.begin(), types.end(), type.empty() ? "ClusterIP" : type) != types.end();
}
bool needs_cluster_ip(const Value& spec) { return has_type(spec, {"ClusterIP", "NodePort", "LoadBalancer"}); }
bool needs_node_ports(const Value& spec) {
  return has_type(spec, {"NodePort"}) ||
         (has_type(spec, {"LoadBalancer"}) && spec["allocateLoadBalancerNodePorts"].as_bool(true));
}
bool needs_health_port(const Value& spec) {
  return has_type(spec, {"LoadBalancer"}) && spec["externalTrafficPolicy"].as_string() == "Local";
}

/// Reached from outside of the cluster.
bool is_external(const Value& spec) {
  return has_type(spec, {"NodePort", "LoadBalancer"}) ||
         (has_type(spec, {"ClusterIP"}) && spec["externalIPs"].size() > 0);
}

/// Clients that know clusterIP only change it alone: clusterIPs follows it.
void follow_cluster_ip(Value& spec, const Value& before) {
  const Value address = spec["clusterIP"];
  if (address == before["clusterIP"] || spec["clusterIPs"] != before["clusterIPs"]) return;
  if (address.is_empty()) {
    spec.erase("clusterIPs");
  } else {
    spec.set("clusterIPs", Value::array({address}));
  }
}

/// What was allocated stays, though an update leaves it out.
void keep_allocated(Value& spec, const Value& before) {
  if (needs_cluster_ip(before) && needs_cluster_ip(spec)) {
    if (spec["clusterIP"].is_empty() && spec["clusterIPs"].size() == 0) {
      for (const char* field : {"clusterIP", "clusterIPs"}) {
        if (const Value* kept = before.find(field)) spec.set(field, *kept);
      }
    }
    if (spec["clusterIP"] == before["clusterIP"]) {
      for (const char* field : {"clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
        if (const Value* kept = before.find(field); kept != nullptr && spec[field].is_empty()) spec.set(field, *kept);
      }
    }
  }
  if (needs_node_ports(before) && needs_node_ports(spec) && spec["ports"].size() > 0) {
    std::set<int64_t> used;
    for (const Value& port : spec["ports"].items()) used.insert(port["nodePort"].as_int());
    for (Value& port : spec.edit("ports").edit_items()) {
      if (port["nodePort"].as_int() != 0) continue;
      for (const Value& old : before["ports"].items()) {
        if (old["name"].as_string() != port["name"].as_string() || old["nodePort"].as_int() == 0) continue;
        if (used.insert(old["nodePort"].as_int()).second) port.set("nodePort", old["nodePort"]);
      }
    }
  }
  if (needs_health_port(before) && needs_health_port(spec) && spec["healthCheckNodePort"].as_int() == 0) {
    if (const Value* kept = before.find("healthCheckNodePort")) spec.set("healthCheckNodePort", *kept);
  }
}

/// Fields of only the previous type of the Service are removed with it, unless the update changes it.
void drop_of_old_type(Value& spec, const Value& before) {
  const auto drop = [&](const char* field) {
    if (spec[field] == before[field]) spec.erase(field);
  };
  if (needs_cluster_ip(before) && !needs_cluster_ip(spec)) {
    for (const char* field : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}) drop(field);
  }
  if (needs_node_ports(before) && !needs_node_ports(spec) && spec["ports"].size() > 0) {
    for (Value& port : spec.edit("ports").edit_items()) {
      const bool same = std::ranges::any_of(before["ports"].items(), [&](const Value& old) {
        return old["nodePort"].as_int() != 0 && old["nodePort"] == port["nodePort"];
      });
      if (same) port.erase("nodePort");
    }
  }
  if (needs_health_port(before) && !needs_health_port(spec)) drop("healthCheckNodePort");
  if (has_type(before, {"LoadBalancer"}) && !has_type(spec, {"LoadBalancer"})) {
    drop("allocateLoadBalancerNodePorts");
    drop("loadBalancerClass");
  }
  if (is_external(before) && !is_external(spec)) drop("externalTrafficPolicy");
}

/// How long a client stays with its endpoint belongs to the affinity ClientIP alone: three hours by default.
void fill_affinity(Value& spec) {
  constexpr int64_t kSeconds = 10800;
  if (spec["sessionAffinity"].as_string() == "None") {
    spec.erase("sessionAffinityConfig");
  } else if (spec["sessionAffinity"].as_string() == "ClientIP" &&
             spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"].is_null()) {
    spec.set("sessionAffinityConfig", Value::object({{"clientIP", Value::object({{"timeoutSeconds", kSeconds}})}}));
  }
}

void fill_service(Value& object, const Write& write) {
  if (!object["spec"].is_object()) return;
  Value& spec = object.edit("spec");
  if (write.old != nullptr) {
    follow_cluster_ip(spec, old_of(write)["spec"]);
    keep_allocated(spec, old_of(write)["spec"]);
    drop_of_old_type(spec, old_of(write)["spec"]);
  }
  const bool external = spec["type"].as_string() == "ExternalName";
  if (!external && spec["internalTrafficPolicy"].is_empty()) spec.set("internalTrafficPolicy", "Cluster");
  if (is_external(spec) && spec["externalTrafficPolicy"].is_empty()) {
    spec.set("externalTrafficPolicy", "Cluster");
  }
  if (has_type(spec, {"LoadBalancer"}) && spec["allocateLoadBalancerNodePorts"].is_null()) {
    spec.set("allocateLoadBalancerNodePorts", true);
  }
  fill_affinity(spec);
  if (spec["ports"].size() > 0) {
    for (Value& port : spec.edit("ports").edit_items()) {
      if (port["targetPort"].is_empty()) port.set("targetPort", port["port"]);
    }
  }
  if (!spec["clusterIP"].is_empty() && spec["clusterIPs"].size() == 0) {
    spec.set("clusterIPs", Value::array({spec["clusterIP"]}));
  }
  if (spec["clusterIP"].is_empty() && spec["clusterIPs"].size() > 0) spec.set("clusterIP", spec["clusterIPs"][0]);
  if (write.old == nullptr) object.set("status", Value::object({{"loadBalancer", Value::object()}}));
}

void check_service_port(const Value& port, const std::string& field, bool named, Causes& causes) {
  if (port["name"].is_empty()) {
    if (named) causes.required(field + ".name");
  } else if (const auto problem = label_problem(port["name"].as_string())) {
    causes.invalid(field + ".name", port["name"], *problem);
  }
  const auto in_range = [](const Value& number) { return number.as_int() >= 1 && number.as_int() <= 65535; };
  if (!in_range(port["port"])) causes.invalid(field + ".port", port["port"], "must be between 1 and 65535, inclusive");
  const Value& target = port["targetPort"];
  if (target.is_number() && !in_range(target)) {
    causes.invalid(field + ".targetPort", target, "must be between 1 and 65535, inclusive");
  }
  const Value& node = port["nodePort"];
  if (node.as_int() != 0 && !in_range(node)) {
    causes.invalid(field + ".nodePort", node, "must be between 1 and 65535, inclusive");
  }
  const std::string_view protocol = port["protocol"].as_string();
  if (protocol != "TCP" && protocol != "UDP" && protocol != "SCTP") {
    causes.not_supported(field + ".protocol", port["protocol"], {"SCTP", "TCP", "UDP"});
  }
}

void check_cluster_ips(const Value& spec, bool headless, Causes& causes) {
  const Value& ips = spec["clusterIPs"];
  constexpr const char* kField = "spec.clusterIPs";
  if (ips.size() > 2) causes.invalid(kField, ips, "may only hold up to 2 values");
  if (ips.size() > 0 && ips[0] != spec["clusterIP"]) {
    causes.invalid(kField, ips, "first value must match `clusterIP`");
  }
  for (size_t i = 0; i < ips.size(); ++i) {
    if (ips[i].as_string() == "None") {
      if (!headless || ips.size() > 1) causes.invalid(at(kField, i), ips[i], "'None' must be the first and only value");
    } else if (!parse_ip(ips[i].as_string())) {
      causes.invalid(at(kField, i), ips[i], kNoAddress);
    }
  }
  const Value& families = spec["ipFamilies"];
  if (families.size() > 2) causes.invalid("spec.ipFamilies", families, "may only hold up to 2 values");
  for (size_t i = 0; i < families.size(); ++i) {
    if (families[i].as_string() != "IPv4" && families[i].as_string() != "IPv6") {
      causes.not_supported(at("spec.ipFamilies", i), families[i], {"IPv4", "IPv6"});
    }
  }
  if (families.size() == 2 && families[0] == families[1]) causes.duplicate("spec.ipFamilies[1]", families[1]);
  const std::string_view policy = spec["ipFamilyPolicy"].as_string();
  if (!policy.empty() && policy != "SingleStack" && policy != "PreferDualStack" && policy != "RequireDualStack") {
    causes.not_supported("spec.ipFamilyPolicy", spec["ipFamilyPolicy"],
                         {"PreferDualStack", "RequireDualStack", "SingleStack"});
  }
}

std::string_view without_spaces(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  const size_t end = text.find_last_not_of(" \t\r\n");
  return end == std::string_view::npos ? std::string_view{} : text.substr(begin, end + 1 - begin);
}

/// A port has a number or, in some pods, a name.
void check_target_port(const Value& target, const std::string& field, Causes& causes) {
  if (!target.is_string()) return;  // the number's range is checked with the others
  if (const auto problem = port_name_problem(target.as_string())) causes.invalid(field, target, *problem);
}

void check_qualified_name(const Value& name, const std::string& field, Causes& causes) {
  if (name.is_null()) return;
  if (const auto problem = qualified_name_problem(name.as_string())) causes.invalid(field, name, *problem);
}

/// Fields that belong to load balancers.
void check_load_balancer_fields(const Value& spec, Causes& causes) {
  constexpr const char* kOnlyThere = "may only be used when `type` is 'LoadBalancer'";
  const bool balances = has_type(spec, {"LoadBalancer"});
  if (!balances && !spec["allocateLoadBalancerNodePorts"].is_null()) {
    causes.forbidden("spec.allocateLoadBalancerNodePorts", kOnlyThere);
  }
  if (balances) {
    check_qualified_name(spec["loadBalancerClass"], "spec.loadBalancerClass", causes);
  } else if (!spec["loadBalancerClass"].is_null()) {
    causes.forbidden("spec.loadBalancerClass", kOnlyThere);
  }
  const Value& ranges = spec["loadBalancerSourceRanges"];
  const std::string field = "spec.LoadBalancerSourceRanges";  // Kubernetes writes it so
  if (ranges.size() > 0 && !balances) causes.forbidden(field, kOnlyThere);
  for (size_t i = 0; i < ranges.size(); ++i) {
    // Spaces around one are allowed here.
    if (!parse_legacy_cidr(without_spaces(ranges[i].as_string()))) causes.invalid(at(field, i), ranges[i], kNoNetwork);
  }
}

/// Which way the traffic goes.
void check_traffic(const Value& spec, Causes& causes) {
  const Value& policy = spec["externalTrafficPolicy"];
  if (!policy.is_empty() && !is_external(spec)) {
    causes.invalid("spec.externalTrafficPolicy", policy, "may only be set for externally-accessible services");
  } else if (!policy.is_empty()) {
    check_one_of(policy, "spec.externalTrafficPolicy", {"Cluster", "Local"}, causes);
  }
  if (const Value& inside = spec["internalTrafficPolicy"]; !inside.is_empty()) {
    check_one_of(inside, "spec.internalTrafficPolicy", {"Cluster", "Local"}, causes);
  }
  if (const Value& distribution = spec["trafficDistribution"]; !distribution.is_null()) {
    check_one_of(distribution, "spec.trafficDistribution", {"PreferClose", "PreferSameZone", "PreferSameNode"}, causes);
  }
  if (spec["sessionAffinity"].as_string() == "ClientIP") {
    constexpr int64_t kMostSeconds = 86400;
    check_range(spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"],
                "spec.sessionAffinityConfig.clientIP.timeoutSeconds", 1, kMostSeconds,
                "must be greater than 0 and less than 86400", causes);
  }
}

/// The rules of a Service's spec that older builds did not have.
void check_service_values(const Value& spec, Causes& causes) {
  const std::string_view type = spec["type"].as_string();
  if (type == "ExternalName") {
    std::string_view name = spec["externalName"].as_string();
    if (name.ends_with('.')) name.remove_suffix(1);  // a fully qualified one
    if (const auto problem = name.empty() ? std::nullopt : subdomain_problem(name)) {
      causes.invalid("spec.externalName", Value{name}, *problem);
    }
    for (const char* field : {"ipFamilies", "ipFamilyPolicy"}) {
      if (spec[field].is_empty()) continue;
      causes.forbidden(std::string{"spec."} + field, "may not be set for ExternalName services");
    }
  }
  if (type == "NodePort" && spec["clusterIP"].as_string() == "None") {
    causes.invalid("spec.clusterIPs[0]", spec["clusterIP"], "may not be set to 'None' for NodePort services");
  }
  check_load_balancer_fields(spec, causes);
  check_traffic(spec, causes);
  for (size_t i = 0; i < spec["ports"].size(); ++i) {
    const std::string field = at("spec.ports", i);
    check_target_port(spec["ports"][i]["targetPort"], field + ".targetPort", causes);
    check_qualified_name(spec["ports"][i]["appProtocol"], field + ".appProtocol", causes);
  }
  for (size_t i = 0; i < spec["externalIPs"].size(); ++i) {
    const Value& text = spec["externalIPs"][i];
    const std::string field = at("spec.externalIPs", i);
    if (const auto ip = parse_legacy_ip(text.as_string())) {
      check_reachable(*ip, text, field, causes);
    } else {
      causes.invalid(field, text, kNoAddress);
    }
  }
}

constexpr const char* kTopologyHints = "service.kubernetes.io/topology-aware-hints";
constexpr const char* kTopologyMode = "service.kubernetes.io/topology-mode";

/// The older name of the annotation means the same.
void check_topology_mode(const Value& annotations, Causes& causes) {
  const Value& mode = annotations[kTopologyMode];
  const Value& hints = annotations[kTopologyHints];
  if (mode.is_null() || hints.is_null() || mode == hints) return;
  causes.invalid(std::string{"metadata.annotations["} + kTopologyMode + "]", mode,
                 std::string{"must match annotations["} + kTopologyHints + "] when both are specified");
}

void check_service(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  const std::string_view type = spec["type"].as_string();
  if (type != "ClusterIP" && type != "ExternalName" && type != "LoadBalancer" && type != "NodePort") {
    causes.not_supported("spec.type", spec["type"], {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"});
  }
  const bool headless = spec["clusterIP"].as_string() == "None";
  const Value& ports = spec["ports"];
  if (ports.size() == 0 && !headless && type != "ExternalName") causes.required("spec.ports");
  if (type == "ExternalName") {
    if (spec["externalName"].is_empty()) causes.required("spec.externalName");
    if (!spec["clusterIPs"].is_empty()) {
      causes.forbidden("spec.clusterIPs", "may not be set for ExternalName services");
    }
  }
  if (type == "LoadBalancer" && headless) {
    causes.invalid("spec.clusterIPs[0]", spec["clusterIP"], "may not be set to 'None' for LoadBalancer services");
  }
  if (type != "ExternalName") check_cluster_ips(spec, headless, causes);
  std::set<std::string> names, uses, node_uses;
  for (size_t i = 0; i < ports.size(); ++i) {
    const std::string field = at("spec.ports", i);
    check_service_port(ports[i], field, ports.size() > 1, causes);
    if (!ports[i]["name"].is_empty() && !names.insert(ports[i]["name"].str()).second) {
      causes.duplicate(field + ".name", ports[i]["name"]);
    }
    if (!uses.insert(ports[i]["protocol"].str() + "/" + std::to_string(ports[i]["port"].as_int())).second) {
      causes.duplicate(field, Value::object({{"port", ports[i]["port"]}, {"protocol", ports[i]["protocol"]}}));
    }
  }
  for (size_t i = 0; i < ports.size(); ++i) {
    const Value& node = ports[i]["nodePort"];
    if (node.as_int() == 0) continue;
    const std::string field = at("spec.ports", i) + ".nodePort";
    const bool stored = std::ranges::any_of(old_of(write)["spec"]["ports"].items(), [&](const Value& port) {
      return port["nodePort"] == node && !has_type(old_of(write)["spec"], {"NodePort", "LoadBalancer"});
    });  // an earlier version accepted it
    if (!has_type(spec, {"NodePort", "LoadBalancer"}) && !stored) {
      causes.forbidden(field, "may not be used when `type` is '" + std::string{type} + "'");
    } else if (!node_uses.insert(ports[i]["protocol"].str() + "/" + std::to_string(node.as_int())).second) {
      causes.duplicate(field, node);
    }
  }
  if (spec["healthCheckNodePort"].as_int() != 0 && !needs_health_port(spec)) {
    causes.invalid("spec.healthCheckNodePort", spec["healthCheckNodePort"],
                   "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'");
  }
  const std::string_view affinity = spec["sessionAffinity"].as_string();
  if (affinity != "None" && affinity != "ClientIP") {
    causes.not_supported("spec.sessionAffinity", spec["sessionAffinity"], {"ClientIP", "None"});
  }
  check_labels(spec["selector"], "spec.selector", causes);
  check_new(object["metadata"]["annotations"], old_of(write)["metadata"]["annotations"], check_topology_mode, causes);
  check_new(spec, old_of(write)["spec"], check_service_values, causes);
  const Value& before = old_of(write)["spec"];
  if (!before["clusterIP"].is_empty() && before["type"].as_string() != "ExternalName" && type != "ExternalName" &&
      before["clusterIP"] != spec["clusterIP"]) {
    causes.invalid("spec.clusterIPs[0]", spec["clusterIPs"], "may not change once set");
  }
  if (has_type(before, {"LoadBalancer"}) && type == "LoadBalancer" &&
      before["loadBalancerClass"] != spec["loadBalancerClass"]) {
    const Value& now = spec["loadBalancerClass"];
    causes.invalid("spec.loadBalancerClass", now.is_null() ? Value{"null"} : now, "may not change once set");
  }
}

/// An address of a load balancer is reached as such, unless it is stated otherwise.
void fill_service_status(Value& object, const Write&) {
  if (!has_type(object["spec"], {"LoadBalancer"}) || object["status"]["loadBalancer"]["ingress"].size() == 0) return;
  for (Value& each : object.edit("status").edit("loadBalancer").edit("ingress").edit_items()) {
    if (!each["ip"].is_empty() && each["ipMode"].is_null()) each.set("ipMode", "VIP");
  }
}

void check_ip_modes(const Value& ingress, Causes& causes) {
  for (size_t i = 0; i < ingress.size(); ++i) {
    const Value& mode = ingress[i]["ipMode"];
    const std::string field = at("status.loadBalancer.ingress", i) + ".ipMode";
    if (mode.is_null()) continue;
    if (ingress[i]["ip"].is_empty()) {
      causes.forbidden(field, "may not be specified when `ip` is not set");
    } else {
      check_one_of(mode, field, {"Proxy", "VIP"}, causes);
    }
  }
}

void check_service_status(const Value& object, const Write& write, Causes& causes) {
  const bool balances = has_type(object["spec"], {"LoadBalancer"});
  const auto check_ingress_points = [&](const Value& ingress, Causes& found) {
    if (ingress.size() > 0 && !balances) {
      return found.forbidden("status.loadBalancer.ingress", "may only be used when `spec.type` is 'LoadBalancer'");
    }
    check_load_balancer_ingress(ingress, found);
    check_ip_modes(ingress, found);
  };
  check_new(object["status"]["loadBalancer"]["ingress"], old_of(write)["status"]["loadBalancer"]["ingress"],
            check_ingress_points, causes);
}

void warn_of_service(const Value& object, const Write&, std::vector<std::string>& warnings) {
  const Value& spec = object["spec"];
  const bool elsewhere = has_type(spec, {"ExternalName"});
  const bool headless = has_type(spec, {"ClusterIP"}) && spec["clusterIP"].as_string() == "None";
  const Value& external = spec["externalIPs"];
  if (object["metadata"]["annotations"].contains(kTopologyHints)) {
    warnings.push_back(std::string{"annotation "} + kTopologyHints + " is deprecated, please use " + kTopologyMode +
                       " instead");
  }
  for (size_t i = 0; i < spec["clusterIPs"].size(); ++i) {
    warn_of_ip(at("spec.clusterIPs", i), spec["clusterIPs"][i].as_string(), warnings);
  }
  if (headless) {
    constexpr const char* kIgnored = " is ignored for headless services";
    if (!spec["loadBalancerIP"].is_empty()) warnings.push_back(std::string{"spec.loadBalancerIP"} + kIgnored);
    if (external.size() > 0) warnings.push_back(std::string{"spec.externalIPs"} + kIgnored);
    if (spec["sessionAffinity"].as_string() == "ClientIP") {
      warnings.push_back(std::string{"spec.SessionAffinity"} + kIgnored);
    }
  }
  for (size_t i = 0; i < external.size(); ++i) {
    warn_of_ip(at("spec.externalIPs", i), external[i].as_string(), warnings);
  }
  if (external.size() > 0 && !headless && !elsewhere) {
    warnings.emplace_back("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
  }
  warn_of_ip("spec.loadBalancerIP", spec["loadBalancerIP"].as_string(), warnings);
  for (size_t i = 0; i < spec["loadBalancerSourceRanges"].size(); ++i) {
    warn_of_cidr(at("spec.loadBalancerSourceRanges", i), spec["loadBalancerSourceRanges"][i].as_string(), warnings);
  }
  if (elsewhere && external.size() > 0) {
    warnings.emplace_back(R"(spec.externalIPs is ignored when spec.type is "ExternalName")");
  }
  if (!elsewhere && !spec["externalName"].is_empty()) {
    warnings.emplace_back(R"(spec.externalName is ignored when spec.type is not "ExternalName")");
  }
  if (spec["trafficDistribution"].as_string() == "PreferClose") {
    warnings.emplace_back(R"(spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone")");
  }
}

}  // namespace

const std::vector<Rules>& service_rules() {
  static const std::vector<Rules> kRules = {{.type = "services",
                                             .fill = fill_service,
                                             .check = check_service,
                                             .warn = warn_of_service,
                                             .fill_status = fill_service_status,
                                             .check_status = check_service_status}};
  return kRules;
}

}  // namespace shiplog::api
