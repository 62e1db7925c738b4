#include <algorithm>
#include <set>
#include <string>

#include "events/base/ip_range.h"
#include "events/base/names.h"
#include "events/state/object.h"
#include "services/api/admission/metadata.h"
#include "services/api/admission/rules.h"

// Services. Addresses are allocated behind admission (services/api/addresses). Source: CRU-8 to CRU-10;
// pkg/registry/core/service/{strategy.go,storage/storage.go} and ValidateService of Kubernetes.

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
  if (has_type(before, {"NodePort", "LoadBalancer"}) && !has_type(spec, {"NodePort", "LoadBalancer"}) &&
      spec["externalIPs"].size() == 0) {
    drop("externalTrafficPolicy");
  }
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
    keep_allocated(spec, old_of(write)["spec"]);
    drop_of_old_type(spec, old_of(write)["spec"]);
  }
  const bool external = spec["type"].as_string() == "ExternalName";
  if (!external && spec["internalTrafficPolicy"].is_empty()) spec.set("internalTrafficPolicy", "Cluster");
  if (has_type(spec, {"NodePort", "LoadBalancer"}) && spec["externalTrafficPolicy"].is_empty()) {
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
    causes.invalid(at(kField, 0), ips[0], "first value must match `clusterIP`");
  }
  for (size_t i = 0; i < ips.size(); ++i) {
    if (ips[i].as_string() == "None") {
      if (!headless || ips.size() > 1) causes.invalid(at(kField, i), ips[i], "'None' must be the first and only value");
    } else if (!parse_ip(ips[i].as_string())) {
      causes.invalid(at(kField, i), ips[i], "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
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

/// As Kubernetes reads it in this field: spaces around it and zeros before a number ("010.0.0.0/8") are allowed.
bool is_source_range(std::string_view text) {
  std::string made;
  text = without_spaces(text);
  for (size_t i = 0; i < text.size(); ++i) {
    const bool first = made.empty() || made.back() == '.' || made.back() == '/';
    const bool more = i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9';
    if (text[i] != '0' || !first || !more) made += text[i];
  }
  return parse_cidr(made).has_value();
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
  }
  if (type == "NodePort" && spec["clusterIP"].as_string() == "None") {
    causes.invalid("spec.clusterIPs[0]", spec["clusterIP"], "may not be set to 'None' for NodePort services");
  }
  const Value& ranges = spec["loadBalancerSourceRanges"];
  const std::string field = "spec.LoadBalancerSourceRanges";  // Kubernetes writes it so
  if (ranges.size() > 0 && type != "LoadBalancer") {
    causes.forbidden(field, "may only be used when `type` is 'LoadBalancer'");
  }
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (is_source_range(ranges[i].as_string())) continue;
    causes.invalid(at(field, i), ranges[i], "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
  }
  const Value& policy = spec["externalTrafficPolicy"];
  if (policy.is_empty()) return;
  if (!has_type(spec, {"LoadBalancer", "NodePort"}) && (type == "ExternalName" || spec["externalIPs"].size() == 0)) {
    causes.invalid("spec.externalTrafficPolicy", policy, "may only be set for externally-accessible services");
  } else if (policy.as_string() != "Cluster" && policy.as_string() != "Local") {
    causes.not_supported("spec.externalTrafficPolicy", policy, {"Cluster", "Local"});
  }
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
    if (!spec["clusterIP"].is_empty())
      causes.forbidden("spec.clusterIP", "may not be set when `type` is 'ExternalName'");
  }
  if (type == "LoadBalancer" && headless) {
    causes.invalid("spec.clusterIPs", spec["clusterIPs"], "may not be set to 'None' for LoadBalancer services");
  }
  check_cluster_ips(spec, headless, causes);
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
  check_new(spec, old_of(write)["spec"], check_service_values, causes);
  const Value& before = old_of(write)["spec"];
  if (!before["clusterIP"].is_empty() && before["type"].as_string() != "ExternalName" && type != "ExternalName" &&
      before["clusterIP"] != spec["clusterIP"]) {
    causes.invalid("spec.clusterIPs[0]", spec["clusterIP"], "may not change once set");
  }
}

}  // namespace

const std::vector<Rules>& service_rules() {
  static const std::vector<Rules> kRules = {{.type = "services", .fill = fill_service, .check = check_service}};
  return kRules;
}

}  // namespace shiplog::api
