#include <algorithm>
#include <set>

#include "events/base/base64.h"
#include "events/base/ip_range.h"
#include "events/base/json.h"
#include "events/base/names.h"
#include "events/base/quantity.h"
#include "events/base/utf8.h"
#include "events/state/object.h"
#include "services/api/admission/metadata.h"
#include "services/api/admission/rules.h"

// The core kinds, and RBAC, Ingress, Lease and PriorityClass. Source: CRU-8 to CRU-10, EVENT-2, NSP-3.

namespace shiplog::api {
namespace {

constexpr size_t kMostData = 1U << 20U;  // of a ConfigMap or Secret

// --- Namespace

/// Also of a status write, which may leave the labels out.
void fill_namespace_label(Value& object, const Write&) {
  object.edit("metadata").edit("labels").set("kubernetes.io/metadata.name", object["metadata"]["name"]);
}

void fill_namespace(Value& object, const Write& write) {
  if (write.subresource == "finalize" && write.old != nullptr) {  // SUB-4: nothing but these
    Value finalized = *write.old;
    if (object["spec"]["finalizers"].size() > 0) {
      finalized.edit("spec").set("finalizers", object["spec"]["finalizers"]);
    } else {
      finalized.edit("spec").erase("finalizers");
    }
    object = std::move(finalized);
    return;
  }
  fill_namespace_label(object, write);
  Value& spec = object.edit("spec");
  if (write.old != nullptr) {
    // Only the finalize subresource takes from these: they hold the namespace until its content is removed.
    spec.set("finalizers", (*write.old)["spec"]["finalizers"]);
  } else if (spec["finalizers"].size() == 0) {
    spec.set("finalizers", Value::array({"kubernetes"}));
  }
}

// --- ConfigMap and Secret

void check_keys(const Value& data, const char* field, Causes& causes) {
  for (const auto& entry : data.members()) {
    if (const auto problem = config_key_problem(entry.key())) {
      causes.invalid(std::string{field} + "[" + std::string{entry.key()} + "]", Value{entry.key()}, *problem);
    }
  }
}

/// `immutable: true` holds until the object is deleted.
void check_frozen(const Value& object, const Write& write, std::initializer_list<const char*> fields, Causes& causes) {
  if (!old_of(write)["immutable"].as_bool()) return;
  if (!object["immutable"].as_bool()) causes.forbidden("immutable", "field is immutable when `immutable` is set");
  for (const char* field : fields) {
    const Value& before = old_of(write)[field];
    const Value& after = object[field];
    if (before != after && (before.size() > 0 || after.size() > 0)) {
      causes.forbidden(field, "field is immutable when `immutable` is set");
    }
  }
}

void check_config_map(const Value& object, const Write& write, Causes& causes) {
  check_keys(object["data"], "data", causes);
  check_keys(object["binaryData"], "binaryData", causes);
  size_t size = 0;
  for (const auto& entry : object["data"].members()) size += entry.value.as_string().size();
  for (const auto& entry : object["binaryData"].members()) {
    size += base64_decoded_size(entry.value.as_string());
    if (object["data"].contains(entry.key())) {
      causes.invalid("data[" + std::string{entry.key()} + "]", Value{entry.key()},
                     "duplicate of key present in binaryData");
    }
  }
  if (size > kMostData) causes.too_long("data", kMostData);
  check_frozen(object, write, {"data", "binaryData"}, causes);
}

void fill_secret(Value& object, const Write&) {
  const Value plain = object["stringData"];
  for (const auto& entry : plain.members())
    object.edit("data").set(entry.key(), base64_encode(entry.value.as_string()));
  object.erase("stringData");
}

/// The logins of a registry are a JSON object. Their text is not shown.
void check_logins(const Value& data, const char* key, Causes& causes) {
  const auto text = base64_decode(data[key].as_string());
  if (!data.contains(key) || !text || !is_utf8(*text)) return;  // Go reads what is no UTF-8, too
  const auto logins = parse_json(*text);
  if (logins && (logins.value().is_object() || logins.value().is_null())) return;
  causes.invalid(std::string{"data["} + key + "]", Value{"<secret contents redacted>"}, "must be a JSON object");
}

void check_secret_values(const Value& object, Causes& causes) {
  const std::string_view type = object["type"].as_string();
  if (type == "kubernetes.io/dockercfg") check_logins(object["data"], ".dockercfg", causes);
  if (type == "kubernetes.io/dockerconfigjson") check_logins(object["data"], ".dockerconfigjson", causes);
}

void check_secret(const Value& object, const Write& write, Causes& causes) {
  const Value& data = object["data"];
  check_keys(data, "data", causes);
  size_t size = 0;
  for (const auto& entry : data.members()) size += base64_decoded_size(entry.value.as_string());
  if (size > kMostData) causes.too_long("data", kMostData);
  const auto needs = [&](const char* key) {
    if (!data.contains(key)) causes.required(std::string{"data["} + key + "]");
  };
  const std::string_view type = object["type"].as_string();
  if (type == "kubernetes.io/dockercfg") needs(".dockercfg");
  if (type == "kubernetes.io/dockerconfigjson") needs(".dockerconfigjson");
  if (type == "kubernetes.io/ssh-auth") needs("ssh-privatekey");
  if (type == "kubernetes.io/tls") {
    needs("tls.crt");
    needs("tls.key");
  }
  if (type == "kubernetes.io/basic-auth" && !data.contains("username") && !data.contains("password")) {
    causes.required("data[username]");
    causes.required("data[password]");
  }
  if (type == "kubernetes.io/service-account-token" &&
      annotation_of(object, "kubernetes.io/service-account.name").empty()) {
    causes.required("metadata.annotations[kubernetes.io/service-account.name]");
  }
  if (write.old != nullptr && old_of(write)["type"] != object["type"]) {
    causes.invalid("type", object["type"], "field is immutable");
  }
  check_new(object, old_of(write), check_secret_values, causes);
  check_frozen(object, write, {"data"}, causes);
}

// --- RBAC

void fill_role_binding(Value& object, const Write&) {
  if (object["roleRef"].is_object() && object["roleRef"]["apiGroup"].is_empty()) {
    object.edit("roleRef").set("apiGroup", "rbac.authorization.k8s.io");
  }
  if (object["subjects"].size() == 0) return;
  for (Value& subject : object.edit("subjects").edit_items()) {
    const std::string_view kind = subject["kind"].as_string();
    if ((kind == "User" || kind == "Group") && subject["apiGroup"].is_empty()) {
      subject.set("apiGroup", "rbac.authorization.k8s.io");
    }
  }
}

void check_role_binding(const Value& object, const Write& write, Causes& causes) {
  const Value& role = object["roleRef"];
  const std::string_view kind = role["kind"].as_string();
  if (write.kind.namespaced) {
    if (kind != "Role" && kind != "ClusterRole") {
      causes.not_supported("roleRef.kind", role["kind"], {"ClusterRole", "Role"});
    }
  } else if (kind != "ClusterRole") {
    causes.not_supported("roleRef.kind", role["kind"], {"ClusterRole"});
  }
  if (role["apiGroup"].as_string() != "rbac.authorization.k8s.io") {
    causes.not_supported("roleRef.apiGroup", role["apiGroup"], {"rbac.authorization.k8s.io"});
  }
  if (role["name"].is_empty()) causes.required("roleRef.name");
  const Value& subjects = object["subjects"];
  for (size_t i = 0; i < subjects.size(); ++i) {
    const std::string field = at("subjects", i);
    const Value& subject = subjects[i];
    const std::string_view subject_kind = subject["kind"].as_string();
    if (subject["name"].is_empty()) causes.required(field + ".name");
    if (subject_kind == "ServiceAccount") {
      if (subject["namespace"].is_empty()) causes.required(field + ".namespace");
    } else if (subject_kind != "User" && subject_kind != "Group") {
      causes.not_supported(field + ".kind", subject["kind"], {"Group", "ServiceAccount", "User"});
    } else if (subject["apiGroup"].as_string() != "rbac.authorization.k8s.io") {
      causes.not_supported(field + ".apiGroup", subject["apiGroup"], {"rbac.authorization.k8s.io"});
    }
  }
  if (write.old != nullptr && old_of(write)["roleRef"] != role) {
    causes.invalid("roleRef", role, "cannot change roleRef");
  }
}

void check_role(const Value& object, const Write& write, Causes& causes) {
  const Value& rules = object["rules"];
  for (size_t i = 0; i < rules.size(); ++i) {
    const std::string field = at("rules", i);
    const Value& rule = rules[i];
    if (rule["verbs"].size() == 0) causes.required(field + ".verbs", "verbs must contain at least one value");
    if (rule["nonResourceURLs"].size() > 0) {
      if (write.kind.namespaced) {
        causes.invalid(field + ".nonResourceURLs", rule["nonResourceURLs"],
                       "namespaced rules cannot apply to non-resource URLs");
      }
      if (rule["apiGroups"].size() + rule["resources"].size() + rule["resourceNames"].size() > 0) {
        causes.invalid(field + ".nonResourceURLs", rule["nonResourceURLs"],
                       "rules cannot apply to both regular resources and non-resource URLs");
      }
      continue;
    }
    if (rule["apiGroups"].size() == 0)
      causes.required(field + ".apiGroups", "resource rules must supply at least one api group");
    if (rule["resources"].size() == 0)
      causes.required(field + ".resources", "resource rules must supply at least one resource");
  }
}

// --- Ingress

void check_backend(const Value& backend, const std::string& field, Causes& causes) {
  const Value& service = backend["service"];
  if (service.is_null() == backend["resource"].is_null()) {
    causes.invalid(field, backend, "exactly one of service and resource must be set");
    return;
  }
  if (service.is_null()) return;
  if (const auto problem = service_name_problem(service["name"].as_string())) {
    causes.invalid(field + ".service.name", service["name"], *problem);
  }
  const Value& port = service["port"];
  if (port["name"].is_empty() == (port["number"].as_int() == 0)) {
    causes.required(field + ".service.port", "port name or number is required, and not both");
  }
}

void check_host(const Value& host, const std::string& field, Causes& causes) {
  const std::string_view text = host.as_string();
  if (text.find('*') == std::string_view::npos) {
    if (const auto problem = subdomain_problem(text)) causes.invalid(field, host, *problem);
  } else if (!text.starts_with("*.") || subdomain_problem(text.substr(2))) {
    causes.invalid(field, host,
                   "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must "
                   "consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character "
                   "(e.g. '*.example.com', regex used for validation is "
                   "'\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
  }
}

/// The names of an Ingress's rules and certificates, which older builds did not check.
void check_hosts(const Value& spec, Causes& causes) {
  for (size_t i = 0; i < spec["rules"].size(); ++i) {
    const Value& host = spec["rules"][i]["host"];
    if (host.is_empty()) continue;
    const std::string field = at("spec.rules", i) + ".host";
    if (parse_ip(host.as_string())) causes.invalid(field, host, "must be a DNS name, not an IP address");
    check_host(host, field, causes);
  }
  for (size_t i = 0; i < spec["tls"].size(); ++i) {
    const Value& hosts = spec["tls"][i]["hosts"];
    for (size_t j = 0; j < hosts.size(); ++j) check_host(hosts[j], at(at("spec.tls", i) + ".hosts", j), causes);
  }
}

}  // namespace

void check_ingress(const Value& object, const Write& write, Causes& causes) {
  constexpr const char* kClass = "kubernetes.io/ingress.class";
  const Value& annotation = object["metadata"]["annotations"][kClass];
  if (write.old == nullptr && write.kind.group == "networking.k8s.io" && !annotation.is_null() &&
      !object["spec"]["ingressClassName"].is_null()) {
    causes.invalid(std::string{"metadata.annotations["} + kClass + "]", annotation,
                   "can not be set when the class field is also set");
  }
  const Value& spec = object["spec"];
  if (spec["rules"].size() == 0 && spec["defaultBackend"].is_null()) {
    causes.invalid("spec", spec, "either `defaultBackend` or `rules` must be specified");
  }
  if (!spec["defaultBackend"].is_null()) check_backend(spec["defaultBackend"], "spec.defaultBackend", causes);
  for (size_t i = 0; i < spec["rules"].size(); ++i) {
    const Value& http = spec["rules"][i]["http"];
    const std::string field = at("spec.rules", i) + ".http.paths";
    if (!http.is_null() && http["paths"].size() == 0) causes.required(field);
    for (size_t j = 0; j < http["paths"].size(); ++j) {
      const Value& path = http["paths"][j];
      const std::string here = at(field, j);
      const std::string_view type = path["pathType"].as_string();
      if (type.empty()) {
        causes.required(here + ".pathType", "pathType must be specified");
      } else if (type != "Exact" && type != "Prefix" && type != "ImplementationSpecific") {
        causes.not_supported(here + ".pathType", path["pathType"], {"Exact", "ImplementationSpecific", "Prefix"});
      } else if (type != "ImplementationSpecific" && !path["path"].as_string().starts_with('/')) {
        causes.invalid(here + ".path", path["path"], "must be an absolute path");
      }
      check_backend(path["backend"], here + ".backend", causes);
    }
  }
  check_new(spec, old_of(write)["spec"], check_hosts, causes);
}

namespace {

// --- Storage, quotas, priorities

void check_access_modes(const Value& spec, Causes& causes) {
  const std::initializer_list<std::string_view> modes = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                                         "ReadWriteOncePod"};
  for (const Value& mode : spec["accessModes"].items()) {
    if (std::find(modes.begin(), modes.end(), mode.as_string()) != modes.end()) continue;
    causes.not_supported("spec.accessModes", mode, modes);
  }
}

void check_claim(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  if (spec["accessModes"].size() == 0) causes.required("spec.accessModes", "at least 1 access mode is required");
  check_new(spec, old_of(write)["spec"], check_access_modes, causes);
  if (spec["resources"]["requests"]["storage"].is_null()) causes.required("spec.resources[storage]");
  if (write.old == nullptr) return;
  Value allowed = old_of(write)["spec"];
  for (const char* name : {"resources", "volumeAttributesClassName", "volumeName"}) {
    allowed.erase(name);
    if (const Value* value = spec.find(name)) allowed.set(name, *value);
  }
  if (allowed != spec) {
    causes.forbidden("spec",
                     "spec is immutable after creation except resources.requests and volumeAttributesClassName "
                     "for bound claims");
  }
}

void check_volume(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  if (spec["accessModes"].size() == 0) causes.required("spec.accessModes");
  check_new(spec, old_of(write)["spec"], check_access_modes, causes);
  if (spec["capacity"]["storage"].is_null()) causes.required("spec.capacity");
  const std::string_view policy = spec["persistentVolumeReclaimPolicy"].as_string();
  if (policy != "Retain" && policy != "Delete" && policy != "Recycle") {
    causes.not_supported("spec.persistentVolumeReclaimPolicy", spec["persistentVolumeReclaimPolicy"],
                         {"Delete", "Recycle", "Retain"});
  }
}

/// Two amounts of one resource in an item of a LimitRange, the first of which must not exceed the second. `about`: the
/// one that is reported; `shown`: whose value.
struct LimitOrder {
  const char* lower;
  const char* upper;
  const char* about;
  const char* shown;
  const char* lower_words;
  const char* upper_words;
};

constexpr LimitOrder kLimitOrders[] = {
    {"min", "max", "min", "min", "min value ", "max value "},
    {"min", "defaultRequest", "defaultRequest", "defaultRequest", "min value ", "default request value "},
    {"defaultRequest", "max", "defaultRequest", "defaultRequest", "default request value ", "max value "},
    {"defaultRequest", "default", "defaultRequest", "defaultRequest", "default request value ", "default limit value "},
    {"min", "default", "default", "min", "min value ", "default value "},
    {"default", "max", "default", "max", "default value ", "max value "},
};

void check_limits(const Value& item, const std::string& field, Causes& causes) {
  for (const LimitOrder& order : kLimitOrders) {
    for (const auto& lower : item[order.lower].members()) {
      const Value& upper = item[order.upper][lower.key()];
      const auto least = parse_quantity(lower.value.as_string());
      const auto most = parse_quantity(upper.as_string());
      if (!least || !most || least.value() <= most.value()) continue;
      const std::string key{lower.key()};
      causes.invalid(field + "." + order.about + "[" + key + "]", item[order.shown][key],
                     order.lower_words + lower.value.str() + " is greater than " + order.upper_words + upper.str());
    }
  }
}

void check_limit_range(const Value& spec, Causes& causes) {
  std::set<std::string_view> types;
  for (size_t i = 0; i < spec["limits"].size(); ++i) {
    const Value& item = spec["limits"][i];
    const std::string field = at("spec.limits", i);
    const std::string_view type = item["type"].as_string();
    if (const auto problem = qualified_name_problem(type)) {
      causes.invalid(field + ".type", Value{type}, *problem);
    } else if (type.find('/') == std::string_view::npos && type != "Pod" && type != "Container" &&
               type != "PersistentVolumeClaim") {
      causes.invalid(field + ".type", Value{type}, "must be a standard limit type or fully qualified");
    }
    if (!types.insert(type).second) causes.duplicate(field + ".type", item["type"]);
    if (type == "Pod") {
      for (const char* name : {"default", "defaultRequest"}) {
        if (item[name].size() > 0) causes.forbidden(field + "." + name, "may not be specified when `type` is 'Pod'");
      }
    }
    if (type == "PersistentVolumeClaim" && item["min"]["storage"].is_null() && item["max"]["storage"].is_null()) {
      causes.required(field + ".limits",
                      "either minimum or maximum storage value is required, but neither was provided");
    }
    check_limits(item, field, causes);
  }
}

void check_limits_of_namespace(const Value& object, const Write& write, Causes& causes) {
  check_new(object["spec"], old_of(write)["spec"], check_limit_range, causes);
}

void check_resource_quota(const Value& object, const Write&, Causes& causes) {
  for (const auto& limit : object["spec"]["hard"].members()) {
    const std::string field = "spec.hard[" + std::string{limit.key()} + "]";
    if (const auto problem = qualified_name_problem(limit.key())) causes.invalid(field, Value{limit.key()}, *problem);
    const auto quantity = parse_quantity(limit.value.as_string());
    if (quantity && quantity.value().negative()) {
      causes.invalid(field, limit.value, "must be greater than or equal to 0");
    }
  }
}

void check_priority_class(const Value& object, const Write& write, Causes& causes) {
  if (object["metadata"]["name"].as_string().starts_with("system-")) {
    causes.forbidden("metadata.name", "priority class names with 'system-' prefix are reserved for system use only");
  }
  if (object["value"].as_int() > 1'000'000'000) {
    causes.forbidden("value", "maximum allowed value of a user defined priority is 1000000000");
  }
  if (write.old == nullptr) return;
  if (old_of(write)["value"].as_int() != object["value"].as_int()) {
    causes.forbidden("value", "may not be changed in an update.");
  }
  if (old_of(write)["preemptionPolicy"] != object["preemptionPolicy"]) {
    causes.invalid("preemptionPolicy", object["preemptionPolicy"], "field is immutable");
  }
}

// --- Event, Lease, Node

void check_event(const Value& object, const Write&, Causes& causes) {
  const std::string_view involved = object["involvedObject"]["namespace"].as_string();
  const std::string_view own = object["metadata"]["namespace"].as_string();
  if (involved.empty() ? own != "default" && own != "kube-system" : involved != own) {
    causes.invalid("involvedObject.namespace", object["involvedObject"]["namespace"], "does not match event.namespace");
  }
}

void check_lease(const Value& object, const Write&, Causes& causes) {
  const Value& spec = object["spec"];
  if (const Value& seconds = spec["leaseDurationSeconds"]; !seconds.is_null() && seconds.as_int() <= 0) {
    causes.invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0");
  }
  if (const Value& count = spec["leaseTransitions"]; count.as_int() < 0) {
    causes.invalid("spec.leaseTransitions", count, "must be greater than or equal to 0");
  }
}

void check_node(const Value& object, const Write&, Causes& causes) {
  const Value& taints = object["spec"]["taints"];
  for (size_t i = 0; i < taints.size(); ++i) {
    const std::string field = at("spec.taints", i);
    if (const auto problem = qualified_name_problem(taints[i]["key"].as_string())) {
      causes.invalid(field + ".key", taints[i]["key"], *problem);
    }
    const std::string_view effect = taints[i]["effect"].as_string();
    if (effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute") {
      causes.not_supported(field + ".effect", taints[i]["effect"], {"NoExecute", "NoSchedule", "PreferNoSchedule"});
    }
  }
}

}  // namespace

const std::vector<Rules>& core_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "namespaces", .fill = fill_namespace, .fill_status = fill_namespace_label},
      {.type = "configmaps", .check = check_config_map},
      {.type = "secrets", .fill = fill_secret, .check = check_secret},
      {.type = "rolebindings.rbac.authorization.k8s.io", .fill = fill_role_binding, .check = check_role_binding},
      {.type = "clusterrolebindings.rbac.authorization.k8s.io", .fill = fill_role_binding, .check = check_role_binding},
      {.type = "roles.rbac.authorization.k8s.io", .check = check_role},
      {.type = "clusterroles.rbac.authorization.k8s.io", .check = check_role},
      {.type = "ingresses.networking.k8s.io", .check = check_ingress},
      {.type = "persistentvolumeclaims", .check = check_claim},
      {.type = "persistentvolumes", .check = check_volume},
      {.type = "limitranges", .check = check_limits_of_namespace},
      {.type = "resourcequotas", .check = check_resource_quota},
      {.type = "priorityclasses.scheduling.k8s.io", .check = check_priority_class},
      {.type = "events", .check = check_event},
      {.type = "leases.coordination.k8s.io", .check = check_lease},
      {.type = "nodes", .check = check_node},
  };
  return kRules;
}

}  // namespace shiplog::api
