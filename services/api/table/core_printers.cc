#include <algorithm>
#include <set>

#include "events/base/ascii.h"
#include "events/state/condition.h"
#include "events/state/object.h"
#include "services/api/table/cells.h"

// TBL-6, TBL-7.

namespace shiplog::api {
namespace {

void print_config_map(const Value& object, UtcMillis now, TableRow& row) {
  row.cells = Value::array(
      {object["metadata"]["name"], object["data"].size() + object["binaryData"].size(), age_of(object, now)});
}

void print_secret(const Value& object, UtcMillis now, TableRow& row) {
  row.cells =
      Value::array({object["metadata"]["name"], object["type"].str(), object["data"].size(), age_of(object, now)});
}

void print_service_account(const Value& object, UtcMillis now, TableRow& row) {
  row.cells = Value::array({object["metadata"]["name"], object["secrets"].size(), age_of(object, now)});
}

std::vector<std::string> strings_of(const Value& list) {
  std::vector<std::string> strings;
  for (const Value& item : list.items()) strings.push_back(item.str());
  return strings;
}

std::vector<std::string> balancer_addresses(const Value& status) {
  std::vector<std::string> addresses;
  for (const Value& ingress : status["loadBalancer"]["ingress"].items()) {
    const std::string address = ingress["ip"].is_empty() ? ingress["hostname"].str() : ingress["ip"].str();
    if (!address.empty()) addresses.push_back(address);
  }
  return addresses;
}

std::string external_ip(const Value& service) {
  const Value& spec = service["spec"];
  const std::string_view type = spec["type"].as_string();
  if (type == "ExternalName") return or_none(spec["externalName"].as_string());
  const std::vector<std::string> external = strings_of(spec["externalIPs"]);
  if (type != "LoadBalancer") return or_none(joined(external));
  std::vector<std::string> addresses = balancer_addresses(service["status"]);
  if (addresses.empty() && external.empty()) return "<pending>";
  addresses.insert(addresses.end(), external.begin(), external.end());
  return joined(addresses);
}

void print_service(const Value& service, UtcMillis now, TableRow& row) {
  const Value& spec = service["spec"];
  std::vector<std::string> ports;
  for (const Value& port : spec["ports"].items()) {
    std::string text = std::to_string(port["port"].as_int());
    if (port["nodePort"].as_int() > 0) text += ":" + std::to_string(port["nodePort"].as_int());
    ports.push_back(text + "/" + std::string{port["protocol"].as_string("TCP")});
  }
  row.cells = Value::array({service["metadata"]["name"], spec["type"].as_string("ClusterIP"),
                            or_none(spec["clusterIP"].as_string()), external_ip(service), or_none(joined(ports)),
                            age_of(service, now), labels_text(spec["selector"])});
}

void print_ingress(const Value& ingress, UtcMillis now, TableRow& row) {
  const Value& spec = ingress["spec"];
  std::vector<std::string> hosts;
  for (const Value& rule : spec["rules"].items()) {
    if (!rule["host"].is_empty()) hosts.push_back(rule["host"].str());
  }
  std::string shown =
      hosts.empty() ? "*" : joined({hosts.begin(), hosts.begin() + std::min<std::ptrdiff_t>(3, std::ssize(hosts))});
  if (hosts.size() > 3) shown += " + " + std::to_string(hosts.size() - 3) + " more...";
  row.cells = Value::array({ingress["metadata"]["name"], or_none(spec["ingressClassName"].as_string()), shown,
                            joined(balancer_addresses(ingress["status"])), spec["tls"].size() > 0 ? "80, 443" : "80",
                            age_of(ingress, now)});
}

std::string node_status(const Value& node) {
  const Value& ready = condition_of(node, "Ready");
  const std::string status =
      ready.is_null() ? "Unknown" : (ready["status"].as_string() == "True" ? "Ready" : "NotReady");
  return node["spec"]["unschedulable"].as_bool() ? status + ",SchedulingDisabled" : status;
}

std::string node_roles(const Value& node) {
  std::set<std::string> roles;
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  for (const auto& label : node["metadata"]["labels"].members()) {
    if (label.key().starts_with(kPrefix) && label.key().size() > kPrefix.size()) {
      roles.emplace(label.key().substr(kPrefix.size()));
    }
    if (label.key() == "kubernetes.io/role" && !label.value.is_empty()) roles.insert(label.value.str());
  }
  return or_none(joined({roles.begin(), roles.end()}));
}

std::string node_address(const Value& node, const char* type) {
  for (const Value& address : node["status"]["addresses"].items()) {
    if (address["type"].as_string() == type) return address["address"].str();
  }
  return "<none>";
}

void print_node(const Value& node, UtcMillis now, TableRow& row) {
  const Value& info = node["status"]["nodeInfo"];
  const auto known = [&](const char* field) {
    return info[field].is_empty() ? std::string{"<unknown>"} : info[field].str();
  };
  row.cells =
      Value::array({node["metadata"]["name"], node_status(node), node_roles(node), age_of(node, now),
                    info["kubeletVersion"].str(), node_address(node, "InternalIP"), node_address(node, "ExternalIP"),
                    known("osImage"), known("kernelVersion"), known("containerRuntimeVersion")});
}

void print_event(const Value& event, UtcMillis now, TableRow& row) {
  const Value& involved = event["involvedObject"];
  const std::string object = lower_case(involved["kind"].as_string()) + "/" + involved["name"].str();
  const Value& series = event["series"];
  const Value& first = event["firstTimestamp"].is_empty() ? event["eventTime"] : event["firstTimestamp"];
  const Value& last = !series.is_null()                    ? series["lastObservedTime"]
                      : !event["lastTimestamp"].is_empty() ? event["lastTimestamp"]
                                                           : first;
  const int64_t count = !series.is_null() ? series["count"].as_int() : event["count"].as_int();
  std::string source{event["source"]["component"].is_empty() ? event["reportingComponent"].as_string()
                                                             : event["source"]["component"].as_string()};
  const std::string_view host =
      event["source"]["host"].is_empty() ? event["reportingInstance"].as_string() : event["source"]["host"].as_string();
  if (!host.empty()) source.append(", ").append(host);
  std::string message = event["message"].str();
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
  row.cells =
      Value::array({age(last, now), event["type"].str(), event["reason"].str(), object, involved["fieldPath"].str(),
                    source, message, age(first, now), std::max<int64_t>(count, 1), event["metadata"]["name"]});
}

void print_role_binding(const Value& binding, UtcMillis now, TableRow& row) {
  std::vector<std::string> users, groups, accounts;
  for (const Value& subject : binding["subjects"].items()) {
    const std::string_view kind = subject["kind"].as_string();
    if (kind == "User") users.push_back(subject["name"].str());
    if (kind == "Group") groups.push_back(subject["name"].str());
    if (kind == "ServiceAccount") accounts.push_back(subject["namespace"].str() + "/" + subject["name"].str());
  }
  row.cells = Value::array({binding["metadata"]["name"],
                            binding["roleRef"]["kind"].str() + "/" + binding["roleRef"]["name"].str(),
                            age_of(binding, now), joined(users, ", "), joined(groups, ", "), joined(accounts, ", ")});
}

void print_resource_quota(const Value& quota, UtcMillis now, TableRow& row) {
  std::vector<std::string> requests, limits;
  for (const auto& hard : quota["status"]["hard"].members()) {
    const Value& used = quota["status"]["used"][hard.key()];
    const std::string text = std::string{hard.key()} + ": " + std::string{used.as_string("0")} + "/" + hard.value.str();
    (hard.key().starts_with("limits") ? limits : requests).push_back(text);
  }
  row.cells =
      Value::array({quota["metadata"]["name"], joined(requests, ", "), joined(limits, ", "), age_of(quota, now)});
}

std::string phase_of(const Value& object) { return deleting(object) ? "Terminating" : object["status"]["phase"].str(); }

std::string storage_class(const Value& object) {
  const std::string_view legacy = annotation_of(object, "volume.beta.kubernetes.io/storage-class");
  return std::string{legacy.empty() ? object["spec"]["storageClassName"].as_string() : legacy};
}

void print_volume(const Value& volume, UtcMillis now, TableRow& row) {
  const Value& spec = volume["spec"];
  const Value& claim = spec["claimRef"];
  row.cells =
      Value::array({volume["metadata"]["name"], spec["capacity"]["storage"].str(), access_modes(spec["accessModes"]),
                    spec["persistentVolumeReclaimPolicy"].str(), phase_of(volume),
                    claim.is_null() ? std::string{} : claim["namespace"].str() + "/" + claim["name"].str(),
                    storage_class(volume), spec["volumeAttributesClassName"].as_string("<unset>"),
                    volume["status"]["reason"].str(), age_of(volume, now), spec["volumeMode"].as_string("<unset>")});
}

void print_claim(const Value& claim, UtcMillis now, TableRow& row) {
  const Value& spec = claim["spec"];
  const Value& status = claim["status"];
  const bool bound = !spec["volumeName"].is_empty();
  row.cells = Value::array({claim["metadata"]["name"], phase_of(claim), spec["volumeName"].str(),
                            bound ? status["capacity"]["storage"].str() : std::string{},
                            bound ? access_modes(status["accessModes"]) : std::string{}, storage_class(claim),
                            spec["volumeAttributesClassName"].as_string("<unset>"), age_of(claim, now),
                            spec["volumeMode"].as_string("<unset>")});
}

void print_cluster(const Value& cluster, UtcMillis now, TableRow& row) {  // KIND-15
  const Value& spec = cluster["spec"];
  const Value& condition = condition_of(cluster, "Ready");
  const std::string ready = condition.is_null() ? "Unknown" : condition["status"].str();
  row.cells = Value::array(
      {cluster["metadata"]["name"], cluster["status"]["kubernetesVersion"].str(), spec["syncMode"].str(), ready,
       age_of(cluster, now), or_none(joined(strings_of(spec["zones"]))), or_none(spec["region"].as_string()),
       or_none(spec["provider"].as_string()), spec["apiEndpoint"].str(), or_none(spec["proxyURL"].as_string())});
}

const std::vector<Column>& binding_columns() {
  static const std::vector<Column> kColumns = {
      kName, {"Role"}, kAge, {"Users", "string", 1}, {"Groups", "string", 1}, {"ServiceAccounts", "string", 1}};
  return kColumns;
}

std::vector<Column> node_columns() {
  return {kName,
          {"Status"},
          {"Roles"},
          kAge,
          {"Version"},
          {"Internal-IP", "string", 1},
          {"External-IP", "string", 1},
          {"OS-Image", "string", 1},
          {"Kernel-Version", "string", 1},
          {"Container-Runtime", "string", 1}};
}

std::vector<Column> event_columns() {
  return {{"Last Seen"},
          {"Type"},
          {"Reason"},
          {"Object"},
          {"Subobject", "string", 1},
          {"Source", "string", 1},
          {"Message"},
          {"First Seen", "string", 1},
          {"Count", "integer", 1},
          {"Name", "string", 1, "name"}};
}

std::vector<Column> volume_columns() {
  return {kName,      {"Capacity"}, {"Access Modes"},           {"Reclaim Policy"},
          {"Status"}, {"Claim"},    {"StorageClass"},           {"VolumeAttributesClass"},
          {"Reason"}, kAge,         {"VolumeMode", "string", 1}};
}

std::vector<Column> claim_columns() {
  return {kName,
          {"Status"},
          {"Volume"},
          {"Capacity"},
          {"Access Modes"},
          {"StorageClass"},
          {"VolumeAttributesClass"},
          kAge,
          {"VolumeMode", "string", 1}};
}

std::vector<Column> cluster_columns() {
  return {kName,
          {"Version"},
          {"Mode"},
          {"Ready"},
          kAge,
          {"Zones", "string", 1},
          {"Region", "string", 1},
          {"Provider", "string", 1},
          {"API-Endpoint", "string", 1},
          {"Proxy-URL", "string", 1}};
}

}  // namespace

const std::vector<Printer>& core_printers() {
  static const std::vector<Printer> kPrinters = {
      {"configmaps", {kName, {"Data", "integer"}, kAge}, print_config_map},
      {"secrets", {kName, {"Type"}, {"Data", "integer"}, kAge}, print_secret},
      {"serviceaccounts", {kName, {"Secrets", "integer"}, kAge}, print_service_account},
      {"services",
       {kName, {"Type"}, {"Cluster-IP"}, {"External-IP"}, {"Port(s)"}, kAge, {"Selector", "string", 1}},
       print_service},
      {"ingresses.networking.k8s.io", {kName, {"Class"}, {"Hosts"}, {"Address"}, {"Ports"}, kAge}, print_ingress},
      {"nodes", node_columns(), print_node},
      {"events", event_columns(), print_event},
      {"rolebindings.rbac.authorization.k8s.io", binding_columns(), print_role_binding},
      {"clusterrolebindings.rbac.authorization.k8s.io", binding_columns(), print_role_binding},
      {"resourcequotas", {kName, {"Request"}, {"Limit"}, kAge}, print_resource_quota},
      {"persistentvolumes", volume_columns(), print_volume},
      {"persistentvolumeclaims", claim_columns(), print_claim},
      {type::kCluster, cluster_columns(), print_cluster},
  };
  return kPrinters;
}

}  // namespace shiplog::api
