#include <algorithm>
#include <set>

#include "events/base/base64.h"
#include "events/base/names.h"
#include "events/kinds/canonical_quantity.h"
#include "events/state/object.h"
#include "services/api/admission/rules.h"
#include "services/cron/cron_schedule.h"
#include "services/interpreter/customizations.h"
#include "services/interpreter/webhooks.h"
#include "services/roles/service_clusters.h"

// Karmada's kinds around the core pipeline: autoscaling (KIND-11, KIND-12), networking (KIND-13, KIND-14), interpreter
// webhooks (KIND-10).

namespace shiplog::api {
namespace {

void check_target(const Value& target, const std::string& field, Causes& causes) {
  for (const char* name : {"kind", "name"}) {
    if (target[name].is_empty()) {
      causes.required(field + "." + name);
    } else if (const auto problem = path_segment_problem(target[name].as_string())) {
      causes.invalid(field + "." + name, target[name], *problem);
    }
  }
}

// --- FederatedHPA and HorizontalPodAutoscaler

/// More of a FederatedHPA are not measured: each is computed for each pod.
constexpr size_t kMostMetrics = 16;

/// A number becomes text, as upstream, where a webhook writes the typed object anew.
void write_quantities(Value& owner, std::initializer_list<const char*> fields) {
  for (const char* field : fields) {
    if (auto canonical = canonical_quantity(owner[field])) owner.set(field, *std::move(canonical));
  }
}

/// The values of `metrics` that a metric should have.
void write_target_quantities(Value& metrics) {
  for (Value& metric : metrics.edit_items()) {
    for (const char* source : {"resource", "containerResource", "pods", "object", "external"}) {
      if (!metric[source]["target"].is_object()) continue;
      write_quantities(metric.edit(source).edit("target"), {"value", "averageValue"});
    }
  }
}

void fill_autoscaler(Value& object, const Write&) {
  if (!object["spec"].is_object()) return;
  Value& spec = object.edit("spec");
  if (spec["minReplicas"].is_null()) spec.set("minReplicas", 1);
  if (spec["metrics"].size() == 0) {
    const Value target = Value::object({{"type", "Utilization"}, {"averageUtilization", 80}});
    const Value resource = Value::object({{"name", "cpu"}, {"target", target}});
    spec.set("metrics", Value::array({Value::object({{"type", "Resource"}, {"resource", resource}})}));
  }
  write_target_quantities(spec.edit("metrics"));
  if (!spec["behavior"].is_object()) return;
  const auto policy = [](const char* type, int value) {
    return Value::object({{"type", type}, {"value", value}, {"periodSeconds", 15}});
  };
  Value& behavior = spec.edit("behavior");
  for (const char* direction : {"scaleUp", "scaleDown"}) {
    const bool up = std::string_view{direction} == "scaleUp";
    Value& rules = behavior.edit(direction);
    if (!rules.is_object()) rules = Value::object();
    write_quantities(rules, {"tolerance"});
    if (rules["selectPolicy"].is_null()) rules.set("selectPolicy", "Max");
    if (up && rules["stabilizationWindowSeconds"].is_null()) rules.set("stabilizationWindowSeconds", 0);
    if (!rules["policies"].is_null()) continue;
    rules.set("policies",
              up ? Value::array({policy("Pods", 4), policy("Percent", 100)}) : Value::array({policy("Percent", 100)}));
  }
}

void check_behavior(const Value& rules, const std::string& field, Causes& causes) {
  if (rules.is_null()) return;
  const Value& window = rules["stabilizationWindowSeconds"];
  if (window.as_int() < 0 || window.as_int() > 3600) {
    causes.invalid(field + ".stabilizationWindowSeconds", window, "must be between 0 and 3600");
  }
  const std::string_view select = rules["selectPolicy"].as_string();
  if (select != "Max" && select != "Min" && select != "Disabled") {
    causes.not_supported(field + ".selectPolicy", rules["selectPolicy"], {"Disabled", "Max", "Min"});
  }
  if (rules["policies"].size() == 0) causes.required(field + ".policies", "must specify at least one Policy");
  for (size_t i = 0; i < rules["policies"].size(); ++i) {
    const Value& policy = rules["policies"][i];
    const std::string here = at(field + ".policies", i);
    if (policy["type"].as_string() != "Pods" && policy["type"].as_string() != "Percent") {
      causes.not_supported(here + ".type", policy["type"], {"Percent", "Pods"});
    }
    if (policy["value"].as_int() <= 0) causes.invalid(here + ".value", policy["value"], "must be greater than zero");
    const int64_t period = policy["periodSeconds"].as_int();
    if (period <= 0 || period > 1800) {
      causes.invalid(here + ".periodSeconds", policy["periodSeconds"], "must be greater than zero and at most 1800");
    }
  }
}

/// How much of the metric there should be, in the one form that its type names.
void check_metric_target(const Value& target, const std::string& field, Causes& causes) {
  const std::string_view type = target["type"].as_string();
  if (type.empty()) return causes.required(field + ".type", "must specify a metric target type");
  if (type != "Utilization" && type != "Value" && type != "AverageValue") {
    return causes.invalid(field + ".type", target["type"], "must be either Utilization, Value, or AverageValue");
  }
  const Value& utilization = target["averageUtilization"];
  if (!utilization.is_null() && utilization.as_int() < 1) {
    causes.invalid(field + ".averageUtilization", utilization, "must be greater than 0");
  }
  for (const char* amount : {"value", "averageValue"}) {
    if (target[amount].is_null()) continue;
    const auto quantity = quantity_in(target[amount]);
    if (quantity && (quantity.value().negative() || quantity.value().is_zero())) {
      causes.invalid(field + "." + amount, target[amount], "must be positive");
    }
  }
}

void check_source(std::string_view type, const Value& source, const std::string& field, Causes& causes) {
  check_metric_target(source["target"], field + ".target", causes);
  if (type == "Resource" || type == "ContainerResource") {
    if (source["name"].is_empty()) causes.required(field + ".name", "must specify a resource name");
    const Value& target = source["target"];
    if (target["averageUtilization"].is_null() && target["averageValue"].is_null()) {
      causes.required(field + ".target.averageUtilization",
                      "must set either a target raw value or a target utilization");
    } else if (!target["averageUtilization"].is_null() && !target["averageValue"].is_null()) {
      causes.forbidden(field + ".target.averageValue", "may not set both a target raw value and a target utilization");
    }
  } else if (source["metric"]["name"].is_empty()) {
    causes.required(field + ".metric.name", "must specify a metric name");
  }
  if (type == "ContainerResource" && source["container"].is_empty()) {
    causes.required(field + ".container", "must specify a container");
  }
  if (type == "Object") check_target(source["describedObject"], field + ".describedObject", causes);
}

void check_metrics(const Value& metrics, bool external, Causes& causes) {
  static constexpr std::pair<std::string_view, const char*> kSources[] = {{"Object", "object"},
                                                                          {"Pods", "pods"},
                                                                          {"Resource", "resource"},
                                                                          {"ContainerResource", "containerResource"},
                                                                          {"External", "external"}};
  if (!external && metrics.size() > kMostMetrics) {
    return causes.too_many("spec.metrics", metrics.size(), kMostMetrics);
  }
  for (size_t i = 0; i < metrics.size(); ++i) {
    const std::string field = at("spec.metrics", i);
    const std::string_view type = metrics[i]["type"].as_string();
    const auto* source =
        std::find_if(std::begin(kSources), std::end(kSources), [&](const auto& each) { return each.first == type; });
    if (source == std::end(kSources) || (type == "External" && !external)) {
      causes.not_supported(field + ".type", metrics[i]["type"], {"ContainerResource", "Object", "Pods", "Resource"});
    } else if (metrics[i][source->second].is_null()) {
      causes.required(field + "." + source->second, "must populate information for the given metric source");
    } else if (metrics[i].size() > 2) {
      causes.forbidden(field, "must populate the given metric source only");
    } else {
      check_source(type, metrics[i][source->second], field + "." + source->second, causes);
    }
  }
}

void check_autoscaler(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  check_target(spec["scaleTargetRef"], "spec.scaleTargetRef", causes);
  if (spec["minReplicas"].as_int() < 1) {
    causes.invalid("spec.minReplicas", spec["minReplicas"], "must be greater than or equal to 1");
  }
  if (spec["maxReplicas"].as_int() < 1) {
    causes.invalid("spec.maxReplicas", spec["maxReplicas"], "must be greater than 0");
  }
  if (spec["maxReplicas"].as_int() < spec["minReplicas"].as_int()) {
    causes.invalid("spec.maxReplicas", spec["maxReplicas"], "must be greater than or equal to `minReplicas`");
  }
  check_metrics(spec["metrics"], write.kind.builtin, causes);
  check_behavior(spec["behavior"]["scaleUp"], "spec.behavior.scaleUp", causes);
  check_behavior(spec["behavior"]["scaleDown"], "spec.behavior.scaleDown", causes);
}

// --- CronFederatedHPA

// A CronFederatedHPA does not write more often than a schedule of cron can; each run reads all rules.
constexpr Millis kLeastInterval{60'000};
constexpr size_t kMostRules = 256;

void check_cron_rule(const Value& rule, const std::string& field, bool scales_autoscaler, Causes& causes) {
  const Value& schedule = rule["schedule"];
  if (const auto parsed = cron::CronSchedule::parse(schedule.as_string()); !parsed) {
    causes.invalid(field + ".schedule", schedule, "invalid cron format: " + parsed.error().message);
  } else if (schedule.as_string().find("TZ=") != std::string_view::npos) {
    causes.invalid(field + ".schedule", schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  } else if (const Millis every = parsed.value().every(); every.value > 0 && every < kLeastInterval) {
    causes.invalid(field + ".schedule", schedule, "must be at least @every 1m");
  }
  if (const Value& zone = rule["timeZone"]; !zone.is_empty()) {
    if (const auto problem = cron::time_zone_problem(zone.as_string())) {
      causes.invalid(field + ".timeZone", zone, *problem);
    }
  }
  const Value& least = rule["targetMinReplicas"];
  const Value& most = rule["targetMaxReplicas"];
  if (!scales_autoscaler) {
    const Value& replicas = rule["targetReplicas"];
    if (replicas.is_null()) {
      causes.invalid(field, Value{""}, "targetReplicas cannot be nil if you want to scale a workload");
    } else if (replicas.as_int() < 0) {
      causes.invalid(field + ".targetReplicas", replicas, "targetReplicas should be larger than or equal to 0");
    }
    return;
  }
  if (least.is_null() && most.is_null()) {
    causes.invalid(field, Value{""},
                   "targetMinReplicas and targetMaxReplicas cannot be nil at the same time if you want to scale "
                   "FederatedHPA");
  }
  if (!least.is_null() && least.as_int() <= 0) {
    causes.invalid(field + ".targetMinReplicas", least, "targetMinReplicas should be larger than 0");
  }
  if (!most.is_null() && most.as_int() <= 0) {
    causes.invalid(field + ".targetMaxReplicas", most, "targetMaxReplicas should be larger than 0");
  }
  if (!least.is_null() && !most.is_null() && least.as_int() > most.as_int()) {
    causes.invalid(field + ".targetMinReplicas", least,
                   "targetMaxReplicas should be larger than or equal to targetMinReplicas");
  }
}

void check_cron_autoscaler(const Value& object, const Write&, Causes& causes) {
  const Value& target = object["spec"]["scaleTargetRef"];
  check_target(target, "spec.scaleTargetRef", causes);
  const bool scales_autoscaler = target["apiVersion"].as_string() == "autoscaling.karmada.io/v1alpha1";
  if (scales_autoscaler && target["kind"].as_string() != "FederatedHPA") {
    causes.invalid("spec.scaleTargetRef.kind", target["kind"],
                   "invalid scaleTargetRef kind, only support FederatedHPA in autoscaling.karmada.io/v1alpha1");
  }
  std::set<std::string> names;
  const Value& rules = object["spec"]["rules"];
  if (rules.size() > kMostRules) {
    return causes.too_many("spec.rules", rules.size(), kMostRules);
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    const std::string field = at("spec.rules", i);
    if (!names.insert(rules[i]["name"].str()).second) causes.duplicate(field + ".name", rules[i]["name"]);
    check_cron_rule(rules[i], field, scales_autoscaler, causes);
  }
}

// --- MultiClusterService

void check_multi_cluster_service(const Value& object, const Write& write, Causes& causes) {
  const Value& spec = object["spec"];
  if (const auto problem = service_name_problem(object["metadata"]["name"].as_string())) {
    causes.invalid("metadata.name", object["metadata"]["name"], *problem);
  }
  std::set<std::string> types;
  for (size_t i = 0; i < spec["types"].size(); ++i) {
    const Value& type = spec["types"][i];
    if (type.as_string() != "CrossCluster" && type.as_string() != "LoadBalancer") {
      causes.not_supported(at("spec.types", i), type, {"CrossCluster", "LoadBalancer"});
    }
    types.insert(type.str());
  }
  if (types.size() > 1)
    causes.invalid("spec.types", spec["types"], "MultiClusterService types should not contain more than one type");
  if (write.old != nullptr && (*write.old)["spec"]["types"] != spec["types"]) {
    causes.invalid("spec.types", spec["types"], "MultiClusterService types are immutable");
  }
  std::set<std::string> names;
  for (size_t i = 0; i < spec["ports"].size(); ++i) {
    const std::string field = at("spec.ports", i);
    const Value& port = spec["ports"][i];
    if (port["port"].as_int() < 1 || port["port"].as_int() > 65535) {
      causes.invalid(field + ".port", port["port"], "must be between 1 and 65535, inclusive");
    }
    if (port["name"].is_empty()) continue;
    if (const auto problem = label_problem(port["name"].as_string())) {
      causes.invalid(field + ".name", port["name"], *problem);
    } else if (!names.insert(port["name"].str()).second) {
      causes.duplicate(field + ".name", port["name"]);
    }
  }
  for (const char* list : {"providerClusters", "consumerClusters"}) {
    if (spec[list].size() > kMostNamedClusters) {
      causes.too_many(std::string{"spec."} + list, spec[list].size(), kMostNamedClusters);
      continue;
    }
    for (size_t i = 0; i < spec[list].size(); ++i) {
      const Value& name = spec[list][i]["name"];
      if (name.as_string().size() > 48 || label_problem(name.as_string())) {
        causes.invalid(at(std::string{"spec.range."} + list, i), name, "must be the name of a cluster");
      }
    }
  }
}

// --- ResourceInterpreterCustomization

void check_customization(const Value& object, const Write&, Causes& causes) {
  const Value& target = object["spec"]["target"];
  if (target["kind"].as_string() == "Secret" && target["apiVersion"].as_string() == "v1") {
    causes.forbidden("spec.target.kind",
                     "no script is run on Secrets: what it makes of their data would be stored in clear text");
  }
  for (const auto& bad : interpreter::bad_scripts(object)) causes.invalid(bad.field, Value{"<script>"}, bad.why);
}

// --- ResourceInterpreterWebhookConfiguration

void check_interpreter_rule(const Value& rule, const std::string& field, Causes& causes) {
  for (const char* list : {"operations", "apiGroups", "apiVersions", "kinds"}) {
    const Value& items = rule[list];
    if (items.size() == 0) causes.required(field + "." + list);
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].as_string() == "*" && items.size() > 1) {
        causes.invalid(field + "." + list, items, "if '*' is present, must not specify other " + std::string{list});
      }
      if (items[i].is_empty() && std::string_view{list} != "apiGroups") causes.required(at(field + "." + list, i));
    }
  }
  static constexpr std::string_view kOperations[] = {
      "*",      "InterpretReplica", "InterpretComponent", "InterpretDependency", "ReviseReplica",
      "Retain", "AggregateStatus",  "InterpretStatus",    "InterpretHealth"};
  for (size_t i = 0; i < rule["operations"].size(); ++i) {
    const Value& operation = rule["operations"][i];
    if (std::find(std::begin(kOperations), std::end(kOperations), operation.as_string()) == std::end(kOperations)) {
      causes.not_supported(at(field + ".operations", i), operation,
                           {"*", "AggregateStatus", "InterpretComponent", "InterpretDependency", "InterpretHealth",
                            "InterpretReplica", "InterpretStatus", "Retain", "ReviseReplica"});
    }
  }
}

/// Of a request: begins with a slash, and each step is a name.
void check_service_path(const Value& value, const std::string& field, Causes& causes) {
  if (value.is_empty() || value.as_string() == "/") return;
  std::string_view path = value.as_string();
  if (!path.starts_with('/')) return causes.invalid(field, value, "must start with a '/'");
  path.remove_prefix(1);
  if (path.ends_with('/')) path.remove_suffix(1);
  while (true) {
    const size_t slash = path.find('/');
    const std::string_view step = path.substr(0, slash);
    if (step.empty()) return causes.invalid(field, value, "segments may not be empty");
    if (const auto problem = subdomain_problem(step)) return causes.invalid(field, value, *problem);
    if (slash == std::string_view::npos) return;
    path.remove_prefix(slash + 1);
  }
}

void check_interpreter_client(const Value& client, const std::string& field, Causes& causes) {
  const Value& url = client["url"];
  const Value& service = client["service"];
  if (url.is_null() == service.is_null()) {
    causes.required(field, "exactly one of url or service is required");
  } else if (!url.is_null()) {
    constexpr std::string_view kScheme = "https://";
    const std::string_view text = url.as_string();
    const std::string_view rest = text.starts_with(kScheme) ? text.substr(kScheme.size()) : "";
    const std::string_view host = rest.substr(0, rest.find('/'));
    if (!text.starts_with(kScheme)) {
      causes.invalid(field + ".url", url, "'https' is the only allowed URL scheme");
    } else if (host.empty() || host.front() == ':') {
      causes.invalid(field + ".url", url, "host must be specified");
    } else if (host.find('@') != std::string_view::npos) {
      causes.invalid(field + ".url", url, "user information is not permitted in the URL");
    } else if (rest.find_first_of("?#") != std::string_view::npos) {
      causes.invalid(field + ".url", url, "query parameters and fragments are not permitted in the URL");
    }
  } else {
    for (const char* name : {"namespace", "name"}) {
      if (service[name].is_empty()) causes.required(field + ".service." + name);
    }
    const Value& port = service["port"];
    if (!port.is_null() && (port.as_int() < 1 || port.as_int() > 65535)) {
      causes.invalid(field + ".service.port", port, "port is not valid: must be between 1 and 65535, inclusive");
    }
    check_service_path(service["path"], field + ".service.path", causes);
  }
  if (!client["caBundle"].is_empty() && !base64_decode(client["caBundle"].as_string())) {
    causes.invalid(field + ".caBundle", Value{"<bytes>"}, "must be base64");
  }
}

void check_context_versions(const Value& versions, const std::string& field, Causes& causes) {
  if (versions.size() == 0) return causes.required(field);
  bool known = false;
  std::set<std::string> seen;
  for (size_t i = 0; i < versions.size(); ++i) {
    const std::string version = versions[i].str();
    if (!seen.insert(version).second) causes.duplicate(at(field, i), versions[i]);
    if (const auto problem = service_name_problem(version)) causes.invalid(at(field, i), versions[i], *problem);
    known = known || version == "v1alpha1";
  }
  if (!known) causes.invalid(field, versions, "must include at least one of v1alpha1");
}

void check_interpreter_webhooks(const Value& object, const Write&, Causes& causes) {
  std::set<std::string> names;
  for (size_t i = 0; i < object["webhooks"].size(); ++i) {
    const Value& hook = object["webhooks"][i];
    const std::string field = at("webhooks", i);
    const std::string name = hook["name"].str();
    if (subdomain_problem(name) || std::count(name.begin(), name.end(), '.') < 1) {
      causes.invalid(field + ".name", hook["name"], "should be a domain with at least two segments separated by dots");
    } else if (!names.insert(name).second) {
      causes.duplicate(field + ".name", hook["name"]);
    }
    check_interpreter_client(hook["clientConfig"], field + ".clientConfig", causes);
    for (size_t j = 0; j < hook["rules"].size(); ++j) {
      check_interpreter_rule(hook["rules"][j], at(field + ".rules", j), causes);
      if (interpreter::names_secrets(Value::object(
              {{"webhooks", Value::array({Value::object({{"rules", Value::array({hook["rules"][j]})}})})}}))) {
        causes.forbidden(at(field + ".rules", j) + ".kinds",
                         "no webhook is called for Secrets: their content does not leave the vault");
      }
    }
    const Value& timeout = hook["timeoutSeconds"];
    if (!timeout.is_null() && (timeout.as_int() < 1 || timeout.as_int() > 30)) {
      causes.invalid(field + ".timeoutSeconds", timeout, "the timeout value must be between 1 and 30 seconds");
    }
    check_context_versions(hook["interpreterContextVersions"], field + ".interpreterContextVersions", causes);
  }
}

}  // namespace

const std::vector<Rules>& extension_rules() {
  static const std::vector<Rules> kRules = {
      {.type = "horizontalpodautoscalers.autoscaling", .fill = fill_autoscaler, .check = check_autoscaler},
      {.type = "federatedhpas.autoscaling.karmada.io",
       .webhook = "federatedhpa.karmada.io",
       .fill = fill_autoscaler,
       .check = check_autoscaler},
      {.type = "cronfederatedhpas.autoscaling.karmada.io",
       .webhook = "cronfederatedhpa.karmada.io",
       .check = check_cron_autoscaler},
      {.type = "multiclusterservices.networking.karmada.io",
       .webhook = "multiclusterservice.karmada.io",
       .check = check_multi_cluster_service},
      {.type = "multiclusteringresses.networking.karmada.io",
       .webhook = "multiclusteringress.karmada.io",
       .check = check_ingress},
      {.type = interpreter::kCustomizationType,
       .webhook = "resourceinterpretercustomization.karmada.io",
       .check = check_customization},
      {.type = "resourceinterpreterwebhookconfigurations.config.karmada.io",
       .webhook = "config.karmada.io",
       .check = check_interpreter_webhooks},
  };
  return kRules;
}

}  // namespace shiplog::api
