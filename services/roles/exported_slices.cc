#include "services/roles/exported_slices.h"

#include <algorithm>
#include <set>
#include <utility>

#include "events/base/api_version.h"
#include "events/base/ip_range.h"
#include "events/base/json.h"
#include "events/base/names.h"
#include "events/base/utf8.h"

namespace shiplog {
namespace {

constexpr const char* kSliceVersion = "discovery.k8s.io/v1";
constexpr size_t kMostAddresses = 100;
constexpr size_t kMostPorts = 20'000;
constexpr size_t kLongestText = 253;
constexpr size_t kLongestProblem = 500;

Error invalid(const std::string& field, const std::string& why) { return {ErrorCode::kInvalid, field + ": " + why}; }

bool is_plain_text(const Value& value) {
  return value.is_string() && value.as_string().size() <= kLongestText && is_utf8(value.as_string());
}

/// A field that may be missing, and must be well-formed where it is there.
Result<void> check_text(const Value& text, Problem (*problem_of)(std::string_view), const std::string& field) {
  if (text.is_empty()) return ok();
  if (!text.is_string()) return invalid(field, "it is no text");
  if (const auto problem = problem_of(text.as_string())) return invalid(field, *problem);
  return ok();
}

/// Addresses that are never an endpoint in another place than where they were found.
bool is_special(const IpRange& address) {
  static const std::vector<IpRange> kSpecial = [] {
    std::vector<IpRange> networks;
    for (const char* text : {"0.0.0.0/32", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "::/128", "::1/128",
                             "fe80::/10", "ff00::/8", "::ffff:0:0/96"}) {
      networks.push_back(*parse_cidr(text));
    }
    return networks;
  }();
  return std::ranges::any_of(kSpecial, [&](const IpRange& network) { return network.contains(address); });
}

Result<Value> addresses_of(const Value& endpoint, const std::string& family, const std::string& field) {
  const Value& addresses = endpoint["addresses"];
  if (!addresses.is_array() || addresses.size() == 0 || addresses.size() > kMostAddresses) {
    return invalid(field, "1 to " + std::to_string(kMostAddresses) + " are expected");
  }
  for (const Value& address : addresses.items()) {
    const auto parsed = parse_ip(address.as_string());
    if (!parsed || parsed->size != (family == "IPv4" ? 4U : 16U)) {
      return invalid(field, quoted(address.as_string()) + " is no " + family + " address");
    }
    if (is_special(*parsed)) {
      return invalid(field,
                     quoted(address.as_string()) + " is a loopback, link-local, multicast or unspecified address");
    }
  }
  return addresses;
}

/// Members of `from` with these names that are texts.
void copy_texts(const Value& from, std::initializer_list<const char*> names, Value& to) {
  for (const char* name : names) {
    if (is_plain_text(from[name])) to.set(name, from[name]);
  }
}

Value conditions_of(const Value& endpoint) {
  Value conditions = Value::object();
  for (const char* name : {"ready", "serving", "terminating"}) {
    const Value& condition = endpoint["conditions"][name];
    if (condition.is_bool()) conditions.set(name, condition);
  }
  return conditions;
}

Value hints_of(const Value& endpoint) {
  Value zones = Value::array();
  for (const Value& zone : endpoint["hints"]["forZones"].items()) {
    if (zones.size() < 8 && is_plain_text(zone["name"])) zones.push_back(Value::object({{"name", zone["name"]}}));
  }
  return zones;
}

Result<Value> usable_endpoint(const Value& raw, const std::string& family, const std::string& field) {
  SHIPLOG_TRY(Value addresses, addresses_of(raw, family, field + ".addresses"));
  SHIPLOG_TRY(check_text(raw["hostname"], label_problem, field + ".hostname"));
  SHIPLOG_TRY(check_text(raw["nodeName"], subdomain_problem, field + ".nodeName"));
  Value endpoint = Value::object({{"addresses", std::move(addresses)}});
  if (Value conditions = conditions_of(raw); conditions.size() > 0) endpoint.set("conditions", std::move(conditions));
  copy_texts(raw, {"hostname", "nodeName", "zone"}, endpoint);
  if (raw["targetRef"].is_object()) {
    Value target = Value::object();
    copy_texts(raw["targetRef"], {"apiVersion", "kind", "namespace", "name", "uid"}, target);
    if (target.size() > 0) endpoint.set("targetRef", std::move(target));
  }
  if (Value zones = hints_of(raw); zones.size() > 0) {
    endpoint.set("hints", Value::object({{"forZones", std::move(zones)}}));
  }
  return endpoint;
}

Result<Value> usable_port(const Value& raw, const std::string& field) {
  SHIPLOG_TRY(check_text(raw["name"], label_problem, field + ".name"));
  SHIPLOG_TRY(check_text(raw["appProtocol"], qualified_name_problem, field + ".appProtocol"));
  Value port = Value::object();
  copy_texts(raw, {"name", "appProtocol"}, port);
  const auto protocol = raw["protocol"].as_string("TCP");
  if (protocol != "TCP" && protocol != "UDP" && protocol != "SCTP") {
    return invalid(field + ".protocol", quoted(protocol) + " is none of TCP, UDP and SCTP");
  }
  port.set("protocol", protocol);
  if (!raw["port"].is_null()) {
    const int64_t number = raw["port"].as_int();
    if (number < 1 || number > 65535) return invalid(field + ".port", "it is not between 1 and 65535");
    port.set("port", number);
  }
  return port;
}

Result<void> fill(const Value& raw, const std::string& family, Value& slice) {
  if (raw["endpoints"].size() > kMostEndpoints) {
    return invalid("endpoints", "there are more than " + std::to_string(kMostEndpoints));
  }
  if (raw["ports"].size() > kMostPorts) return invalid("ports", "there are more than " + std::to_string(kMostPorts));
  Value endpoints = Value::array();
  for (size_t at = 0; at < raw["endpoints"].size(); ++at) {
    SHIPLOG_TRY(Value endpoint, usable_endpoint(raw["endpoints"][at], family, "endpoints[" + std::to_string(at) + "]"));
    endpoints.push_back(std::move(endpoint));
  }
  Value ports = Value::array();
  std::set<std::string> names;
  for (size_t at = 0; at < raw["ports"].size(); ++at) {
    const std::string field = "ports[" + std::to_string(at) + "]";
    SHIPLOG_TRY(Value port, usable_port(raw["ports"][at], field));
    if (!names.insert(port["name"].str()).second) return invalid(field + ".name", "another port has it, too");
    ports.push_back(std::move(port));
  }
  slice.set("endpoints", std::move(endpoints));
  slice.set("ports", std::move(ports));
  return ok();
}

void add_problem(CollectedSlices& collected, const std::string& problem) {
  if (collected.problem.size() + problem.size() > kLongestProblem) return;
  collected.problem += (collected.problem.empty() ? "" : "; ") + problem;
}

}  // namespace

std::optional<ExportedService> exported_service(const Value& work) {
  if (!only_kept(work)) return std::nullopt;
  const Value& manifest = work["spec"]["workload"]["manifests"][0];
  const auto kind = manifest["kind"].as_string();
  if (kind != "ServiceExport" && kind != "MultiClusterService") return std::nullopt;
  const Value& metadata = manifest["metadata"];
  // It becomes the value of a label.
  if (label_problem(metadata["name"].as_string()) || metadata["namespace"].is_empty()) return std::nullopt;
  return ExportedService{metadata["namespace"].str(), metadata["name"].str(),
                         kind == "ServiceExport" ? ExportedBy::kServiceExport : ExportedBy::kMultiClusterService};
}

ObjectKey request_key(const std::string& cluster, const ExportedService& service) {
  // The Work of the ServiceExport itself has the name of its kind.
  const char* kind = service.by == ExportedBy::kServiceExport ? "ServiceExport-EndpointSlices" : "MultiClusterService";
  return {type::kWork, execution_space(cluster), work_name(kind, service.ns, service.name)};
}

Result<Value> usable_slice(const Value& raw, const std::string& ns, const std::string& service) {
  const Value& metadata = raw["metadata"];
  if (const auto problem = subdomain_problem(metadata["name"].as_string())) return invalid("metadata.name", *problem);
  if (metadata["namespace"].as_string() != ns) return invalid("metadata.namespace", "it is not " + ns);
  if (label_of(raw, label::kServiceName) != service) {
    return invalid("metadata.labels", std::string{label::kServiceName} + " is not " + service);
  }
  const std::string family = raw["addressType"].str();
  if (family != "IPv4" && family != "IPv6") {
    return invalid("addressType", quoted(family) + " is neither IPv4 nor IPv6");
  }
  Value labels = Value::object({{label::kServiceName, service}});
  const Value& managed_by = metadata["labels"][label::kSliceManagedBy];
  if (managed_by.is_string() && !label_value_problem(managed_by.as_string()))
    labels.set(label::kSliceManagedBy, managed_by);
  Value slice = Value::object(
      {{"apiVersion", kSliceVersion},
       {"kind", "EndpointSlice"},
       {"metadata", Value::object({{"name", metadata["name"]}, {"namespace", ns}, {"labels", std::move(labels)}})},
       {"addressType", family}});
  SHIPLOG_TRY(fill(raw, family, slice));
  return slice;
}

bool brought_by_control_plane(const Value& slice) {
  const auto managed_by = label_of(slice, label::kSliceManagedBy);
  return managed_by == kDispatchedSlices || managed_by == kImportedSlices;
}

CheckedSlice checked_slice(const Value& raw, const std::string& ns, const std::string& service) {
  const auto refused = [&](const std::string& why) {
    const std::string name = quoted(raw["metadata"]["name"].as_string());
    return CheckedSlice{{}, 0, "EndpointSlice " + name + " is left out: " + why};
  };
  auto slice = usable_slice(raw, ns, service);
  if (!slice) return refused(slice.error().message);
  const size_t bytes = to_json(slice.value()).size();
  if (bytes > kMostSliceBytes) {
    return refused("endpoints: it has more than " + std::to_string(kMostSliceBytes) + " bytes");
  }
  return {std::move(slice).value(), bytes, ""};
}

CollectedSlices within_limits(const CheckedSlices& checked) {
  CollectedSlices collected;
  for (const auto& [name, each] : checked) {
    if (!each.problem.empty()) add_problem(collected, each.problem);
  }
  size_t bytes = 0;
  for (const auto& [name, each] : checked) {
    if (!each.problem.empty()) continue;
    bytes += each.bytes;
    if (collected.slices.size() == kMostSlicesOfService || bytes > kMostServiceBytes) {
      const auto usable = std::ranges::count_if(checked, [](const auto& one) { return one.second.problem.empty(); });
      add_problem(collected, "the first " + std::to_string(collected.slices.size()) + " of " + std::to_string(usable) +
                                 " EndpointSlices are collected: at most " + std::to_string(kMostSlicesOfService) +
                                 " with " + std::to_string(kMostServiceBytes) + " bytes together are");
      break;
    }
    collected.slices.push_back(each.slice);
  }
  return collected;
}

CollectedSlices collected_slices(const std::vector<Value>& raw, const ExportedService& service) {
  CheckedSlices checked;
  for (const Value& each : raw) {
    if (brought_by_control_plane(each)) continue;
    checked[each["metadata"]["name"].str()] = checked_slice(each, service.ns, service.name);
  }
  return within_limits(checked);
}

std::optional<CollectedSlices> reported_slices(const Value& request) {
  const auto service = exported_service(request);
  const Value& status = request["status"]["manifestStatuses"][0]["status"];
  if (!service || !status["endpointSlices"].is_array()) return std::nullopt;
  const auto items = status["endpointSlices"].items();
  // What is beyond the limit is not even read.
  std::vector<Value> raw{items.begin(),
                         items.begin() + static_cast<std::ptrdiff_t>(std::min(items.size(), kMostSlicesOfService + 1))};
  CollectedSlices collected = collected_slices(raw, *service);
  const std::string problem = printable(status["problem"].as_string(), kLongestProblem);
  if (!problem.empty()) collected.problem = problem;
  return collected;
}

Value statuses_of_slices(const Value& request, const CollectedSlices& collected) {
  const Value& manifest = request["spec"]["workload"]["manifests"][0];
  const auto [group, version] = split_api_version(manifest["apiVersion"].as_string());
  Value identifier = Value::object({{"ordinal", 0},
                                    {"group", group},
                                    {"version", version},
                                    {"kind", manifest["kind"]},
                                    {"resource", ""},
                                    {"namespace", manifest["metadata"]["namespace"]},
                                    {"name", manifest["metadata"]["name"]}});
  Value status =
      Value::object({{"endpointSlices", Value::array(Value::Array{collected.slices.begin(), collected.slices.end()})}});
  if (!collected.problem.empty()) status.set("problem", collected.problem);
  return Value::array({Value::object({{"identifier", std::move(identifier)},
                                      {"health", collected.problem.empty() ? "Healthy" : "Unhealthy"},
                                      {"status", std::move(status)}})});
}

}  // namespace shiplog
